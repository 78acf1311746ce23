// The devices that may use the page, and how this one is told.
import { el, ago, icon } from './dom.js'
import { state, main, toast } from './state.js'
import { pushState, pushOn, pushOff } from './push.js'

export const devicesView = async (unpaired) => {
  const node = el('div', { class: 'plain narrow' }, el('h1', {}, 'Settings'))
  main.replaceChildren(node)
  try {
    const { devices, own } = await state.api.get('/api/devices')
    node.append(el('section', { class: 'group' }, el('h2', {}, 'Devices'), el('ul', { class: 'list devices' }, devices.map((one) => el('li', { class: one.id === own ? 'own-device' : '' },
      el('span', { class: `disc ${one.pages ? 'yes' : ''}` }, icon(/iPhone|iPad|Android/.test(`${one.browser} ${one.name}`) ? 'phone' : 'desk')),
      el('div', {}, el('b', {}, one.name), one.id === own ? el('span', { class: 'pill running' }, 'This one') : null, one.scope === 'read' ? el('span', { class: 'pill' }, 'Only reads') : null,
        el('p', { class: 'quiet-text' }, [one.browser, one.address].filter(Boolean).join(' · ')),
        el('p', { class: 'quiet-text' }, `${one.pages ? 'In use now' : one.used ? `Used ${ago(one.used)} ago` : 'Never used'} · paired ${new Date(one.paired).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}`)))))))
  } catch (failure) { return toast(failure.message) }
  node.append(el('p', { class: 'quiet-text' }, 'Pair, rename, limit and remove devices in a terminal: ', el('code', {}, 'hookmux web devices')))
  const push = el('section', { class: 'group push' })
  node.append(push)
  const drawPush = async () => {
    const can = await pushState()
    push.replaceChildren(el('h2', {}, 'Notifications'),
      can === 'unable' ? el('p', { class: 'quiet-text' }, 'This browser can’t be notified here. On an iPhone, add the page to the Home Screen first.') :
        el('button', { type: 'button', class: can === 'on' ? 'more' : 'yes', onclick: async () => {
          try { toast(await (can === 'on' ? pushOff(state.api) : pushOn(state.api)) || 'Notifications are off') } catch (failure) { toast(failure.message) }
          drawPush()
        } }, icon('bell'), can === 'on' ? 'Turn notifications off' : 'Notify me on this device'))
  }
  await drawPush()
  node.append(el('section', { class: 'group' }, el('h2', {}, 'This device'), el('button', { type: 'button', class: 'no', onclick: async (e) => {
    const button = e.currentTarget
    if (!button.dataset.sure) { button.dataset.sure = '1'; button.textContent = 'Really remove this device?'; return }
    try { await state.api.post('/api/unpair', {}) } catch { /* it's forgotten here in any case */ }
    unpaired()
  } }, 'Remove this device')))
}
