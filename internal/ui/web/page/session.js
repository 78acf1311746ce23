// One session: what it did, what it asks, and a line to it.
import { el, clock, icon, badge } from './dom.js'
import { state, main, wide, toast, statusWords, titleOf, agentName, factsOf, folderOf, verbOf } from './state.js'
import { cardFor, place } from './inbox.js'

let open = null // the session that's shown

export const leaveSession = () => { open = null }

const atEnd = () => innerHeight + scrollY > document.documentElement.scrollHeight - 160

const toEnd = () => scrollTo(0, document.documentElement.scrollHeight)

const build = (id) => {
  open = { id, events: [], found: [], first: '', last: '', detail: null, search: '', seen: '', fresh: true }
  const own = open
  open.back = el('a', { class: 'back', 'aria-label': 'Back to the sessions' }, icon('back'))
  open.facts = el('div')
  open.notes = el('div', { class: 'one-notes' })
  open.requests = el('div', { class: 'cards' })
  open.list = el('ol', { class: 'timeline', 'aria-label': 'Timeline' })
  open.more = el('button', { type: 'button', class: 'more', hidden: true, onclick: () => readEvents('before') }, 'Show earlier events')
  const search = el('input', { type: 'search', placeholder: 'Search the timeline', 'aria-label': 'Search the timeline', oninput: () => { open.search = search.value.toLowerCase(); drawEvents(); clearTimeout(own.finding); own.finding = setTimeout(() => find(own), 300) } })
  open.tools = el('div', { class: 'tools', hidden: true }, search)
  const seek = () => {
    own.tools.hidden = !own.tools.hidden
    own.seek.setAttribute('aria-expanded', String(!own.tools.hidden))
    if (!own.tools.hidden) return search.focus()
    search.value = own.search = ''
    own.found = []
    drawEvents()
  }
  own.seek = el('button', { type: 'button', class: 'seek', 'aria-label': 'Search the timeline', 'aria-expanded': 'false', onclick: seek }, icon('search'))
  open.head = el('div', { class: 'one-head' }, open.back, open.seek)
  const text = el('textarea', { rows: 1, placeholder: 'Message this session', 'aria-label': 'Message this session' })
  // say does something to the session, with the PIN that approvals ask for if there's one:
  // the agent takes a text for your word, too.
  const say = async (path, body, name, done, pin) => {
    try {
      const said = await state.api.post(path, { session: id, ...body, ...(pin ? { pin } : {}) })
      own.pin.replaceChildren()
      done(said)
    } catch (failure) {
      if (failure.code !== 'pin') return toast(failure.message)
      const input = el('input', { type: 'password', inputmode: 'numeric', autocomplete: 'off', 'aria-label': failure.message, placeholder: 'PIN' })
      own.pin.replaceChildren(el('form', { class: 'pin', onsubmit: (e) => { e.preventDefault(); say(path, body, name, done, input.value) } }, input, el('button', { class: 'yes' }, name)))
      input.focus()
      toast(failure.message)
    }
  }
  const send = (e) => {
    e.preventDefault()
    const message = text.value.trim()
    if (message) say('/api/send', { text: message }, 'Send', () => { text.value = ''; toast('Sent') })
  }
  own.takeUp = () => say('/api/resume', {}, 'Resume', ({ where }) => { own.detail.resume.live = 'x'; drawHead(); toast(`Resumed ${where}`) })
  open.text = text
  open.send = el('form', { class: 'send', onsubmit: send }, text, el('button', { class: 'yes', 'aria-label': 'Send' }, icon('send')))
  text.addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.metaKey || e.ctrlKey)) send(e) })
  open.pin = el('div')
  open.resume = el('div', { class: 'resume', hidden: true })
  open.dock = el('div', { class: 'dock' }, open.requests, open.resume, open.pin, open.send)
  open.node = el('div', { class: 'one' }, open.head, open.tools, el('aside', { class: 'one-beside about', 'aria-label': 'This session' }, el('h2', { 'aria-hidden': 'true' }, 'This session'), open.facts), el('div', { class: 'one-main' }, open.notes, open.more, open.list), open.dock)
  readDetail(own)
  readEvents('')
}

