// What waits for you.
import { el, icon, badge, ago, arrange, keeper, visible } from './dom.js'
import { card } from './card.js'
import { state, main, toast, titleOf, agentName } from './state.js'

// cards are kept while they wait, so that what you typed stays when something changes.
const cards = new Map()

export const cardFor = (request, redraw) => {
  const mark = `${request.sha256} ${request.status} ${state.device?.scope}`
  const kept = cards.get(request.id)
  const session = state.sessions.get(`${request.agent} ${request.session}`)
  if (kept && kept.mark === mark) {
    const left = kept.node.querySelector('.left')
    if (left) left.dataset.until = request.deadline
    if (session) kept.node.querySelector('h2 a').textContent = visible(titleOf(session)) // it may have come later
    return kept.node
  }
  const node = card(request, {
    may: state.device?.scope === 'answer',
    title: session && titleOf(session),
    act: async (reply, pin) => {
      const result = await state.api.answer(reply, pin)
      if (result.outcome !== 'delivered') toast(result.outcome === 'already' ? `Answered before, by ${result.by || 'somebody else'}` : `Too late: ${result.why || result.outcome}`)
      else toast({ deny: 'Denied', answer: 'Answered', always: 'Approved and saved' }[reply.choice] || 'Approved')
      state.requests.delete(request.id)
      redraw()
    },
    release: async (one) => {
      await state.api.post('/api/skip', { id: one.id, sha256: one.sha256 })
      toast('Skipped: answer it in its terminal')
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

const choiceWords = { once: 'Approved', always: 'Approved and saved', deny: 'Denied', answer: 'Answered', plan: 'Plan approved' }

const refused = (one) => one.decision?.choice === 'deny' || one.decision?.plan === 'reject'

export const outcome = (one) => !one.decision ? 'Ended' : refused(one) ? 'Denied' : choiceWords[one.decision.choice] || one.decision.choice

// about is what a request was about, on one line.
const about = (one) => {
  if (one.questions?.length) return one.questions[0].question
  if (one.kind === 'plan') return (one.plan || '').split('\n').find((l) => l.trim())?.replace(/^#+ /, '') || 'A plan'
  const file = one.shown.match(/^file: (.*)$/m)
  if (file) return file[1].startsWith(`${one.cwd}/`) ? file[1].slice(one.cwd.length + 1) : file[1]
  const line = one.shown.split('\n').slice(1).find((l) => l.startsWith('  '))
  return line ? line.trim().replace(/^\$ /, '') : one.shown.split('\n', 1)[0]
}

// by names who answered in a word or two.
const by = (text) => text.replace(/ \(device [0-9a-f]+\)$/, '').replace(/^.+, pid \d+.*$/, 'terminal')

const lately = (one) => {
  const kind = refused(one) ? 'no' : one.decision ? 'yes' : ''
  return el('li', {}, el('span', { class: `disc ${kind}` }, icon(kind === 'no' ? 'cross' : kind ? 'check' : 'stop')),
    el('span', { class: 'done-what' }, about(one)),
    el('span', { class: 'quiet-text', title: one.decision ? `By ${by(one.decision.by)}` : null }, outcome(one), one.endedAt ? [' · ', el('span', { 'data-since': one.endedAt }, ago(one.endedAt))] : ''))
}

let home = null

// select shows one of the cards, where there's room for one beside the list of all.
const select = (id, focus) => {
  home.selected = id
  for (const one of home.cards.children) {
    const on = one.dataset.request === id
    if (on && !one.classList.contains('selected')) { settle(home.cards); dispatchEvent(new Event('chosen')) }
    one.classList.toggle('selected', on)
  }
  for (const one of home.queue.children) {
    const button = one.firstChild
    button.setAttribute('aria-current', String(one.dataset.for === id))
    if (focus && one.dataset.for === id) { button.focus({ preventScroll: true }); button.scrollIntoView({ block: 'nearest' }) }
  }
}

const titleFor = (one) => {
  const session = state.sessions.get(`${one.agent} ${one.session}`)
  return session ? titleOf(session) : agentName(one.agent)
}

const keepRow = keeper()

const queueRow = (one) =>
  el('li', { 'data-for': one.id }, el('button', { type: 'button', class: `queued risk-${one.risk || 'normal'}`, onclick: () => select(one.id) }, badge(one.agent, 'small'),
    el('span', { class: 'session-main' },
      el('span', { class: 'session-top' }, el('span', { class: 'session-title' }, titleFor(one)), el('span', { class: 'when', 'data-since': one.createdAt }, ago(one.createdAt))),
      el('span', { class: 'session-doing' }, one.risk === 'high' ? icon('alert') : null, el('code', { class: 'cut' }, about(one))))))

// homeView draws the inbox; meant is the request that a notification opened.
export const homeView = (meant, redraw) => {
  if (!home) {
    home = {
      count: el('span', { class: 'count' }),
      words: el('span'),
      head: el('h1', { id: 'h-inbox' }),
      queue: el('ol', { class: 'queue', 'aria-labelledby': 'h-inbox' }),
      cards: el('div', { class: 'cards' }),
      empty: el('div', { class: 'empty' }, el('div', { class: 'empty-mark', 'aria-hidden': 'true' }, icon('check')), el('p', {}, 'You’re all caught up'), el('p', { class: 'quiet-text' }, 'Requests appear here as soon as an agent asks.')),
      done: el('ul', { class: 'done' }),
      keys: el('p', { class: 'keys', 'aria-hidden': 'true' }, [['J', 'next'], ['K', 'previous']].map(([key, what]) => el('span', {}, el('kbd', {}, key), what))),
    }
    home.head.append(home.words, home.count)
    home.lately = el('section', { class: 'lately', 'aria-labelledby': 'h-lately' }, el('h2', { id: 'h-lately' }, 'Answered'), home.done)
    home.node = el('div', { class: 'home' }, el('div', { class: 'home-list' }, home.head, home.queue, home.lately, home.keys),
      el('div', { class: 'home-cards' }, home.cards, home.empty, el('section', { class: 'steps', 'aria-labelledby': 'h-steps', hidden: true }, el('h2', { id: 'h-steps' }, 'Last steps'), el('ol', { class: 'timeline' }))))
  }
  const waiting = [...state.requests.values()].sort((a, b) => new Date(a.createdAt) - new Date(b.createdAt))
  for (const id of cards.keys()) if (!state.requests.has(id)) cards.delete(id)
  home.count.textContent = waiting.length || ''
  home.words.textContent = waiting.length ? 'Waiting for you' : 'Nothing is waiting'
  const focused = home.queue.contains(document.activeElement)
  place(home.cards, waiting.map((one) => cardFor(one, redraw)))
  arrange(home.queue, waiting.map((one) => keepRow(one.id, [one.sha256, titleFor(one)], () => queueRow(one))))
  const before = home.order?.indexOf(home.selected) ?? 0
  home.order = waiting.map((one) => one.id)
  select(home.order.includes(home.selected) ? home.selected : home.order[Math.min(Math.max(before, 0), home.order.length - 1)], focused)
  home.empty.hidden = waiting.length > 0
  home.node.classList.toggle('quiet', !waiting.length)
  home.lately.hidden = !state.done.length
  home.done.replaceChildren(...state.done.map(lately))
  if (main.firstChild !== home.node) main.replaceChildren(home.node)
  if (meant && home.meant !== meant) {
    const node = [...home.cards.children].find((one) => one.dataset.request === meant)
    if (node) {
      home.meant = meant
      select(meant)
      node.classList.add('meant')
      node.scrollIntoView({ block: 'center' })
    }
  }
}

// step shows the request that's so many further in the list.
export const step = (by) => {
  if (!home?.node.isConnected || !home.order.length) return
  const at = home.order.indexOf(home.selected)
  select(home.order[Math.min(Math.max(at + by, 0), home.order.length - 1)], true)
  home.cards.querySelector('.selected')?.scrollIntoView({ block: 'nearest' })
}

// chosen is the request that's shown beside the list.
export const chosen = () => home?.node.isConnected ? state.requests.get(home.selected) : undefined

// current is the card that keys act on, once it has been there for a moment.
export const current = () => {
  const node = document.querySelector('.home-cards .card.selected, .dock .card')
  return node && !node.closest('.settling') ? node : null
}
