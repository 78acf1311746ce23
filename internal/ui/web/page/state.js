// What the page knows, and what its views share.
import { el, ago, base, badge } from './dom.js'

export const main = document.getElementById('main')

export const state = { api: null, device: null, page: '', requests: new Map(), sessions: new Map(), done: [], ready: false }

export const sessionKey = (one) => `${one.agent} ${one.id}`

const rank = { waiting: 0, failed: 1, running: 2, done: 3, unknown: 4, idle: 5 }
export const statusWords = { waiting: 'Waiting for you', failed: 'Failed', running: 'Running', done: 'Done', unknown: 'Unknown', idle: 'Idle', ended: 'Ended' }
export const agentNames = { claude: 'Claude Code', codex: 'Codex', gemini: 'Gemini CLI', opencode: 'OpenCode', copilot: 'Copilot CLI', qwen: 'Qwen Code', pi: 'pi', grok: 'Grok', kimi: 'Kimi' }

export const sorted = () => [...state.sessions.values()].filter((one) => !one.ended || one.cutOff).sort((a, b) =>
  (rank[a.status] ?? 9) - (rank[b.status] ?? 9) || new Date(b.lastEvent) - new Date(a.lastEvent))

const doing = (one) => {
  if (one.hostLost) return `${one.host} can’t be reached`
  if (one.status === 'waiting') return one.asks?.[0] || 'Waiting for you'
  if (one.status === 'running') return one.tool ? one.tool : 'Thinking'
  const turn = one.turn
  if (one.status === 'failed') return turn?.error || one.endReason || 'Failed'
  return turn?.summary || one.lastWords || statusWords[one.status] || one.status
}

export const titleOf = (one) => one.title || base(one.cwd) || one.id.slice(0, 8)

const row = (one, shown) => el('li', {}, el('a', { class: `session is-${one.status}`, href: `#/session/${encodeURIComponent(one.id)}`, 'aria-current': one.id === shown ? 'page' : null },
  badge(one.agent, 'small'),
  el('span', { class: 'session-main' },
    el('span', { class: 'session-top' }, el('span', { class: 'session-title' }, titleOf(one)), one.host ? el('span', { class: 'host' }, one.host) : null, el('span', { class: 'when', 'data-since': one.since }, ago(one.since))),
    el('span', { class: 'session-doing' }, el('span', { class: `lamp ${one.status}` }), el('span', { class: 'hidden' }, `${statusWords[one.status] || one.status}: `), el('span', {}, doing(one))))))

// drawSessions draws the list of sessions; shown is the one that's open.
export const drawSessions = (shown) => {
  const rail = document.getElementById('sessions')
  const list = sorted()
  rail.hidden = false
  const focused = rail.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
  rail.querySelector('ul').replaceChildren(...list.map((one) => row(one, shown)))
  if (focused) [...rail.querySelectorAll('a')].find((a) => a.getAttribute('href') === focused)?.focus()
  rail.querySelector(':scope > p').hidden = list.length > 0
}

export const announce = (text) => { document.getElementById('live').textContent = text }

let toastTimer = 0
export const toast = (text) => {
  const node = document.getElementById('toast')
  node.textContent = text
  node.hidden = false
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => { node.hidden = true }, 4000)
}