// readDetail reads what isn't in the list of sessions, and what was used so far: that comes a
// moment after the events do.
const readDetail = (own) => state.api.get(`/api/session?id=${encodeURIComponent(own.id)}`)
  .then((detail) => { own.detail = detail; if (own === open) drawHead() }).catch((failure) => toast(failure.message))

// find looks for a text in what the timeline hasn't read.
const find = async (own) => {
  const text = own.search
  own.found = []
  if (text.length > 1 && !own.more.hidden) {
    try {
      const { events } = await state.api.get(`/api/events?session=${encodeURIComponent(own.id)}&text=${encodeURIComponent(text)}`)
      if (own.search !== text) return
      own.found = events.filter((e) => !own.events.some((o) => o.cursor === e.cursor))
    } catch (failure) { toast(failure.message) }
  }
  if (own === open) drawEvents()
}

const live = () => [...state.sessions.values()].find((one) => one.id === open.id)

const drawHead = () => {
  const one = live() || open.detail
  const status = one && (one.ended ? 'ended' : one.status)
  const usage = open.detail?.usage || one?.usage
  const facts = one && factsOf(one, usage)
  open.back.setAttribute('href', wide.matches ? '#/' : '#/sessions')
  const mark = JSON.stringify([one && [titleOf(one), status, one.cwd, one.host, one.unasked, state.device?.scope], facts?.textContent, open.detail?.resume, open.detail?.noResume])
  if (mark === open.mark) return
  open.mark = mark
  // The link and the button stay: what you press isn't taken away under your finger.
  while (open.back.nextSibling !== open.seek) open.back.nextSibling.remove()
  if (!one) return open.seek.before(el('h1', { class: 'hidden' }, 'A session'))
  open.seek.before(badge(one.agent, 'small', status),
    el('div', { class: 'one-title' }, el('h1', {}, titleOf(one)),
      el('p', { class: 'where bits' }, el('span', { class: `state ${status}` }, statusWords[status] || status), el('span', { class: 'only-wide' }, agentName(one.agent)), el('span', { class: 'folder', title: one.cwd }, folderOf(one)), one.host ? el('span', { class: 'host' }, one.host) : null)),
    el('span', { class: `pill ${status}` }, statusWords[status] || status))
  open.facts.replaceChildren(facts)
  open.notes.replaceChildren(...[
    one.unasked ? el('p', { class: 'risk' }, icon('shield'), one.unasked === 'bypass' ? 'Runs calls without asking anybody' : 'A model decides instead of you') : null,
  ].filter(Boolean))
  drawResume(one)
}

// drawResume offers to take up again what has ended, or says why that can't be.
const drawResume = (one) => {
  const { resume, noResume } = open.detail || {}
  open.resume.hidden = !one.ended || !(resume || noResume) || Boolean(resume?.live)
  if (open.resume.hidden) return
  const line = el('code', {}, `hookmux resume ${open.id}`)
  open.resume.replaceChildren(...noResume || one.host ? [el('p', {}, 'It can’t be resumed here: ', (noResume || `that’s done on ${one.host}`).split('`').map((part, i) => i % 2 ? el('code', {}, part) : part), '.')]
    : state.device?.scope !== 'answer' ? [el('p', {}, 'This device is view-only. Resume it in a terminal: ', line)]
      : [el('p', {}, 'It goes on in tmux on your machine, with the flags it was started with. In a terminal: ', line), el('button', { type: 'button', class: 'yes', onclick: open.takeUp }, icon('play'), 'Resume')])
}

export const sessionView = (id, redraw) => {
  if (open?.id !== id) build(id)
  drawHead()
  const now = live()
  const asked = [...state.requests.values()].filter((r) => r.session === id).map((one) => cardFor(one, redraw))
  for (const one of asked) one.fill()
  place(open.requests, asked)
  const asks = open.requests.children.length > 0
  open.requests.hidden = !asks
  open.asked = [...state.requests.values()].filter((r) => r.session === id)
  hideAsked()
  open.node.classList.toggle('asks', asks)
  open.send.hidden = asks || !now || Boolean(now.ended) || state.device?.scope !== 'answer' // a text would answer what it asks
  if (now && now.lastEvent !== open.seen) {
    if (open.seen) {
      readEvents('after')
      const own = open
      own.detailed ||= setTimeout(() => { own.detailed = 0; if (own === open) readDetail(own) }, 3000)
    }
    open.seen = now.lastEvent
  }
  if (main.firstChild !== open.node) { main.replaceChildren(open.node); toEnd() }
}

