// Pairing: a key is made here, and you compare four digits.
import { el } from './dom.js'
import { main } from './state.js'
import { unsigned } from './api.js'
import * as keys from './key.js'

const insecure = 'This address isn’t secure, so the browser can’t keep a key here. Use https, or localhost on the same machine.'

export const pairView = (paired, why = crypto.subtle ? '' : insecure) => {
  document.title = 'Pair this device · hookmux'
  const input = el('input', { id: 'code', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', placeholder: 'Paste the link or the code' })
  const error = el('p', { class: 'error', role: 'alert', hidden: !why }, why || '')
  main.replaceChildren(el('div', { class: 'pair' }, el('img', { src: '/icon.svg', alt: '', width: 76, height: 76 }),
    el('h1', {}, 'Pair this device'),
    el('p', {}, 'Run ', el('code', {}, 'hookmux web pair'), ' in your terminal and scan the code it shows, or paste the link here.'), error,
    el('form', { onsubmit: (e) => { e.preventDefault(); claim(input.value.split('#pair=').pop().trim().toUpperCase(), paired) } },
      el('label', { for: 'code', class: 'hidden' }, 'Link or code'), input, el('button', { class: 'yes' }, 'Pair'))))
}

const deviceName = () => {
  const agent = navigator.userAgent
  for (const name of ['iPhone', 'iPad', 'Android', 'Macintosh', 'Windows', 'Linux']) if (agent.includes(name)) return name === 'Macintosh' ? 'Mac' : name
  return 'browser'
}

export const claim = async (code, paired) => {
  if (!crypto.subtle) return pairView(paired)
  try {
    const pair = await keys.make()
    const said = await unsigned('/api/pair', { code, key: pair.public, name: deviceName() })
    const digits = await keys.digits(code, pair.public, said.nonce)
    main.replaceChildren(el('div', { class: 'pair' }, el('img', { src: '/icon.svg', alt: '', width: 76, height: 76 }), el('h1', {}, 'Compare these digits'),
      el('p', { class: 'digits', role: 'img', 'aria-label': digits.split('').join(' ') }, digits.split('').map((d) => el('span', {}, d))),
      el('p', {}, 'Pairing with ', el('b', {}, location.hostname), '. If your terminal shows the same digits, confirm there. If not, press Ctrl-C there.'),
      el('p', { class: 'quiet-text', role: 'status' }, 'Waiting for your terminal…')))
    for (;;) {
      await new Promise((done) => setTimeout(done, 700))
      const now = await unsigned('/api/pair/state', { claim: said.claim }).catch((failure) => { if (failure.code === 'rate') return { state: 'waiting' }; throw failure })
      if (now.state === 'waiting') continue
      if (now.state !== 'paired') return pairView(paired, 'That took too long, or was refused. Run hookmux web pair again.')
      await keys.save({ id: now.device, key: pair.key, public: pair.public, name: now.name })
      location.hash = '#/'
      return paired()
    }
  } catch (failure) { pairView(paired, failure.message) }
}
