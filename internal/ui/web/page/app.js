// hookmux's page: what waits for you, what your agents do, and your answers.
import { el, ago, base, clock, icon, badge } from './dom.js'
import { Api, unsigned } from './api.js'
import * as keys from './key.js'
import { card } from './card.js'
import { pushState, pushOn, pushOff } from './push.js'

const main = document.getElementById('main')
const state = { api: null, device: null, page: '', requests: new Map(), sessions: new Map(), done: [], ready: false, link: 'connecting' }

// ——— what the daemon says ———

const sessionKey = (one) => `${one.agent} ${one.id}`

const apply = (note) => {
  const { method, params } = note
  switch (method) {
    case 'snapshot':
      state.page = params.page
      state.device = params.device
      state.requests = new Map(params.requests.map((one) => [one.id, one]))
      state.sessions = new Map((params.sessions || []).map((one) => [sessionKey(one), one]))
      state.ready = true
      break
    case 'inbox.received':
    case 'inbox.window':
      if (!state.requests.has(params.id)) announce(params.shown.split('\n', 1)[0])
      state.requests.set(params.id, params)
      break
    case 'inbox.windowOver':
      if (state.requests.get(params.id)?.status === 'window') state.requests.delete(params.id)
      break
    case 'inbox.resolved':
    case 'inbox.expired':
    case 'inbox.withdrawn':
      if (state.requests.delete(params.id)) announce(params.decision ? `${params.shown.split('\n', 1)[0]}: ${choiceWords[params.decision.choice] || params.decision.choice}` : 'A request ended')
      state.done = [params, ...state.done.filter((one) => one.id !== params.id)].sort((a, b) => new Date(b.endedAt || 0) - new Date(a.endedAt || 0)).slice(0, 5)
      break
    case 'session.changed':
      if (params.gone) state.sessions.delete(sessionKey(params.session))
      else state.sessions.set(sessionKey(params.session), params.session)
      break
    default:
      return
  }
  draw()
}

const announce = (text) => { document.getElementById('live').textContent = text }

let toastTimer = 0
const toast = (text) => {
  const node = document.getElementById('toast')
  node.textContent = text
  node.hidden = false
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => { node.hidden = true }, 4000)
}

const setLink = (link) => {
  state.link = link
  const node = document.getElementById('link')
  node.className = `link ${link}`
  node.textContent = { live: 'Live', connecting: 'Connecting…', offline: 'Offline, trying again' }[link] || ''
}

// follow keeps the stream open, and comes back when it ends: everything that waits and
// every session is sent again then, so that hours offline leave nothing stale.
const follow = async () => {
  for (let wait = 300; ; ) {
    const abort = new AbortController()
    let alive = Date.now()
    const watch = setInterval(() => { if (Date.now() - alive > 50000) abort.abort() }, 5000)
    try {
      await state.api.stream(!document.hidden, (note) => {
        alive = Date.now()
        if (note === null) return
        wait = 300
        setLink('live')
        apply(note)
      }, abort.signal)
    } catch (failure) {
      if (failure.code === 'unpaired') return unpaired()
    } finally {
      clearInterval(watch)
      abort.abort()
    }
    setLink('offline')
    await new Promise((done) => {
      const timer = setTimeout(done, wait)
      window.addEventListener('online', () => { clearTimeout(timer); done() }, { once: true })
      if (document.hidden) document.addEventListener('visibilitychange', () => { clearTimeout(timer); done() }, { once: true })
    })
    wait = Math.min(wait * 2, 10000)
  }
}

document.addEventListener('visibilitychange', () => {
  if (state.page) state.api?.post('/api/visible', { page: state.page, visible: !document.hidden }).catch(() => {})
})

const unpaired = async () => {
  await keys.forget()
  state.api = null
  state.ready = false
  location.hash = '#/pair'
  pairView('This device isn’t paired any more. Pair it again with hookmux web pair.')
}

// ——— views ———

const rank = { waiting: 0, failed: 1, running: 2, done: 3, unknown: 4, idle: 5 }
const statusWords = { waiting: 'Waiting for you', failed: 'Failed', running: 'Running', done: 'Done', unknown: 'Unknown', idle: 'Idle' }

