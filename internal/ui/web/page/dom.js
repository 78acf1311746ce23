// Characters that nobody sees, or that change how others are read, are written out: text
// of an agent can't hide or turn around what stands beside it. A joiner between emoji stays.
const unseen = /(?!\n|\t|(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic}))[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\u{e0100}-\u{e01ef}]/gu

// plain is what most texts are: it's asked first, as it's quick.
const plain = /^[\n\t\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027]*$/

export const visible = (text) => plain.test(text) ? String(text) : String(text).replace(unseen, (c) => {
  const code = c.codePointAt(0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
})

// el makes an element. Text is only ever text: nothing here or elsewhere reads markup.
export const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value)
    else if (name === 'value') node.value = value
    else node.setAttribute(name, value === true ? '' : name === 'href' || name.startsWith('data-') ? value : visible(value))
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => one instanceof Node ? one : visible(one)))
  return node
}

export const ago = (time, now = Date.now()) => {
  const seconds = Math.max(0, (now - new Date(time)) / 1000)
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86400)}d`
}

export const base = (path) => (path || '').replace(/\/+$/, '').split('/').pop() || path || ''

export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

// since is a time's age; of the last day it's the time itself while the page hears nothing new.
export const since = (time) => document.documentElement.classList.contains('stale') && Date.now() - new Date(time) < 86400000 ? clock(time) : ago(time)

const icons = {
  check: 'M5 12.5 10 17 19 7', cross: 'M6 6 18 18M18 6 6 18', shield: 'M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6Z',
  back: 'M15 5 8 12l7 7', send: 'M12 19V5M6 11l6-6 6 6', alert: 'M12 8v5M12 16.5v.5M10.3 4 2.8 17.2A2 2 0 0 0 4.5 20h15a2 2 0 0 0 1.7-2.8L13.7 4a2 2 0 0 0-3.4 0Z',
  bolt: 'M13 3 5 13.5h6L10.5 21 19 10.5h-6.5Z', bookmark: 'M7 4h10v16l-5-4-5 4Z', folder: 'M3 7.5A1.5 1.5 0 0 1 4.5 6H9l2 2.5h8.5A1.5 1.5 0 0 1 21 10v8a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 18Z',
  globe: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c2.5 2.6 3.8 5.6 3.8 9s-1.3 6.4-3.8 9c-2.5-2.6-3.8-5.6-3.8-9S9.5 5.6 12 3Z',
  terminal: 'M5 7l5 5-5 5M12.5 17H19', file: 'M14 3H7a1.5 1.5 0 0 0-1.5 1.5v15A1.5 1.5 0 0 0 7 21h10a1.5 1.5 0 0 0 1.5-1.5V7.5ZM14 3v4.5h4.5', you: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20c.8-3.5 3.5-5 7-5s6.2 1.5 7 5',
  chat: 'M4 5.5h16v11H10l-4.5 4v-4H4Z', play: 'M8 5.5v13l10.5-6.5Z', stop: 'M7 7h10v10H7Z', dot: 'M12 11.5v1', search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20',
  rays: 'M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4', hexagon: 'M12 2.8 20 7.4v9.2l-8 4.6-8-4.6V7.4ZM12 8.6l3 1.7v3.4l-3 1.7-3-1.7v-3.4Z', star: 'M12 2.5c.7 5.4 4.1 8.8 9.5 9.5-5.4.7-8.8 4.1-9.5 9.5-.7-5.4-4.1-8.8-9.5-9.5 5.4-.7 8.8-4.1 9.5-9.5Z',
  square: 'M5 3.5h14v17H5ZM9.5 8h5v8h-5Z', pointer: 'M5 4l14.5 6.2-6.2 2.4L10.6 19Z', goggles: 'M4 9.5A3.5 3.5 0 0 1 7.5 6H9a3 3 0 0 1 3 3v2a3 3 0 0 1-3 3H7a3 3 0 0 1-3-3ZM12 9a3 3 0 0 1 3-3h1.5A3.5 3.5 0 0 1 20 9.5V11a3 3 0 0 1-3 3h-2a3 3 0 0 1-3-3M5 14v2.5c2 1.6 4.4 2.5 7 2.5s5-.9 7-2.5V14',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 7.5V12l3 2',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15ZM10 20.5h4',
  up: 'M6 15l6-6 6 6', under: 'M6 9l6 6 6-6', down: 'M12 5v14M6 13l6 6 6-6', ring: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18',
  lock: 'M6 11h12v9H6ZM8.5 11V8a3.5 3.5 0 0 1 7 0v3', plug: 'M9 3v5M15 3v5M6.5 8h11v3.5a5.5 5.5 0 0 1-11 0ZM12 17v4', hand: 'M12 8v5M12 16.5v.5M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z', phone: 'M8 3h8a1.5 1.5 0 0 1 1.5 1.5v15A1.5 1.5 0 0 1 16 21H8a1.5 1.5 0 0 1-1.5-1.5v-15A1.5 1.5 0 0 1 8 3ZM11 18h2', desk: 'M4 5h16v11H4ZM9 20h6M12 16v4',
}

// icon draws one of the few symbols.
export const icon = (name) => {
  const space = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(space, 'svg')
  for (const [k, v] of Object.entries({ viewBox: '0 0 24 24', 'aria-hidden': 'true', class: 'icon' })) svg.setAttribute(k, v)
  const path = document.createElementNS(space, 'path')
  path.setAttribute('d', icons[name])
  svg.append(path)
  return svg
}

// ring is what fills while a button is held.
export const ring = () => {
  const svg = icon('ring')
  svg.classList.add('ring')
  svg.append(svg.firstChild.cloneNode())
  for (const one of svg.children) one.setAttribute('pathLength', '1')
  return svg
}

// hues are the colours of agents that are used most; others get one from their name.
const hues = { claude: 18, codex: 165, gemini: 217, opencode: 42, cursor: 255, copilot: 290, qwen: 270, kimi: 330, grok: 200, pi: 345 }
export const hueOf = (name) => hues[name] ?? [...name].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 360, 7)

// marks tell agents apart that begin with the same letter.
const marks = { claude: 'rays', codex: 'hexagon', gemini: 'star', opencode: 'square', cursor: 'pointer', copilot: 'goggles' }

// badge is an agent's mark, or its first letter, in its own colour; lamp is the status of
// its session, where that belongs to it.
export const badge = (agent, size = '', lamp = '') => {
  const name = agent || '?'
  const node = el('span', { class: `badge ${size}`, 'aria-hidden': 'true' }, marks[name] ? icon(marks[name]) : [...name][0], lamp ? el('i', { class: `lamp ${lamp}` }) : null)
  node.style.setProperty('--hue', hueOf(name))
  return node
}

// arrange puts nodes into a list and leaves those alone that are there: what's pressed isn't
// taken away. It reports whether anything changed.
export const arrange = (list, nodes) => {
  let changed = list.children.length > nodes.length
  for (const [i, node] of nodes.entries()) if (list.children[i] !== node) { list.insertBefore(node, list.children[i] || null); changed = true }
  while (list.children.length > nodes.length) list.lastElementChild.remove()
  return changed
}

// become makes a node what another one is. Elements stay, with what they do when they're
// pressed: a press that began on one ends on it.
const become = (node, fresh) => {
  if (node.nodeName !== fresh.nodeName) return node.replaceWith(fresh)
  if (!(node instanceof Element)) { if (node.nodeValue !== fresh.nodeValue) node.nodeValue = fresh.nodeValue; return }
  for (const { name } of [...node.attributes]) if (!fresh.hasAttribute(name)) node.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (name !== 'style' && node.getAttribute(name) !== value) node.setAttribute(name, value)
  if (node.style.cssText !== fresh.style.cssText) node.style.cssText = fresh.style.cssText
  const [old, parts] = [[...node.childNodes], [...fresh.childNodes]]
  for (const [i, part] of parts.entries()) old[i] ? become(old[i], part) : node.append(part)
  for (const one of old.slice(parts.length)) one.remove()
}

// refill makes a list show other nodes, as become does.
export const refill = (list, nodes) => {
  const shown = list.cloneNode()
  shown.append(...nodes)
  become(list, shown)
}

// keeper keeps what was made of a value; when the value changes, it becomes what's made then.
export const keeper = () => {
  const kept = new Map()
  return (key, value, make) => {
    const mark = JSON.stringify(value)
    const one = kept.get(key)
    if (!one) kept.set(key, { mark, node: make() })
    else if (one.mark !== mark) { one.mark = mark; become(one.node, make()) }
    return kept.get(key).node
  }
}

// short is a path as you'd write it: your home is ~.
export const short = (path, home) => home && (path === home || path?.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path || ''
