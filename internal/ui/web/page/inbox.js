// What waits for you.
import { el, icon, badge, since, clock, arrange, keeper, refill, visible } from './dom.js'
import { card } from './card.js'
import { state, main, wide, toast, titleOf, agentName, sessionOf, aboutLine, factsOf } from './state.js'

// cards are kept while they wait, so that what you typed stays when something changes.
const cards = new Map()

export const cardFor = (request, redraw) => {
  const mark = `${request.sha256} ${request.status} ${state.device?.scope}`
  const kept = cards.get(request.id)
  const title = () => { const session = state.sessions.get(sessionOf(request)); return session && titleOf(session) }
  if (kept && kept.mark === mark) {
    const left = kept.node.querySelector('.left')
    if (left) left.dataset.until = request.deadline
    const link = kept.node.querySelector('.head a')
    if (link && title()) link.textContent = visible(title()) // it may have come later
    return kept.node
  }
  const node = card(request, {
    may: state.device?.scope === 'answer',
    title,
    act: async (reply, pin) => {
      const result = await state.api.answer(reply, pin)
      if (result.outcome !== 'delivered') toast(result.outcome === 'already' ? `Answered before, by ${result.by || 'somebody else'}` : `Too late: ${result.why || result.outcome}`)
      else toast({ deny: reply.plan ? 'Sent back' : request.kind === 'question' ? 'Not answered' : 'Denied', answer: 'Answered', always: 'Approved and saved', plan: 'Accepted' }[reply.choice] || 'Approved')
      state.requests.delete(request.id)
      redraw()
    },
    release: async (one) => {
      await state.api.post('/api/skip', { id: one.id, sha256: one.sha256 })
      toast('Answer it in its terminal')
    },
  })
  cards.set(request.id, { mark, node })
  return node
}

// place puts the nodes of a list into the page and leaves those alone that are there. For
// a moment nothing in a list that changed takes a click: what moves under your finger, or
// appears there, isn't what you meant.
export const place = (list, nodes) => {
  if (arrange(list, nodes) && list.isConnected) settle(list)
}

const settle = (list) => {
  list.classList.add('settling')
  clearTimeout(list.settles)
  list.settles = setTimeout(() => list.classList.remove('settling'), 400)
}

const choiceWords = { once: 'Approved', always: 'Approved and saved', deny: 'Denied', answer: 'Answered', plan: 'Accepted' }

const refused = (one) => one.decision?.choice === 'deny' || one.decision?.plan === 'reject'

export const outcome = (one) => !one.decision ? 'Ended' : refused(one) ? { plan: 'Sent back', question: 'Not answered' }[one.kind] || 'Denied' : choiceWords[one.decision.choice] || one.decision.choice

// by names who answered in a word or two.
const by = (text) => text.replace(/ \(device [0-9a-f]+\)$/, '').replace(/^.+, pid \d+.*$/, 'terminal')

const titleFor = (one) => {
  const session = state.sessions.get(sessionOf(one))
  return session ? titleOf(session) : agentName(one.agent)
}

const lately = (one) => {
  const kind = refused(one) ? 'no' : one.decision ? 'yes' : ''
  return el('li', {}, el('a', { href: `#/session/${encodeURIComponent(one.session)}`, title: one.decision ? `By ${by(one.decision.by)}` : null },
    el('span', { class: `disc ${kind}`, 'aria-hidden': 'true' }, icon(kind === 'no' ? 'cross' : kind ? 'check' : 'stop')),
    el('span', { class: 'session-main' }, el('span', { class: 'done-what' }, aboutLine(one)),
      el('span', { class: 'session-doing' }, el('span', { class: 'cut' }, `${outcome(one)} · ${titleFor(one)}`))),
    one.endedAt ? el('span', { class: 'when', 'data-since': one.endedAt }, since(one.endedAt)) : null))
}

let home = null

// fillLater draws the cards that aren't open once the one that is can be answered.
const fillLater = (all) => requestAnimationFrame(() => setTimeout(() => { for (const one of all) one.fill() }, 100))