const sorted = () => [...state.sessions.values()].filter((one) => !one.ended || one.cutOff).sort((a, b) =>
  (rank[a.status] ?? 9) - (rank[b.status] ?? 9) || new Date(b.lastEvent) - new Date(a.lastEvent))

const doing = (one) => {
  if (one.status === 'waiting') return one.asks?.[0] || 'Waiting for you'
  if (one.status === 'running') return one.tool ? one.tool : 'Thinking'
  const turn = one.turn
  if (one.status === 'failed') return turn?.error || one.endReason || 'Failed'
  return turn?.summary || one.lastWords || statusWords[one.status] || one.status
}

const row = (one) => el('li', {}, el('a', { class: `session is-${one.status}`, href: `#/session/${encodeURIComponent(one.id)}` },
  badge(one.agent),
  el('span', { class: 'session-main' },
    el('span', { class: 'session-title' }, one.title || base(one.cwd) || one.id.slice(0, 8)),
    el('span', { class: 'session-doing' }, doing(one))),
  el('span', { class: 'session-side' },
    el('span', { class: `pill ${one.status}` }, statusWords[one.status] || one.status),
    el('span', { class: 'when', 'data-since': one.since }, ago(one.since)))))

// cards are kept while they wait, so that what you typed stays when something changes.
const cards = new Map()

const titleOf = (request) => state.sessions.get(`${request.agent} ${request.session}`)?.title

const cardFor = (request) => {
  const mark = `${request.sha256} ${request.status} ${state.device?.scope}`
  const kept = cards.get(request.id)
  if (kept && kept.mark === mark) return kept.node
  const node = card(request, {
    may: state.device?.scope === 'answer',
    title: titleOf(request),
    act: async (reply, pin) => {
      const result = await state.api.answer(reply, pin)
      if (result.outcome !== 'delivered') toast(result.outcome === 'already' ? `Answered before, by ${result.by || 'somebody else'}` : `Too late: ${result.why || result.outcome}`)
      else toast({ deny: 'Denied', answer: 'Answered', always: 'Approved and saved' }[reply.choice] || 'Approved')
      state.requests.delete(request.id)
      draw()
    },
    release: async (one) => {
      await state.api.post('/api/release', { id: one.id, sha256: one.sha256 })
      toast('Left to the agent')
    },
  })
  cards.set(request.id, { mark, node })
  return node
}

// place puts the nodes of a list into the page and leaves those alone that are there.
const place = (list, nodes) => {
  for (const [i, node] of nodes.entries()) if (list.children[i] !== node) list.insertBefore(node, list.children[i] || null)
  while (list.children.length > nodes.length) list.lastElementChild.remove()
}

const choiceWords = { once: 'approved', always: 'approved and saved', deny: 'denied', answer: 'answered', plan: 'plan answered' }

// about is what a request was about, on one line.
const about = (one) => {
  if (one.questions?.length) return one.questions[0].question
  const line = one.shown.split('\n').slice(1).find((l) => l.startsWith('  ') || l.startsWith('file: '))
  return line ? line.trim() : one.shown.split('\n', 1)[0]
}