const readEvents = async (way) => {
  const own = open
  if (own.reading) { own.again = way === 'after'; return }
  own.reading = true
  const from = way === 'after' && own.last ? `&after=${own.last}` : way === 'before' && own.first ? `&before=${own.first}` : ''
  try {
    const { events, next } = await state.api.get(`/api/events?session=${encodeURIComponent(own.id)}${from}`)
    own.events = way === 'before' ? [...events, ...own.events] : [...own.events, ...events.filter((e) => !own.events.some((o) => o.cursor === e.cursor))]
    if (way !== 'after') { own.first = next || ''; own.more.hidden = !next }
    own.last = own.events.at(-1)?.cursor || own.last
    if (way === 'after' && next) own.again = true // after hours away there's more than one page
    if (own === open) {
      const follow = own.fresh || way === 'after' && atEnd()
      const height = document.documentElement.scrollHeight
      drawEvents()
      if (follow) toEnd()
      else if (way === 'before') scrollBy(0, document.documentElement.scrollHeight - height)
      own.fresh = false
    }
  } catch (failure) { toast(failure.message) } finally {
    own.reading = false
    if (own.again) { own.again = false; setTimeout(() => open === own && readEvents('after'), 300) }
  }
}

const kindWords = { 'tool.before': 'tool', 'tool.after': 'result', 'turn.start': 'prompt', 'turn.end': 'turn ended', 'tool.permission.request': 'permission', 'session.start': 'Session started', 'session.end': 'Session ended', 'user.question': 'question', 'user.plan': 'plan', 'user.attention': 'Needs you', 'subagent.start': 'Subagent started', 'subagent.end': 'Subagent ended', 'context.compact.before': 'Compacting the context', 'context.compact.after': 'Context compacted' }
const verdictWords = { allow: 'Approved', deny: 'Denied', ask: 'Asked', modify: 'Changed' }
const verdictIcons = { allow: 'check', deny: 'cross', ask: 'hand', modify: 'bolt' }

// verdictOf says what was decided about a call.
const verdictOf = (e) => e.verdict === 'deny' && { plan: 'Sent back', question: 'Not answered' }[e.toolKind] || verdictWords[e.verdict] || e.verdict
const toolIcons = { shell: 'terminal', file_read: 'file', file_write: 'file', file_edit: 'file', search: 'search', fetch: 'globe', mcp: 'plug', task: 'you', question: 'chat', plan: 'file' }

// steps joins what belongs to one call: that it begins, what was decided, how it ended.
const steps = (events) => {
  const list = []
  const calls = new Map()
  for (const e of events) {
    const isCall = e.kind === 'tool.before' || e.kind === 'tool.after' || e.kind === 'tool.permission.request'
    const key = isCall ? e.call || `${e.tool} ${e.text}` : ''
    let one = isCall ? calls.get(key) : null
    if (isCall && !one && e.call) { // a request without the call's id may have come first
      one = calls.get(`${e.tool} ${e.text}`)
      if (one?.call) one = null // another call that does the same
      else if (one) one.call = e.call
    }
    if (one && !one.over) {
      if (e.verdict) { one.verdict = e.verdict; one.why = e.why || one.why }
      if (e.failed) one.failed = true
      if (e.kind === 'tool.after') one.over = true
      continue
    }
    const fresh = { ...e, over: e.kind === 'tool.after' }
    list.push(fresh)
    if (isCall) { calls.set(key, fresh); calls.set(`${e.tool} ${e.text}`, fresh) }
  }
  return list
}

