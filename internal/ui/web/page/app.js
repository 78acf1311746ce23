// hookmux's page: what waits for you, what your agents do, and your answers.
import { el, icon, since } from './dom.js'
import { code, connect, connecting } from './boot.js'
import { forget } from './key.js'
import { state, main, wide, sessionKey, announce, drawLeft, drawSessions, placeSessions } from './state.js'
import { homeView, queueRows, markRows, outcome, step, current, chosen } from './inbox.js'
import { sessionView, leaveSession, lastSteps } from './session.js'
import { usageView } from './usage.js'
import { devicesView } from './devices.js'
import { pairView, claim } from './pair.js'

// ——— what the daemon says ———

const apply = ({ method, params }) => {
  switch (method) {
    case 'snapshot':
      state.page = params.page
      state.device = params.device
      state.home = params.home
      state.agents = params.agents
      state.requests = new Map(params.requests.map((one) => [one.id, one]))
      state.sessions = new Map((params.sessions || []).map((one) => [sessionKey(one), one]))
      state.skew = params.time - Date.now()
      tellVisible()
      if (!state.ready) { // nothing is there yet: not a moment later
        state.ready = true
        return draw()
      }
      break
    case 'inbox.received':
    case 'inbox.prompt':
      if (!state.requests.has(params.id)) announce(params.shown.split('\n', 1)[0])
      state.requests.set(params.id, params)
      break
    case 'inbox.promptOver':
      if (state.requests.get(params.id)?.status === 'prompt') state.requests.delete(params.id)
      break
    case 'inbox.resolved':
    case 'inbox.expired':
    case 'inbox.withdrawn':
      if (state.requests.delete(params.id)) announce(`${params.shown.split('\n', 1)[0]}: ${outcome(params)}`)
      state.done = [params, ...state.done.filter((one) => one.id !== params.id)].sort((a, b) => new Date(b.endedAt || 0) - new Date(a.endedAt || 0)).slice(0, 5)
      break
    case 'session.changed':
      if (params.gone) state.sessions.delete(sessionKey(params.session))
      else state.sessions.set(sessionKey(params.session), params.session)
      break
    case 'device.elsewhere':
      warn(params)
      return
    default:
      return
  }
  drawSoon()
}