let home = null
const homeView = () => {
  if (!home) {
    home = {
      count: el('span', { class: 'count' }),
      cards: el('div', { class: 'cards' }),
      empty: el('div', { class: 'empty' }, el('p', { class: 'empty-mark', 'aria-hidden': 'true' }, icon('check')), el('p', {}, 'Nothing waits for you'), el('p', { class: 'quiet-text' }, 'Requests appear here as soon as an agent asks.')),
      done: el('ul', { class: 'done', 'aria-label': 'Answered lately' }),
      sessions: el('ul', { class: 'sessions' }),
      none: el('p', { class: 'quiet-text' }, 'No agent runs right now.'),
    }
    home.node = el('div', { class: 'home' }, el('h1', { class: 'hidden' }, 'Your agents'),
      el('section', { 'aria-labelledby': 'h-inbox' }, el('h2', { id: 'h-inbox' }, 'Waiting for you ', home.count), home.cards, home.empty, home.done),
      el('section', { 'aria-labelledby': 'h-sessions' }, el('h2', { id: 'h-sessions' }, 'Sessions'), home.sessions, home.none))
  }
  const waiting = [...state.requests.values()].sort((a, b) => new Date(a.createdAt) - new Date(b.createdAt))
  for (const id of cards.keys()) if (!state.requests.has(id)) cards.delete(id)
  home.count.textContent = waiting.length || ''
  place(home.cards, waiting.map(cardFor))
  home.empty.hidden = waiting.length > 0
  home.done.replaceChildren(...state.done.map((one) => el('li', {}, el('span', { class: `dot ${one.decision?.choice === 'deny' ? 'no' : one.decision ? 'yes' : ''}` }),
    el('span', { class: 'done-what' }, about(one)), el('span', { class: 'quiet-text' }, one.decision ? `${choiceWords[one.decision.choice] || one.decision.choice} · ${one.decision.by.replace(/ \(device [0-9a-f]+\)$/, '')}` : one.end || one.status))))
  const list = sorted()
  home.sessions.replaceChildren(...list.map(row))
  home.none.hidden = list.length > 0
  if (main.firstChild !== home.node) main.replaceChildren(home.node)
  document.title = waiting.length ? `(${waiting.length}) hookmux` : 'hookmux'
}

// ——— one session ———

let open = null // the session that's shown

const sessionView = (id) => {
  if (open?.id !== id) {
    open = { id, events: [], first: '', last: '', detail: null, search: '', seen: '' }
    open.node = el('div', { class: 'one' })
    open.head = el('div', { class: 'one-head' })
    open.requests = el('div', { class: 'cards' })
    open.list = el('ol', { class: 'timeline', 'aria-label': 'Timeline' })
    open.more = el('button', { type: 'button', class: 'more', hidden: true, onclick: () => readEvents('before') }, 'Show earlier events')
    const search = el('input', { type: 'search', placeholder: 'Search the timeline', 'aria-label': 'Search the timeline', oninput: () => { open.search = search.value.toLowerCase(); drawEvents() } })
    const text = el('textarea', { rows: 1, placeholder: 'Message this session', 'aria-label': 'Message this session' })
    open.send = el('form', { class: 'send', onsubmit: async (e) => {
      e.preventDefault()
      const message = text.value.trim()
      if (!message) return
      try {
        await state.api.post('/api/send', { session: id, text: message })
        text.value = ''
        toast('Sent')
      } catch (failure) { toast(failure.message) }
    } }, text, el('button', { class: 'yes', 'aria-label': 'Send' }, icon('send')))
    open.node.append(open.head, open.requests, el('div', { class: 'tools' }, search), open.more, open.list, open.send)
    const own = open
    state.api.get(`/api/session?id=${encodeURIComponent(id)}`).then((detail) => { own.detail = detail; draw() }).catch((failure) => toast(failure.message))
    readEvents('')
  }
  const live = [...state.sessions.values()].find((one) => one.id === id)
  const one = live || open.detail
  open.head.replaceChildren(
    el('a', { href: '#/', class: 'back' }, icon('back'), 'All sessions'),
    ...(one ? [el('div', { class: 'one-title' }, badge(one.agent), el('h1', {}, one.title || base(one.cwd) || id.slice(0, 8)), el('span', { class: `pill ${one.status}` }, statusWords[one.status] || one.status)),
      el('p', { class: 'where' }, [one.agent, one.model, one.cwd].filter(Boolean).join(' · ')),
      one.unasked ? el('p', { class: 'risk' }, icon('shield'), one.unasked === 'bypass' ? 'Runs calls without asking anybody' : 'A model decides instead of you') : null,
      one.turn?.summary || one.lastWords ? el('blockquote', { class: 'words' }, one.turn?.summary || one.lastWords) : null,
      one.ended && open.detail?.resume ? el('p', { class: 'resume' }, 'Resume it in a terminal: ', el('code', {}, `hookmux resume ${id}`)) : null,
    ].filter(Boolean) : []))
  place(open.requests, [...state.requests.values()].filter((r) => r.session === id).map(cardFor))
  open.send.hidden = !live || state.device?.scope !== 'answer'
  if (live && live.lastEvent !== open.seen) {
    if (open.seen) readEvents('after')
    open.seen = live.lastEvent
  }
  if (main.firstChild !== open.node) { main.replaceChildren(open.node); scrollTo(0, 0) }
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
    if (own === open) drawEvents()
  } catch (failure) { toast(failure.message) } finally {
    own.reading = false
    if (own.again) { own.again = false; setTimeout(() => open === own && readEvents('after'), 500) }
  }
}

