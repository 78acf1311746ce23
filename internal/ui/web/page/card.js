// A request as you decide about it. What's drawn is the text of `shown` and nothing but
// it, line by line: its hash is what your answer signs.
import { el, icon, badge, ago, base } from './dom.js'
import { sha256 } from './key.js'

const prefix = '  '

// kinds says what each line of a card is; it's the same reading as in the terminal.
const kindOf = (line) => {
  if (!line.startsWith(prefix)) return 'own'
  const rest = line.slice(2)
  if (rest.startsWith('$ ')) return 'command'
  if (rest.startsWith('+ ')) return 'added'
  if (rest.startsWith('- ')) return 'removed'
  if (/^#{1,3} /.test(rest)) return 'heading'
  return 'other'
}

// inline marks `code` and **strong** in a plan, as elements around the same text.
const inline = (text) => text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
  if (/^`[^`]+`$/.test(part)) return el('code', {}, part.slice(1, -1))
  if (/^\*\*[^*]+\*\*$/.test(part)) return el('strong', {}, part.slice(2, -2))
  return part
})

const planLine = (text) => {
  const heading = text.match(/^(#{1,3}) (.*)$/)
  if (heading) return el('p', { class: `plan-h plan-h${heading[1].length}` }, inline(heading[2]))
  const item = text.match(/^(\s*)([-*]|\d+[.)]) (.*)$/)
  if (item) {
    const node = el('p', { class: 'plan-item' }, el('span', { class: 'mark' }, /\d/.test(item[2]) ? item[2] : '•'), el('span', {}, inline(item[3])))
    node.style.setProperty('--depth', Math.min(4, item[1].length >> 1))
    return node
  }
  return el('p', { class: text.trim() ? 'plan-p' : 'plan-gap' }, inline(text))
}

// body draws the card's lines, those of one kind together.
const body = (request) => {
  const lines = request.shown.replace(/\n$/, '').split('\n')
  const blocks = []
  const question = request.kind === 'question'
  let open = null
  for (const line of lines.slice(1)) {
    let kind = kindOf(line)
    if (question && kind !== 'command') kind = kind === 'own' ? 'own' : 'hidden'
    if (request.kind === 'plan' && (kind === 'other' || kind === 'heading' || kind === 'added' || kind === 'removed')) kind = 'plan'
    if (kind === 'hidden') continue // an option: it's a control below, with the same text
    if (question && (request.questions || []).some((q) => line.includes(q.question.split('\n', 1)[0]))) continue // so is the question
    if (kind === 'heading') kind = 'other'
    const group = kind === 'added' || kind === 'removed' ? 'diff' : kind
    if (!open || open.group !== group) blocks.push(open = { group, lines: [] })
    open.lines.push({ kind, text: kind === 'own' ? line : line.slice(kind === 'added' || kind === 'removed' || kind === 'command' ? 4 : 2) })
  }
  return blocks.map(({ group, lines }) => {
    switch (group) {
      case 'command':
        return el('pre', { class: 'command', tabindex: '0', 'aria-label': 'Command' }, lines.map((l, i) =>
          el('span', { class: 'line' }, el('span', { class: 'prompt', 'aria-hidden': 'true' }, i ? ' ' : '$'), l.text + '\n')))
      case 'diff':
        return el('pre', { class: 'diff', tabindex: '0', 'aria-label': 'Change' }, lines.map((l) =>
          el('span', { class: `line ${l.kind}` }, el('span', { class: 'sign' }, l.kind === 'added' ? '+' : '−'), l.text + '\n')))
      case 'plan':
        return el('div', { class: 'plan' }, lines.map((l) => planLine(l.text)))
      case 'own':
        return lines.map(({ text }) => {
          const asked = text.match(/^(.+?) wants you to look: (.*)$/)
          if (asked) return el('p', { class: 'risk' }, icon('shield'), el('span', {}, el('b', {}, asked[1]), ' wants you to look: ', asked[2]))
          const file = text.match(/^(file|address|in): ?(.*)$/)
          if (file) return el('p', { class: 'fact' }, el('span', { class: 'fact-name' }, file[1]), el('code', {}, file[2]))
          if (text.startsWith('in /')) return el('p', { class: 'fact' }, el('span', { class: 'fact-name' }, 'in'), el('code', {}, text.slice(3)))
          return el('p', { class: question ? 'asked' : 'own' }, text)
        })
      default:
        if (lines.every((l) => l.text.startsWith('· '))) return lines.map((l) => el('p', { class: 'member' }, l.text))
        return el('pre', { class: 'text', tabindex: '0', 'aria-label': 'Details' }, lines.map((l) => l.text).join('\n'))
    }
  })
}

let serial = 0

// form draws the controls of a question, or of a form with several.
const form = (request, id) => {
  const fields = request.questions.map((q, i) => {
    const name = `${id}-q${i}`
    const group = el('fieldset', { class: 'question' }, el('legend', {}, q.header && q.header !== q.question ? el('span', { class: 'tag' }, q.header) : null, q.question,
      q.optional ? el('small', {}, ' optional') : null))
    const options = (q.options || []).map((option, n) => {
      const input = el('input', { type: q.multiSelect ? 'checkbox' : 'radio', name, value: option.label, id: `${name}-${n}` })
      group.append(el('label', { class: 'option', for: `${name}-${n}` }, input,
        el('span', {}, el('b', {}, option.label), option.description ? el('small', {}, option.description) : null)))
      return input
    })
    let free = null
    if (q.freeText || !options.length) {
      free = el('input', { type: 'text', class: 'free', 'aria-label': options.length ? `Your own answer to: ${q.question}` : q.question,
        placeholder: options.length ? 'Or type your own answer' : 'Your answer', autocomplete: 'off' })
      group.append(free)
    }
    return { q, group, read: () => {
      const chosen = options.filter((o) => o.checked).map((o) => o.value)
      const answer = { question: q.question }
      if (q.id) answer.id = q.id
      if (chosen.length) answer.options = chosen
      if (free && free.value.trim()) { answer.text = free.value.trim(); if (!q.multiSelect) delete answer.options }
      return answer.options || answer.text ? answer : null
    } }
  })
  return { nodes: fields.map((f) => f.group), read: () => {
    const answers = []
    for (const f of fields) {
      const one = f.read()
      if (one) answers.push(one)
      else if (!f.q.optional) return { missing: f.q.question }
    }
    return { answers }
  } }
}

const planNames = { accept: 'Approve', auto: 'Approve, edits without asking', manual: 'Approve, ask for each edit' }

// card draws one request. act is called with the reply to sign; may says whether this
// device may answer.
export const card = (request, { act, release, may, title }) => {
  const id = `r${++serial}`
  const head = request.shown.split('\n', 1)[0]
  const node = el('article', { class: `card kind-${request.kind} status-${request.status}`, 'aria-labelledby': `${id}-h`, 'data-request': request.id })
  const seconds = el('span', { class: 'when', 'data-since': request.createdAt }, ago(request.createdAt))
  node.append(el('header', {}, badge(request.agent),
    el('div', { class: 'head' }, el('h3', { id: `${id}-h` }, head),
      el('p', { class: 'where' }, el('a', { href: `#/session/${encodeURIComponent(request.session)}` }, title || base(request.cwd)), request.cwd && title && title !== base(request.cwd) ? ` · ${base(request.cwd)}` : '')),
    seconds))
  node.append(el('div', { class: 'body' }, body(request)))
  if (request.note) node.append(el('p', { class: 'note' }, request.note))
  if (request.status !== 'pending') {
    node.append(el('p', { class: 'note' }, 'The agent asks this in its own window; it can only be answered there.'))
    return node
  }
  if (!may) {
    node.append(el('p', { class: 'note' }, 'This device may only read.'))
    return node
  }
  const choices = request.choices || []
  const error = el('p', { class: 'error', role: 'alert', hidden: true })
  const buttons = el('div', { class: 'buttons' })
  const panel = el('div', { class: 'panel', hidden: true })
  const busy = (on) => { for (const b of node.querySelectorAll('button')) b.disabled = on; node.classList.toggle('busy', on) }
  const say = async (more, pin) => {
    error.hidden = true
    busy(true)
    try {
      if (await sha256(request.shown) !== request.sha256) throw new Error('What is shown here isn’t what the request says. Reload the page.')
      await act({ id: request.id, sha256: request.sha256, ...more }, pin)
    } catch (failure) {
      busy(false)
      if (failure.code === 'pin') return askPIN(more, failure.message, pin)
      error.textContent = failure.message
      error.hidden = false
    }
  }
  const show = (...content) => { panel.replaceChildren(...content); panel.hidden = false; buttons.hidden = true; panel.querySelector('input,textarea,button')?.focus() }
  const close = () => { panel.hidden = true; buttons.hidden = false; buttons.querySelector('button')?.focus() }
  const cancel = () => el('button', { type: 'button', class: 'quiet', onclick: close }, 'Cancel')
  const askPIN = (more, why, tried) => {
    const input = el('input', { type: 'password', inputmode: 'numeric', autocomplete: 'off', id: `${id}-pin` })
    show(el('form', { onsubmit: (e) => { e.preventDefault(); say(more, input.value) } },
      el('label', { for: `${id}-pin` }, tried ? why : 'Approvals ask for your PIN'), input,
      el('div', { class: 'buttons' }, el('button', { class: 'yes' }, 'Approve'), cancel())))
  }
  const askReason = (more) => {
    const input = el('textarea', { rows: 2, id: `${id}-why`, placeholder: 'What should it do instead?' })
    show(el('form', { onsubmit: (e) => { e.preventDefault(); const reason = input.value.trim(); say(reason ? { ...more, reason, ...(more.plan ? { feedback: reason } : {}) } : more) } },
      el('label', { for: `${id}-why` }, 'Reason, for the agent (optional)'), input,
      el('div', { class: 'buttons' }, el('button', { class: 'no' }, icon('cross'), 'Deny'), cancel())))
  }
  const askAlways = () => {
    const scopes = [request.project ? ['project', `In ${base(request.project)}`] : null, ['session', 'In this session'], ['everywhere', 'Everywhere']].filter(Boolean)
    const select = el('select', { id: `${id}-scope` }, scopes.map(([value, text]) => el('option', { value }, text)))
    show(el('form', { onsubmit: (e) => { e.preventDefault(); say({ choice: 'always', rule: request.rule, scope: select.value }) } },
      el('p', { class: 'label' }, 'This permission is saved:'), el('pre', { class: 'rule', tabindex: '0' }, request.rule),
      el('label', { for: `${id}-scope` }, 'Where it applies'), select,
      el('div', { class: 'buttons' }, el('button', { class: 'yes' }, icon('check'), 'Approve and save'), cancel())))
  }
  const button = (kind, text, symbol, onclick) => el('button', { type: 'button', class: kind, onclick }, symbol ? icon(symbol) : null, text)
  if (request.kind === 'question' && choices.includes('answer')) {
    const asked = form(request, id)
    const send = () => {
      const { answers, missing } = asked.read()
      if (missing) { error.textContent = `“${missing}” has no answer yet.`; error.hidden = false; return }
      say({ choice: 'answer', answers })
    }
    node.append(el('form', { class: 'form', onsubmit: (e) => { e.preventDefault(); send() } }, asked.nodes))
    buttons.append(button('yes', 'Answer', 'send', send))
  }
  if (request.kind === 'plan') {
    const modes = ['accept', 'manual', 'auto'].filter((mode) => choices.includes(mode))
    const approve = (mode) => () => say({ choice: 'plan', plan: mode })
    if (modes.length) buttons.append(button('yes', modes[0] === 'accept' ? 'Approve' : planNames[modes[0]], 'check', approve(modes[0])))
    if (choices.includes('reject')) buttons.append(button('no', 'Deny', 'cross', () => askReason({ choice: 'deny', plan: 'reject' })))
    for (const mode of modes.slice(1)) buttons.append(button('more', planNames[mode], '', approve(mode)))
  }
  if (choices.includes('once')) buttons.append(button('yes', 'Approve', 'check', () => say({ choice: 'once' })))
  if (choices.includes('deny')) buttons.append(button('no', 'Deny', 'cross', () => askReason({ choice: 'deny' })))
  if (choices.includes('always') && request.rule) buttons.append(button('more', 'Approve and save a permission…', '', askAlways))
  buttons.append(button('quiet', 'Leave it to the agent', '', async () => {
    busy(true)
    try { await release(request) } catch (failure) { busy(false); error.textContent = failure.message; error.hidden = false }
  }))
  node.append(error, buttons, panel)
  return node
}
