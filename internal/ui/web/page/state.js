// What the page knows, and what its views share.
import { el, icon, since, base, badge, short, arrange, keeper, visible } from './dom.js'

export const main = document.getElementById('main')

// wide is a desktop, where what waits and the sessions are beside everything else.
export const wide = matchMedia('(min-width: 940px)')

export const state = { api: null, device: null, page: '', home: '', skew: 0, link: '', heard: 0, agents: {}, requests: new Map(), sessions: new Map(), done: [], ready: false, host: null }

export const sessionKey = (one) => `${one.agent} ${one.id}`

// sessionOf is the key of a request's session.
export const sessionOf = (request) => `${request.agent} ${request.session}`

export const agentName = (name) => state.agents[name] || name

// folder is a session's or a request's folder as you'd write it.
export const folderOf = (one) => one.host ? one.cwd || '' : short(one.cwd, state.home)

const rank = { waiting: 0, failed: 1, running: 2, done: 3, unknown: 4, idle: 5 }
export const statusWords = { waiting: 'Waiting for you', failed: 'Failed', running: 'Running', done: 'Done', unknown: 'Unknown', idle: 'Idle', ended: 'Ended' }
const groups = [['Waiting for you', ['waiting']], ['Failed', ['failed']], ['Running', ['running']], ['Done', ['done', 'unknown', 'idle']]]

// sorted has those first that wait, the oldest of them first; of the others the newest.
const sorted = () => [...state.sessions.values()].filter((one) => !one.ended || one.cutOff).sort((a, b) =>
  (rank[a.status] ?? 9) - (rank[b.status] ?? 9) || (a.status === 'waiting' ? new Date(a.since) - new Date(b.since) : new Date(b.lastEvent) - new Date(a.lastEvent)))

// verbs name what a call does, the same everywhere; a tool that isn't among them goes by its name.
const verbs = { shell: 'Run', file_read: 'Read', file_write: 'Write', file_edit: 'Edit', search: 'Search', fetch: 'Fetch', task: 'Delegate', question: 'Question', plan: 'Plan' }
const tools = { Bash: 'shell', Grep: 'search', Glob: 'search', WebFetch: 'fetch', WebSearch: 'search', Task: 'task', Agent: 'task', ExitPlanMode: 'plan', AskUserQuestion: 'question', shell: 'shell', run_shell_command: 'shell' }
export const verbOf = (kind, tool) => verbs[kind] || verbs[tools[tool]] || tool

const risky = (one) => one.status === 'waiting' && [...state.requests.values()].some((r) => sessionOf(r) === sessionKey(one) && r.risk === 'high')

const answerThere = (one) => one.hostReadOnly ? 'Answer it there: ' : ''

const doing = (one) => {
  if (one.hostLost) return `${one.host} can’t be reached`
  if (one.status === 'waiting') return answerThere(one) + (one.asks?.[0] || 'Waiting for you')
  if (one.status === 'running') return one.tool ? one.tool.replace(/^\w+/, (name) => verbOf('', name)) : 'Thinking'
  const turn = one.turn
  if (one.status === 'failed') return turn?.error || one.endReason || 'Failed'
  return turn?.summary || one.lastWords || statusWords[one.status] || one.status
}

// asking is the first request of a session that waits.
const asking = (one) => one.status === 'waiting' ? [...state.requests.values()].find((r) => sessionOf(r) === sessionKey(one)) : undefined