const kindWords = { 'tool.before': 'tool', 'tool.after': 'result', 'turn.start': 'prompt', 'turn.end': 'turn ended', 'tool.permission.request': 'permission', 'session.start': 'started', 'session.end': 'ended', 'user.question': 'question', 'user.plan': 'plan', 'user.attention': 'attention' }

const drawEvents = () => {
  const fits = (e) => !open.search || [e.kind, e.tool, e.text, e.why, e.verdict].some((t) => t && t.toLowerCase().includes(open.search))
  const list = open.events.filter(fits).reverse()
  open.list.replaceChildren(...list.map((e) => el('li', { class: `ev ${e.kind.replaceAll('.', '-')} ${e.verdict ? `v-${e.verdict}` : ''}` },
    el('time', { datetime: e.time }, clock(e.time)),
    el('span', { class: 'ev-kind' }, kindWords[e.kind] || e.kind),
    el('span', { class: 'ev-text' }, e.tool && !e.text?.startsWith(e.tool) ? el('b', {}, e.tool, ' ') : null, e.text || ''),
    e.verdict ? el('span', { class: `pill ${e.verdict}`, title: e.why || '' }, e.verdict) : null,
    e.why ? el('span', { class: 'ev-why' }, e.why) : null)))
  if (!list.length) open.list.replaceChildren(el('li', { class: 'quiet-text' }, open.search ? 'Nothing fits.' : 'No events yet.'))
}

// ——— devices and pairing ———

const devicesView = async () => {
  const node = el('div', { class: 'plain' }, el('h1', {}, 'Devices'), el('p', { class: 'quiet-text' }, 'Other devices are renamed, limited and removed in a terminal: hookmux web devices'))
  main.replaceChildren(node)
  try {
    const { devices, own } = await state.api.get('/api/devices')
    node.append(el('ul', { class: 'devices' }, devices.map((one) => el('li', { class: one.id === own ? 'own-device' : '' },
      el('div', {}, el('b', {}, one.name), one.id === own ? el('span', { class: 'pill running' }, 'this one') : null),
      el('p', { class: 'quiet-text' }, `May ${one.scope} · ${one.browser || ''} ${one.address || ''} · ${one.pages ? 'in use now' : one.used ? `used ${ago(one.used)} ago` : 'never used'} · paired ${new Date(one.paired).toLocaleDateString()}`)))))
  } catch (failure) { return toast(failure.message) }
  const push = el('section', { class: 'push' })
  node.append(push)
  const drawPush = async () => {
    const can = await pushState()
    push.replaceChildren(el('h2', {}, 'Notifications'),
      can === 'unable' ? el('p', { class: 'quiet-text' }, 'This browser can’t be notified here. On an iPhone, add the page to the Home Screen first.') :
        el('button', { type: 'button', class: can === 'on' ? 'more' : 'yes', onclick: async () => {
          try { toast(await (can === 'on' ? pushOff(state.api) : pushOn(state.api)) || 'Notifications are off') } catch (failure) { toast(failure.message) }
          drawPush()
        } }, can === 'on' ? 'Turn notifications off' : 'Notify me on this device'))
  }
  await drawPush()
  node.append(el('section', {}, el('h2', {}, 'This device'), el('button', { type: 'button', class: 'no', onclick: async (e) => {
    const button = e.currentTarget
    if (!button.dataset.sure) { button.dataset.sure = '1'; button.textContent = 'Really remove this device?'; return }
    try { await state.api.post('/api/unpair', {}) } catch { /* it's forgotten here in any case */ }
    unpaired()
  } }, 'Remove this device')))
}

