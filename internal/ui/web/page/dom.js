// el makes an element. Text is only ever text: nothing here or elsewhere reads markup.
export const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value)
    else if (name === 'value') node.value = value
    else node.setAttribute(name, value === true ? '' : value)
  }
  node.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false))
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

const icons = {
  check: 'M5 12.5 10 17 19 7', cross: 'M6 6 18 18M18 6 6 18', shield: 'M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6Z',
  back: 'M15 5 8 12l7 7', send: 'M4 12h15M13 6l6 6-6 6', skip: 'M6 5l9 7-9 7ZM18 5v14',
}

// icon draws one of the few symbols.
export const icon = (name) => {
  const space = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(space, 'svg')
  for (const [k, v] of Object.entries({ viewBox: '0 0 24 24', width: 18, height: 18, 'aria-hidden': 'true', class: 'icon' })) svg.setAttribute(k, v)
  const path = document.createElementNS(space, 'path')
  path.setAttribute('d', icons[name])
  svg.append(path)
  return svg
}

// hue is an agent's own colour, the same on every device.
export const hue = (name) => {
  const known = { claude: 18, codex: 160, gemini: 217, opencode: 42, qwen: 262, kimi: 330, grok: 200, pi: 285, copilot: 240 }
  if (name in known) return known[name]
  let sum = 7
  for (const c of name) sum = (sum * 31 + c.codePointAt(0)) % 360
  return sum
}

export const badge = (agent) => {
  const node = el('span', { class: 'badge', 'aria-hidden': 'true' }, (agent || '?').slice(0, 2))
  node.style.setProperty('--hue', hue(agent || '?'))
  return node
}
