// What waits for you.
import { el, icon } from './dom.js'
import { card } from './card.js'
import { state, main, toast, titleOf } from './state.js'

// cards are kept while they wait, so that what you typed stays when something changes.
const cards = new Map()

export const cardFor = (request, redraw) => {
  const mark = `${request.sha256} ${request.status} ${state.device?.scope}`
  const kept = cards.get(request.id)
  if (kept && kept.mark === mark) return kept.node
  const session = state.sessions.get(`${request.agent} ${request.session}`)
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
      toast('Left to the agent')
    },
  })
  cards.set(request.id, { mark, node })
  return node
}

// place puts the nodes of a list into the page and leaves those alone that are there.
export const place = (list, nodes) => {
  for (const [i, node] of nodes.entries()) if (list.children[i] !== node) list.insertBefore(node, list.children[i] || null)
  while (list.children.length > nodes.length) list.lastElementChild.remove()
}

const choiceWords = { once: 'Approved', always: 'Approved and saved', deny: 'Denied', answer: 'Answered', plan: 'Plan approved' }

export const outcome = (one) => one.decision ? choiceWords[one.decision.choice] || one.decision.choice : 'Ended'

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
  const kind = one.decision?.choice === 'deny' ? 'no' : one.decision ? 'yes' : ''
  return el('li', {}, el('span', { class: `disc ${kind}` }, icon(kind === 'no' ? 'cross' : kind ? 'check' : 'stop')),
    el('span', { class: 'done-what' }, about(one)),
    el('span', { class: 'quiet-text' }, one.decision ? `${outcome(one)} · ${by(one.decision.by)}` : 'Ended'))
}

let home = null

// homeView draws the inbox; meant is the request that a notification opened.
export const homeView = (meant, redraw) => {
  if (!home) {
    home = {
      count: el('span', { class: 'count' }),
      head: el('h2', { id: 'h-inbox' }, 'Waiting for you '),
      cards: el('div', { class: 'cards' }),
      empty: el('div', { class: 'empty' }, el('div', { class: 'empty-mark', 'aria-hidden': 'true' }, icon('check')), el('p', {}, 'You’re all caught up'), el('p', { class: 'quiet-text' }, 'Requests appear here as soon as an agent asks.')),
      done: el('ul', { class: 'done' }),
    }
    home.head.append(home.count)
    home.lately = el('section', { class: 'lately', 'aria-labelledby': 'h-lately' }, el('h2', { id: 'h-lately' }, 'Answered lately'), home.done)
    home.node = el('div', { class: 'home' }, el('h1', { class: 'hidden' }, 'Your agents'),
      el('section', { 'aria-labelledby': 'h-inbox' }, home.head, home.cards, home.empty), home.lately)
  }
  const waiting = [...state.requests.values()].sort((a, b) => new Date(a.createdAt) - new Date(b.createdAt))
  for (const id of cards.keys()) if (!state.requests.has(id)) cards.delete(id)
  home.count.textContent = waiting.length || ''
  place(home.cards, waiting.map((one) => cardFor(one, redraw)))
  home.empty.hidden = waiting.length > 0
  home.lately.hidden = !state.done.length
  home.done.replaceChildren(...state.done.map(lately))
  if (main.firstChild !== home.node) main.replaceChildren(home.node)
  if (meant && home.meant !== meant) {
    const node = [...home.cards.children].find((one) => one.dataset.request === meant)
    if (node) {
      home.meant = meant
      node.classList.add('meant')
      node.scrollIntoView({ block: 'center' })
    }
  }
}
