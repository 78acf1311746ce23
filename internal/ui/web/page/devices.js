// The devices that may use the page, and how this one is told.
import { el, ago, icon } from './dom.js'
import { state, main, toast } from './state.js'
import { pushState, pushOn, pushOff } from './push.js'

const group = (name, ...content) => el('section', { class: `group ${name.toLowerCase()}` }, el('h2', {}, name), content)

// unpairButton forgets this device once it's pressed twice.
const unpairButton = (unpaired) => el('button', { type: 'button', class: 'no bare', onclick: async (e) => {
  const button = e.currentTarget
  if (!button.dataset.sure) { button.dataset.sure = '1'; button.textContent = 'Really unpair?'; return }
  try { await state.api.post('/api/unpair', {}) } catch { /* it's forgotten here in any case */ }
  unpaired()
} }, 'Unpair this device')

export const devicesView = async (unpaired) => {
  const node = el('div', { class: 'plain narrow' }, el('h1', {}, 'Settings'))
  main.replaceChildren(node)
  try {
    const { devices, own } = await state.api.get('/api/devices')
    devices.sort((a, b) => (b.id === own) - (a.id === own))
    node.append(group('Devices', el('ul', { class: 'list' }, devices.map((one) => el('li', { class: one.id === own ? 'own-device' : '' },
      el('span', { class: `disc ${one.pages ? 'yes' : ''}` }, icon(/iPhone|iPad|Android/.test(`${one.browser} ${one.name}`) ? 'phone' : 'desk')),
      el('div', {}, el('b', {}, one.name), one.id === own ? el('span', { class: 'pill running' }, 'This device') : null,
        el('p', { class: 'quiet-text bits' }, [one.browser, one.address].filter(Boolean).map((text) => el('span', {}, text))),
        el('p', { class: 'quiet-text bits' }, [one.scope === 'read' ? 'Only reads' : 'Can answer', one.pages ? 'in use now' : one.used ? `used ${ago(one.used)} ago` : 'never used',
          `paired ${new Date(one.paired).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}`].map((text) => el('span', {}, text)))),
      one.id === own ? unpairButton(unpaired) : null))),
    el('p', { class: 'quiet-text' }, 'To pair, rename, limit or remove other devices, use the terminal: ', el('code', {}, 'hookmux web devices'))))
  } catch (failure) { return toast(failure.message) }
  const push = group('Notifications')
  node.append(push)
  const drawPush = async () => {
    const can = await pushState()
    const on = can === 'on'
    push.replaceChildren(push.firstChild, el('ul', { class: 'list push' }, el('li', {}, el('span', { class: `disc ${on ? 'yes' : ''}` }, icon('bell')),
      el('div', {}, el('b', {}, can === 'unable' ? 'Not possible here' : 'Notify me on this device'),
        el('p', { class: 'quiet-text' }, can === 'unable' ? 'This browser can’t be notified at this address. On an iPhone, add the page to the Home Screen first.' : 'When an agent needs you and no page is open.')),
      can === 'unable' ? null : el('button', { type: 'button', class: 'switch', role: 'switch', 'aria-checked': String(on), 'aria-label': 'Notify me on this device', onclick: async () => {
        try { toast(await (on ? pushOff(state.api) : pushOn(state.api)) || 'Notifications are off') } catch (failure) { toast(failure.message) }
        await drawPush()
        push.querySelector('.switch')?.focus()
      } }))))
  }
  await drawPush()
}