const pairView = (why) => {
  document.title = 'Pair this device · hookmux'
  const input = el('input', { id: 'code', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', placeholder: 'Paste the link or the code' })
  const error = el('p', { class: 'error', role: 'alert', hidden: !why }, why || '')
  const node = el('div', { class: 'pair' }, el('img', { src: '/icon.svg', alt: '', width: 72, height: 72 }),
    el('h1', {}, 'Pair this device'),
    el('p', {}, 'Run ', el('code', {}, 'hookmux web pair'), ' in your terminal and scan the code it shows, or paste the link here.'), error,
    el('form', { onsubmit: (e) => { e.preventDefault(); claim(input.value.split('#pair=').pop().trim().toUpperCase()) } },
      el('label', { for: 'code', class: 'hidden' }, 'Link or code'), input, el('button', { class: 'yes' }, 'Pair')))
  main.replaceChildren(node)
}

const deviceName = () => {
  const agent = navigator.userAgent
  for (const name of ['iPhone', 'iPad', 'Android', 'Macintosh', 'Windows', 'Linux']) if (agent.includes(name)) return name === 'Macintosh' ? 'Mac' : name
  return 'browser'
}

const claim = async (code) => {
  if (!crypto.subtle) return pairView('This address isn’t secure, so the browser can’t keep a key here. Use https, or localhost on the same machine.')
  try {
    const pair = await keys.make()
    const said = await unsigned('/api/pair', { code, key: pair.public, name: deviceName() })
    const digits = await keys.digits(code, pair.public, said.nonce)
    main.replaceChildren(el('div', { class: 'pair' }, el('h1', {}, 'Same digits?'),
      el('p', { class: 'digits', 'aria-label': digits.split('').join(' ') }, digits.split('').map((d) => el('span', {}, d))),
      el('p', {}, 'Your terminal shows four digits. If they are these, confirm there. If not, say no.'),
      el('p', { class: 'quiet-text', role: 'status' }, 'Waiting for your terminal…')))
    for (;;) {
      await new Promise((done) => setTimeout(done, 700))
      const now = await unsigned('/api/pair/state', { claim: said.claim }).catch((failure) => { if (failure.code === 'rate') return { state: 'waiting' }; throw failure })
      if (now.state === 'waiting') continue
      if (now.state !== 'paired') return pairView('That took too long, or was refused. Run hookmux web pair again.')
      await keys.save({ id: now.device, key: pair.key, public: pair.public, name: now.name })
      location.hash = '#/'
      return start()
    }
  } catch (failure) { pairView(failure.message) }
}

// ——— going ———

const draw = () => {
  if (!state.api || !state.ready) return
  const [, view, id] = location.hash.split('/')
  document.getElementById('nav-home').toggleAttribute('aria-current', view !== 'devices')
  document.getElementById('nav-devices').toggleAttribute('aria-current', view === 'devices')
  if (view === 'session' && id) return sessionView(decodeURIComponent(id))
  open = null
  if (view === 'devices') { if (!main.querySelector('.devices')) devicesView(); return }
  if (view === 'request' && id) document.querySelector(`[data-request="${CSS.escape(decodeURIComponent(id))}"]`)?.scrollIntoView()
  homeView()
}

addEventListener('hashchange', () => {
  if (location.hash.startsWith('#pair=')) return start()
  main.querySelector('.devices')?.remove()
  draw()
  main.focus({ preventScroll: true })
})

setInterval(() => { for (const node of document.querySelectorAll('[data-since]')) node.textContent = ago(node.dataset.since) }, 5000)

let following = false
const start = async () => {
  const code = location.hash.startsWith('#pair=') ? location.hash.slice(6) : ''
  if (code) history.replaceState(null, '', '/') // the code doesn't stay in the address
  const own = crypto.subtle ? await keys.load().catch(() => null) : null
  document.body.classList.toggle('unpaired', !own || Boolean(code))
  if (code) return claim(code)
  if (!own) return pairView(crypto.subtle ? '' : 'This address isn’t secure, so the browser can’t keep a key here. Use https, or localhost on the same machine.')
  state.api = new Api(own)
  setLink('connecting')
  if (following) return
  following = true
  await follow()
  following = false
}

start()