// select shows one of the cards: beside the list of all on a desktop, in its place on a phone.
const select = (id, focus) => {
  home.selected = id
  for (const one of home.cards.querySelectorAll('.card')) {
    const on = one.dataset.request === id
    if (on) one.fill()
    if (on && !one.classList.contains('selected')) { settle(home.cards); dispatchEvent(new Event('chosen')) }
    one.classList.toggle('selected', on)
  }
  const one = state.requests.get(id)
  const session = one && state.sessions.get(sessionOf(one))
  home.about.hidden = !session
  if (session) refill(home.facts, [factsOf(session), el('a', { href: `#/session/${encodeURIComponent(session.id)}` }, 'Open the session')])
  markRows()
  const at = home.order.indexOf(id)
  home.at.textContent = `${at + 1} of ${home.order.length}`
  home.previous.disabled = at <= 0
  home.next.disabled = at + 1 >= home.order.length
  const line = focus && [...document.querySelectorAll('.queued')].find((one) => one.dataset.for === id && one.offsetParent)
  if (line) { line.focus({ preventScroll: true }); line.scrollIntoView({ block: 'nearest' }) }
}

// markRows marks the line of the request that's open, alone or in its session.
export const markRows = (session) => {
  for (const one of document.querySelectorAll('.queued')) one.setAttribute('aria-current', String(home?.node.isConnected ? one.dataset.for === home.selected : one.dataset.session === session))
}

// open shows a request that was chosen in the list.
const open = (id) => {
  if (!home?.node.isConnected) { location.hash = `#/request/${encodeURIComponent(id)}`; return }
  select(id)
  if (wide.matches) return
  const card = home.cards.querySelector('.selected')
  card.querySelector('.read').focus({ preventScroll: true })
  card.scrollIntoView({ block: 'nearest' })
}

const keepers = { home: keeper(), rail: keeper(), done: keeper() }

const row = (one) => el('button', { type: 'button', 'data-for': one.id, 'data-session': one.session, class: `queued risk-${one.risk || 'normal'}`, onclick: () => open(one.id) }, badge(one.agent, 'small'),
  el('span', { class: 'session-main' },
    el('span', { class: 'session-top' }, el('span', { class: 'session-title' }, titleFor(one)), el('span', { class: 'when', 'data-since': one.createdAt }, since(one.createdAt))),
    el('span', { class: 'session-doing' }, one.risk === 'high' ? icon('alert') : null, aboutLine(one))))

const waiting = () => [...state.requests.values()].sort((a, b) => new Date(a.createdAt) - new Date(b.createdAt))

const rows = (keep, make) => waiting().map((one) => keep(one.id, [one.sha256, titleFor(one)], () => make(one)))

// queueRows are the requests that wait, a line each, for the list beside everything else.
export const queueRows = () => rows(keepers.rail, (one) => el('li', {}, row(one)))

const turn = (by, name, symbol, key) => el('button', { type: 'button', class: 'turn', 'aria-label': name, onclick: () => step(by, false) }, icon(symbol), el('kbd', { 'aria-hidden': 'true' }, key))