// about is what a request is about, on one line: what it would do, and to what. Only what
// an agent would run or touch is drawn as code.
const about = (one) => {
  if (one.questions?.length) return { verb: 'Question', text: one.questions[0].question }
  if (one.kind === 'plan') return { verb: 'Plan', text: (one.plan || '').split('\n').find((l) => l.trim())?.replace(/^#+ /, '') || 'without a title' }
  const file = one.shown.match(/^file: (.*)$/m)
  if (file) return { verb: verbOf(one.toolKind, one.tool) || 'Write', code: file[1].startsWith(`${one.cwd}/`) ? file[1].slice(one.cwd.length + 1) : short(file[1], state.home) }
  const address = one.shown.match(/^address: (.*)$/m)
  if (address) return { verb: verbs.fetch, code: address[1] }
  const called = one.shown.split('\n', 1)[0].match(/^.*? wants to call (.*?) of the MCP server (.*)$/)
  if (called) return { verb: called[2], code: called[1] }
  const line = one.shown.split('\n').slice(1).find((l) => l.startsWith('  '))
  if (!line) return { text: one.shown.split('\n', 1)[0] }
  const command = line.match(/^ +\$ (.*)/)
  return command ? { verb: verbs.shell, code: command[1] } : { verb: verbOf(one.toolKind, one.tool), code: line.trim() }
}

const phrases = { file_read: 'read a file', fetch: 'fetch an address', search: 'search', task: 'start a subagent' }

const wish = (one, wants) => {
  if (/^run (a command|\d+ commands) with /.test(wants)) return wants.match(/^run (a command|\d+ commands)/)[0]
  if (wants.startsWith('write with ')) {
    const { verb, code } = about(one)
    const files = one.shown.match(/^file: /gm)?.length
    return files === 1 ? `${verb.toLowerCase()} ${code.length < 40 ? code : base(code)}` : `${verbOf(one.toolKind, one.tool).toLowerCase()} ${files ? `${files} files` : 'a file'}`
  }
  return wants.startsWith('use ') && phrases[one.toolKind] || wants
}

// askOf is who asks what of you: a request's first line, without the tool's name where
// what it does is said.
export const askOf = (one) => {
  const head = one.shown.split('\n', 1)[0]
  const [, who, wants] = head.match(/^(.*?) wants to (.*)$/) || []
  if (wants) return `${who} wants to ${wish(one, wants)}`
  const [, asker, whom = ''] = one.kind === 'question' && head.match(/^(.*?) asks\b(?:, (for .*))?/) || []
  if (asker) return `${asker} asks ${one.questions?.length > 1 ? `${one.questions.length} questions` : 'a question'}${whom && ` ${whom}`}`
  return one.kind === 'plan' ? `${head.match(/^(.*?) has a plan/)?.[1] || agentName(one.agent)} has a plan` : head
}

export const aboutLine = (one, before = '') => {
  const { verb, text, code } = about(one)
  return el('span', { class: 'cut' }, before, verb ? el('b', {}, verb) : null, verb ? ' ' : null, code ? el('code', {}, code) : text)
}

export const titleOf = (one) => one.title || base(one.cwd) || one.id.slice(0, 8)

const money = (cost) => cost == null ? '' : cost < 0.005 ? '<$0.01' : `$${cost.toFixed(2)}`

// factsOf are what's known of a session; on a phone those that its head shows are left out.
export const factsOf = (one, usage = one.usage) => el('dl', { class: 'facts' }, [
  ['Agent', agentName(one.agent), 'in-head'], ['Folder', folderOf(one), 'in-head'], ['Machine', one.host, 'in-head'], ['Model', one.model],
  ['Length', one.turns ? `${one.turns} turn${one.turns > 1 ? 's' : ''}` : ''], ['Cost', money(usage?.costUSD)],
  ['Context', usage?.contextLeft == null ? '' : `${Math.round(usage.contextLeft)}% left`, 'named'], ['Subagents', one.subagents ? String(one.subagents) : '', 'named'],
].map(([name, value, kind]) => value ? el('div', { class: kind }, el('dt', {}, name), el('dd', {}, value)) : null))

const row = (one, shown) => el('li', {}, el('a', { class: `session is-${one.status} ${risky(one) ? 'is-risky' : ''}`, href: `#/session/${encodeURIComponent(one.id)}`, 'aria-current': one.id === shown ? 'page' : null },
  badge(one.agent, 'small', one.status),
  el('span', { class: 'session-main' },
    el('span', { class: 'session-top' }, el('span', { class: 'session-title' }, titleOf(one)), el('span', { class: 'when', 'data-since': one.since }, since(one.since))),
    el('span', { class: 'session-doing' }, el('span', { class: 'hidden' }, `${statusWords[one.status] || one.status}: `), risky(one) ? icon('alert') : null, asking(one) ? aboutLine(asking(one), answerThere(one)) : el('span', { class: 'cut' }, doing(one))),
    el('span', { class: 'session-place' }, one.host ? el('span', { class: 'host' }, one.hostReadOnly ? `${one.host} (read-only)` : one.host) : null, el('span', { class: 'cut' }, `${agentName(one.agent)} · ${base(one.cwd) || '/'}`)))))

// hostChip chooses one machine's sessions, where there are several machines.
const hostChip = (host) => el('button', { type: 'button', class: 'chip', 'aria-pressed': String(state.host === host),
  onclick: () => { state.host = host; redraw() } }, host === null ? 'All machines' : host || 'This machine')

const [keepChip, keepGroup, keepSession] = [keeper(), keeper(), keeper()]
let redraw = () => {}

// placeSessions puts the list of sessions beside the rest or, as a page of its own, into it.
export const placeSessions = (alone) => {
  const rail = document.getElementById('sessions')
  const place = alone ? main : document.querySelector('.side')
  if (rail.parentNode === place) return
  if (alone) main.replaceChildren(rail)
  else place.append(rail)
}

// drawSessions draws the list of sessions; shown is the one that's open. Requests stand in it
// for the sessions that wait for them.
export const drawSessions = (shown, requests) => {
  const rail = document.getElementById('sessions')
  const asked = new Set(requests.length ? [...state.requests.values()].map(sessionOf) : [])
  const all = sorted()
  redraw = () => drawSessions(shown, requests)
  const hosts = [...new Set(all.map((one) => one.host || ''))].sort()
  if (!hosts.includes(state.host)) state.host = null
  rail.hidden = false
  const at = rail.contains(document.activeElement) ? document.activeElement : null
  const [href, chip] = [at?.getAttribute('href'), at?.matches('.chip') ? at.textContent : '']
  const chips = rail.querySelector('.hosts')
  chips.hidden = hosts.length < 2
  arrange(chips, chips.hidden ? [] : [null, ...hosts].map((host) => keepChip(host, state.host === host, () => hostChip(host))))
  const find = rail.querySelector('.find')
  find.hidden = all.length <= 8
  find.oninput = redraw
  const wanted = find.hidden ? '' : find.value.trim().toLowerCase()
  const list = all.filter((one) => !asked.has(sessionKey(one)) && (state.host === null || (one.host || '') === state.host) &&
    (!wanted || [titleOf(one), one.cwd, agentName(one.agent), one.host].some((text) => text?.toLowerCase().includes(wanted))))
  arrange(rail.querySelector('.groups'), groups.flatMap(([name, statuses]) => {
    const rows = list.filter((one) => statuses.includes(one.status) || name === 'Done' && !(one.status in rank))
      .map((one) => keepSession(sessionKey(one), [titleOf(one), one.status, one.since, one.host, one.hostReadOnly, one.cwd, doing(one), asking(one)?.id, one.id === shown, risky(one)], () => row(one, shown)))
    if (statuses[0] === 'waiting') rows.unshift(...requests)
    const group = keepGroup(name, '', () => el('div', { class: `group-${statuses[0]}` }, el('h2', {}, name, el('span', { class: 'number' })), el('ul', { class: 'sessions' })))
    group.querySelector('.number').textContent = rows.length
    arrange(group.lastChild, rows)
    return rows.length ? group : []
  }))
  if (href) [...rail.querySelectorAll('a')].find((a) => a.getAttribute('href') === href)?.focus()
  if (chip) [...rail.querySelectorAll('.chip')].find((one) => one.textContent === chip)?.focus()
  rail.querySelector(':scope > p').hidden = list.length + requests.length > 0
}

// drawLeft writes when a request that nobody answers is the agent's own affair again;
// nothing once that's over.
export const drawLeft = (node) => {
  const seconds = (new Date(node.dataset.until) - Date.now() - state.skew) / 1000
  node.textContent = seconds <= 0 ? '' : `Goes back to ${visible(node.dataset.to)} in ${seconds < 60 ? `${Math.ceil(seconds / 10) * 10}s` : seconds < 7200 ? `${Math.round(seconds / 60)}m` : `${Math.floor(seconds / 3600)}h`}`
  node.classList.toggle('soon', seconds < 120)
  return node
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