// warn stays until you close it.
const warn = ({ name, id, browser, address }) => {
  document.querySelector('.warning')?.remove()
  const node = el('div', { class: 'warning', role: 'alert' }, icon('alert'), el('p', {}, el('b', {}, `${name} is used from somewhere new`),
    ` ${browser} at ${address}. If that isn’t you: `, el('code', {}, `hookmux web devices remove ${id}`)),
  el('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => node.remove() }, icon('cross')))
  document.body.append(node)
}

const drawAges = () => { for (const node of document.querySelectorAll('[data-since]')) node.textContent = since(node.dataset.since) }

const setLink = (link) => {
  if (state.link !== link && state.ready) drawSoon()
  state.link = link
  document.documentElement.classList.toggle('stale', link === 'offline')
  drawAges()
  const node = document.getElementById('link')
  node.className = `link ${link}`
  node.textContent = { live: 'Connected', connecting: 'Connecting…', offline: 'Offline' }[link] || ''
}

// follow keeps the stream open, and comes back when it ends: everything that waits and
// every session is sent again then, so that hours offline leave nothing stale.
const follow = async () => {
  for (let wait = 300; ; ) {
    const { api } = state
    if (!api) return
    let alive = Date.now()
    const watch = setInterval(() => { if (Date.now() - alive > 50000) api.close() }, 5000)
    try {
      await api.stream((note) => {
        alive = state.heard = Date.now()
        if (note === null) return
        wait = 300
        setLink('live')
        apply(note)
      })
    } catch (failure) {
      if (failure.code === 'unpaired') return unpaired()
    } finally {
      clearInterval(watch)
      api.close()
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

const tellVisible = () => {
  if (!state.page || !state.api || state.api.shown === !document.hidden) return
  state.api.shown = !document.hidden
  state.api.post('/api/visible', { page: state.page, visible: state.api.shown }).then(({ deadlines }) => {
    for (const one of state.requests.values()) one.deadline = deadlines[one.id] ?? one.deadline
    drawSoon()
  }).catch(() => {})
}
document.addEventListener('visibilitychange', tellVisible)

// A page that's left may be kept by the browser, to go back to: its stream would keep one of
// the few connections that there may be. It opens another when you're back.
addEventListener('pagehide', () => state.api?.close())

const unpaired = async () => {
  await forget()
  state.api = null
  state.ready = false
  document.body.classList.add('unpaired')
  location.hash = '#/pair'
  pairView(start, 'This device isn’t paired any more. Pair it again with hookmux web pair.')
}

// ——— what's shown ———

let soon = 0
const drawSoon = () => {
  const go = () => { soon = 0; draw() }
  soon ||= document.hidden ? setTimeout(go, 200) : requestAnimationFrame(go) // nothing is drawn in the background
}

const part = (text) => { try { return decodeURIComponent(text || '') } catch { return '' } }

wide.addEventListener('change', () => draw())

// drawLastSteps shows what led to the chosen request, where there's room beside it.
let stepsOf = ''
const drawLastSteps = async () => {
  const one = chosen()
  const key = one ? `${one.id} ${one.session} ${[...state.sessions.values()].find((s) => s.id === one.session)?.lastEvent}` : ''
  if (key === stepsOf || !wide.matches) return
  stepsOf = key
  const list = one && !one.host ? await lastSteps(one, 6).catch(() => []) : []
  if (stepsOf !== key) return
  const node = document.querySelector('.steps')
  node?.querySelector('ol').replaceChildren(...list)
  if (node) node.hidden = !list.length
}
addEventListener('chosen', drawLastSteps)

let drawn = '' // the view that's there, where it isn't drawn again with each change
const draw = () => {
  if (!state.api || !state.ready) return
  const [, view = '', id = ''] = location.hash.split('/')
  const page = ['session', 'sessions', 'usage', 'devices'].includes(view) && (view !== 'session' || id) ? view : 'home'
  document.body.className = `view-${page}`
  for (const [link, name] of [['nav-home', 'home'], ['nav-sessions', 'sessions'], ['nav-usage', 'usage'], ['nav-devices', 'devices']]) {
    const node = document.getElementById(link)
    if (page === name) node.setAttribute('aria-current', 'page')
    else node.removeAttribute('aria-current')
  }
  const waiting = state.requests.size
  document.getElementById('nav-count').textContent = waiting || ''
  document.getElementById('bar-title').textContent = { home: waiting ? 'Waiting for you' : 'Inbox', sessions: 'Sessions', usage: 'Usage', devices: 'Settings' }[page] || ''
  document.title = waiting ? `(${waiting}) hookmux` : 'hookmux'
  const alone = page === 'sessions' && !wide.matches
  placeSessions(alone)
  if (wide.matches || alone) drawSessions(page === 'session' ? part(id) : '', alone ? [] : queueRows()) // else nobody sees them
  if (page !== 'session') leaveSession()
  if (page === 'session') sessionView(part(id), drawSoon)
  else if (alone) { /* there they are */ } else if (page === 'home' || page === 'sessions') { homeView(view === 'request' ? part(id) : '', drawSoon); drawLastSteps() }
  else if (drawn !== page) page === 'usage' ? usageView() : devicesView(unpaired)
  markRows(page === 'session' ? part(id) : '')
  drawn = page
}

// Where you were on a page is where you are when you come back to it; a session begins at its end.
history.scrollRestoration = 'manual'
const places = new Map()
let place = location.hash

addEventListener('hashchange', () => {
  if (location.hash.startsWith('#pair=')) return start()
  drawn = ''
  place = location.hash
  const at = places.get(place) || 0
  scrollTo(0, 0)
  draw()
  if (at && !place.startsWith('#/session/')) scrollTo(0, at)
  main.focus({ preventScroll: true })
})

setInterval(() => {
  drawAges()
  document.querySelectorAll('.left').forEach(drawLeft)
}, 5000)

// Keys, where nothing is typed: the same as in the terminal.
let holding = null
addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || !state.ready) return
  if (e.key === 'Escape') {
    const cancel = e.target.closest?.('.panel')?.querySelector('.plain-button')
    return cancel ? cancel.click() : location.hash = '#/'
  }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && !/^(radio|checkbox)$/.test(e.target.type)) return
  if (e.key === 'j' || e.key === 'k') return step(e.key === 'j' ? 1 : -1)
  const card = e.repeat ? null : current()
  const meant = card && [...card.querySelectorAll('[data-key]')].find((one) => one.dataset.key === e.key && !one.disabled && one.offsetParent)
  if (!meant || e.key === ' ' && e.target.closest('button')) return
  e.preventDefault()
  if (!meant.hold) return meant.click()
  holding = meant
  meant.hold()
})
addEventListener('keyup', (e) => { if (holding && e.key.toLowerCase() === holding.dataset.key) { holding.release(); holding = null } })

// A notification that's clicked opens its request in the page that's there.
navigator.serviceWorker?.addEventListener('message', ({ data }) => { if (/^#\/request\//.test(data?.open)) location.hash = data.open })

addEventListener('scroll', () => {
  if (place === location.hash) places.set(place, scrollY)
  document.documentElement.classList.toggle('scrolled', scrollY > 4)
}, { passive: true })

let following = false
const start = async (first) => {
  const pairing = code()
  if (pairing) history.replaceState(null, '', '/') // the code doesn't stay in the address
  const api = pairing ? null : await (first || connect())
  document.body.classList.toggle('unpaired', !api)
  if (pairing) return claim(pairing, start)
  if (!api) return pairView(start)
  state.api?.close()
  state.api = api
  setLink('connecting')
  if (following) return
  following = true
  await follow()
  following = false
}

start(connecting)