// homeView draws the inbox; meant is the request that a notification opened.
export const homeView = (meant, redraw) => {
  if (!home) {
    home = {
      away: false,
      count: el('span', { class: 'count' }),
      words: el('span'),
      head: el('h1', { id: 'h-inbox' }),
      cards: el('div', { class: 'cards' }),
      mark: el('div', { class: 'empty-mark', 'aria-hidden': 'true' }),
      note: el('p', { class: 'quiet-text' }),
      run: el('p', { class: 'run' }),
      retry: el('button', { type: 'button', class: 'more', onclick: () => { toast('Trying again…'); dispatchEvent(new Event('online')) } }, 'Retry'),
      at: el('span'),
      previous: turn(-1, 'Previous', 'up', 'K'),
      next: turn(1, 'Next', 'under', 'J'),
      done: el('ul', { class: 'done' }),
      facts: el('div'),
      steps: el('section', { class: 'steps', 'aria-labelledby': 'h-steps', hidden: true }, el('h2', { id: 'h-steps' }, 'Last steps'), el('ol', { class: 'timeline' })),
    }
    home.head.append(home.words, home.count)
    home.lately = el('section', { class: 'lately', 'aria-labelledby': 'h-lately' }, el('h2', { id: 'h-lately' }, 'Recent', el('span', { class: 'all' }, ' · all sessions')), home.done)
    home.about = el('section', { class: 'about', 'aria-labelledby': 'h-about' }, el('h2', { id: 'h-about' }, 'This session'), home.facts)
    home.empty = el('div', { class: 'empty' }, home.mark, home.note, home.run, home.retry)
    home.turns = el('div', { class: 'turns' }, home.at, home.previous, home.next)
    home.top = el('div', { class: 'home-top' }, el('p', { class: 'bar-name' }, 'Inbox'), home.turns)
    home.node = el('div', { class: 'home' }, home.top, el('div', { class: 'home-cards' }, home.empty, home.cards), el('div', { class: 'home-beside' }, home.about, home.steps, home.lately))
  }
  const list = waiting()
  const away = state.link === 'offline'
  for (const id of cards.keys()) if (!state.requests.has(id)) cards.delete(id)
  home.count.textContent = list.length || ''
  home.words.textContent = list.length ? 'Waiting for you' : away ? 'Can’t reach hookmux' : 'You’re all caught up'
  const focused = document.activeElement?.matches('.queued')
  const all = list.map((one) => cardFor(one, redraw))
  fillLater(all)
  place(home.cards, wide.matches ? all : rows(keepers.home, row).flatMap((line, i) => [line, all[i]]))
  if (main.firstChild !== home.node) { main.replaceChildren(home.node); home.meant = '' }
  const before = home.order?.indexOf(home.selected) ?? -1
  home.order = list.map((one) => one.id)
  select(home.order.includes(home.selected) ? home.selected : before < 0 ? list.find((one) => one.status === 'pending')?.id ?? home.order[0] : home.order[Math.min(before, home.order.length - 1)], focused)
  if (home.away !== away) { home.away = away; settle(home.cards) } // the buttons come and go
  home.empty.hidden = list.length > 0 && !away
  home.empty.classList.toggle('strip', list.length > 0)
  home.turns.hidden = list.length < 2
  if (list.length && home.head.parentNode !== home.top) home.top.prepend(home.head)
  if (!list.length && home.head.parentNode !== home.empty) home.mark.after(home.head)
  home.mark.classList.toggle('away', away)
  refill(home.mark, [icon(away ? 'plug' : 'check')])
  refill(home.note, away ? [list.length ? el('b', {}, 'Can’t reach hookmux. ') : '', `Last updated ${clock(state.heard)}. Is the computer awake, and on this network?`] : ['Requests appear here as soon as an agent asks.'])
  home.run.hidden = away
  home.retry.hidden = !away
  const running = [...state.sessions.values()].filter((one) => one.status === 'running' && !one.ended).sort((a, b) => new Date(b.lastEvent) - new Date(a.lastEvent))
  refill(home.run, running.length ? [el('a', { href: `#/session/${encodeURIComponent(running[0].id)}` }, `${running.length} session${running.length > 1 ? 's' : ''} running →`)] : [])
  home.node.classList.toggle('quiet', !list.length)
  home.lately.hidden = !state.done.length
  arrange(home.done, state.done.map((one) => keepers.done(one.id, [one, titleFor(one)], () => lately(one))))
  if (meant && home.meant !== meant) {
    const node = [...home.cards.querySelectorAll('.card')].find((one) => one.dataset.request === meant)
    if (node) {
      home.meant = meant
      select(meant)
      node.classList.add('meant')
      node.scrollIntoView({ block: 'center' })
    }
  }
}

// step shows the request that's so many further in the list.
export const step = (by, focus = true) => {
  if (!home?.node.isConnected || !home.order.length) return
  const at = home.order.indexOf(home.selected)
  select(home.order[Math.min(Math.max(at + by, 0), home.order.length - 1)], focus)
  home.cards.querySelector('.selected')?.scrollIntoView({ block: 'nearest' })
}

// chosen is the request that's shown beside the list.
export const chosen = () => home?.node.isConnected ? state.requests.get(home.selected) : undefined

// current is the card that keys act on, once it has been there for a moment.
export const current = () => {
  const node = document.querySelector('.home-cards .card.selected, .dock .card')
  return node && !node.closest('.settling') ? node : null
}