const drawStep = (e) => {
  const said = e.text && (e.kind === 'turn.start' || e.kind === 'turn.end')
  let [kind, symbol] = ['', 'dot']
  if (e.kind === 'turn.start') [kind, symbol] = ['you', 'you']
  else if (e.kind === 'turn.end') [kind, symbol] = ['', 'chat']
  else if (e.verdict === 'deny') [kind, symbol] = ['deny', 'cross']
  else if (e.failed) [kind, symbol] = ['failed', 'alert']
  else if (e.tool) [kind, symbol] = [e.over || e.verdict ? '' : 'run', toolIcons[e.toolKind] || 'bolt']
  else if (e.kind === 'user.attention') [kind, symbol] = ['wait', 'hand']
  const tool = e.tool && e.text?.startsWith(`${e.tool}: `) ? e.text.slice(e.tool.length + 2) : e.tool && e.text?.startsWith(`${e.tool} `) ? e.text.slice(e.tool.length + 1) : null
  const body = said ? el('div', { class: `said ${e.kind === 'turn.start' ? 'mine' : ''}` }, e.text)
    : e.tool ? el('span', { class: 'ev-text' }, el('b', {}, verbOf(e.toolKind, e.tool)), tool ? ` ${tool}` : e.text && e.text !== e.tool ? ` ${e.text}` : '')
      : el('span', { class: 'quiet-text' }, [kindWords[e.kind] || e.kind, e.text].filter(Boolean).join(': '))
  return el('li', { class: `ev ${e.kind.replaceAll('.', '-')}` }, el('span', { class: `disc ${kind}`, 'aria-hidden': 'true' }, icon(symbol)),
    el('div', { class: 'ev-body' }, body, e.verdict ? el('p', { class: `ev-why ${e.verdict}` }, icon(verdictIcons[e.verdict] || 'dot'), el('span', {}, el('b', {}, verdictOf(e)),
      e.why && e.why !== e.text && !/^the user (said no|wants another plan)$/.test(e.why) ? ` · ${e.why}` : '')) : null),
    el('time', { datetime: e.time }, clock(e.time)))
}

// askedStep is the one of a tool's open calls that a request asks for: the one of its id, or
// of its text where the agent gives no id. Of several that might be it, it's none.
const askedStep = (open, request) => {
  const numbered = request.call ? open.filter((e) => e.call) : []
  if (numbered.length) return numbered.find((e) => e.call === request.call)
  const texts = Object.values(request.input || {}).filter((one) => typeof one === 'string')
  const does = (e) => { const what = e.text?.slice(e.tool.length).replace(/^:? /, ''); return what && texts.some((one) => one === what || one.endsWith(`/${what}`)) }
  return open.findLast(does) || (open.length === 1 ? open[0] : undefined)
}

// lastSteps draws what led to a request; the call that it asks for is on its card.
export const lastSteps = async (request, count) => {
  const { events } = await state.api.get(`/api/events?session=${encodeURIComponent(request.session)}`)
  const list = steps(events)
  const asked = askedStep(opens(list, request), request)
  return list.filter((e) => e !== asked).slice(-count).map(drawStep)
}

// opens are the calls of a tool that a request may ask for.
const opens = (list, request) => list.filter((e) => e.tool && !e.over && !e.verdict && (e.tool === request.tool || e.toolKind === request.kind))

// hideAsked leaves out the steps that are asked for below.
const hideAsked = () => {
  const list = open.drawn || []
  const asked = (open.asked || []).map((one) => askedStep(opens(list, one), one))
  list.forEach((e, i) => { open.list.children[i].hidden = asked.includes(e) })
}

const drawEvents = () => {
  const fits = (e) => !open.search || [e.kind, kindWords[e.kind], e.tool, e.text, e.why, verbOf(e.toolKind, e.tool), e.verdict && verdictOf(e)].some((t) => t && t.toLowerCase().includes(open.search))
  const list = steps([...open.found, ...open.events]).filter((e) => open.found.some((one) => one.cursor === e.cursor) || fits(e))
  open.list.replaceChildren(...list.map(drawStep))
  open.drawn = list
  hideAsked()
  if (!list.length) open.list.replaceChildren(el('li', { class: 'quiet-text' }, open.search ? 'Nothing fits.' : live()?.host ? `Its timeline is on ${live().host}.` : 'No events yet.'))
}
