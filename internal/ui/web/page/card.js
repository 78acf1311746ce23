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

// shell marks the words of a command. It colours and never changes them.
const shell = (lines) => {
  let quote = ''
  let program = true // the next word is a program's name
  return lines.map((line, i) => {
    const parts = []
    const add = (kind, text) => parts.push(kind ? el('span', { class: `sh-${kind}${kind === 'option' && text.length < 24 ? ' sh-short' : ''}` }, text) : text)
    const words = /'[^']*'?|"(?:\\.|[^"\\])*"?|\s+|&&|\|\||[|&;<>()]+|(?:\\.|[^\s'"|&;<>()\\])+|\\/g
    let rest = line
    if (quote) { // a text that began on a line before
      const end = rest.indexOf(quote)
      add('text', end < 0 ? rest : rest.slice(0, end + 1))
      rest = end < 0 ? '' : rest.slice(end + 1)
      if (end >= 0) quote = ''
    } else if (i && !/\\$/.test(lines[i - 1])) program = true
    for (const [word] of rest.matchAll(words)) {
      if (/^['"]/.test(word)) {
        add('text', word)
        if (word.length < 2 || word.at(-1) !== word[0]) quote = word[0]
        program = false
      } else if (/^[|&;()]/.test(word)) { add('operator', word); program = true }
      else if (/^[<>]/.test(word)) add('operator', word)
      else if (/^\s/.test(word) || !program && !word.startsWith('-')) add('', word)
      else if (program && /^\w+=/.test(word)) add('', word)
      else if (program) { add('program', word); program = false }
      else add('option', word)
    }
    return parts
  })
}

// differing marks the words that differ between a removed line and the one that replaces it.
const differing = (was, is) => {
  const split = (text) => text.match(/\w+|\s+|./gu) || []
  const a = split(was)
  const b = split(is)
  if (a.length * b.length > 10000) return [was, is]
  const same = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) same[i][j] = a[i] === b[j] ? same[i + 1][j + 1] + 1 : Math.max(same[i + 1][j], same[i][j + 1])
  if (same[0][0] * 2 < Math.max(a.length, b.length)) return [was, is] // too little in common
  const out = [[], []]
  const add = (side, marked, text) => {
    const last = out[side].at(-1)
    if (last?.marked === marked) last.text += text
    else out[side].push({ marked, text })
  }
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add(0, false, a[i++]); add(1, false, b[j++]) } else if (j >= b.length || i < a.length && same[i + 1][j] >= same[i][j + 1]) add(0, true, a[i++])
    else add(1, true, b[j++])
  }
  return out.map((parts) => parts.map(({ marked, text }) => marked ? el('mark', {}, text) : text))
}

// diff draws a change: removed and added lines, and those that stay.
const diff = (lines) => {
  const drawn = lines.map((l) => [l.text])
  for (let i = 0; i < lines.length;) {
    const count = (kind, from) => { let n = 0; while (lines[from + n]?.kind === kind) n++; return n }
    const removed = count('removed', i)
    const added = count('added', i + removed)
    if (removed && removed === added) {
      for (let n = 0; n < removed; n++) [drawn[i + n], drawn[i + removed + n]] = differing(lines[i + n].text, lines[i + removed + n].text)
    }
    i += removed + added || 1
  }
  const signs = { added: '+', removed: '−', other: ' ' }
  return el('pre', { class: 'diff', tabindex: '0', 'aria-label': 'Change' }, lines.map((l, i) =>
    el('span', { class: `line ${l.kind}` }, el('span', { class: 'sign' }, signs[l.kind]), drawn[i], '\n')))
}

// path draws a path with the part in bold that's below the session's folder.
const path = (text, cwd) => {
  const inside = cwd && text.startsWith(cwd.replace(/\/*$/, '/'))
  return inside ? [el('i', {}, text.slice(0, cwd.replace(/\/*$/, '/').length)), text.slice(cwd.replace(/\/*$/, '/').length)] : text
}

// asked are the lines of a card that its controls show with the same words.
const askedLines = (request) => new Set((request.questions || []).flatMap((q, i, all) => {
  const notes = [q.multiSelect && 'choose one or more', q.optional && 'optional', q.freeText && q.options?.length && 'or type your own answer'].filter(Boolean)
  const head = (q.header && q.header !== q.question ? `${q.header}: ` : '') + q.question + (notes.length ? ` (${notes.join('; ')})` : '')
  return [all.length > 1 ? `${i + 1}. ${head}` : head,
    ...(q.options || []).map((o, n) => `  ${n + 1}) ${o.label}${o.description ? `: ${o.description}` : ''}`)]
}))

// alwaysLine is the line that says what a saved permission would allow: the button that
// saves it shows it.
const alwaysLine = (request) => request.rule && request.choices?.includes('always') && request.status === 'pending' ? `always would allow: ${request.rule}` : ''

// body draws the card's lines, those of one kind together. A line is left out only if a
// control shows exactly the same.
const body = (request, may) => {
  const lines = request.shown.replace(/\n$/, '').split('\n').slice(1)
  const blocks = []
  const elsewhere = may && request.status === 'pending' ? askedLines(request) : new Set()
  if (may) elsewhere.add(alwaysLine(request))
  for (const line of lines) {
    if (elsewhere.has(line)) continue
    let kind = kindOf(line)
    if (request.kind === 'plan' && kind !== 'own' && kind !== 'command') kind = 'plan'
    if (kind === 'heading') kind = 'other'
    const open = blocks.at(-1)
    const inFile = open?.group === 'own' && open.lines[0].text.startsWith('file: ')
    let group = kind === 'added' || kind === 'removed' ? 'diff' : kind
    if (group === 'other' && line.startsWith('  · ')) group = 'member'
    // Lines that stay are part of a change.
    if (group === 'other' && line.startsWith('    ') && (inFile || open?.group === 'diff')) group = 'diff'
    const text = kind === 'own' ? line : line.slice(group === 'diff' || group === 'command' ? 4 : 2)
    if (open?.group === group && group !== 'own') open.lines.push({ kind, text })
    else blocks.push({ group, lines: [{ kind, text }] })
  }
  const nodes = []
  let file = null // the file whose change comes next
  for (const { group, lines } of blocks) {
    const [{ text }] = lines
    const into = (node) => { if (file && (group === 'diff' || group === 'other')) file.append(node); else nodes.push(node) }
    switch (group) {
      case 'command': {
        const inked = shell(lines.map((l) => l.text))
        nodes.push(el('pre', { class: 'command', tabindex: '0', 'aria-label': 'Command' }, lines.map((l, i) =>
          el('span', { class: 'line' }, el('span', { class: 'prompt', 'aria-hidden': 'true' }, i ? ' ' : '$'), inked[i], '\n'))))
        break
      }
      case 'diff': {
        into(diff(lines))
        const sum = (kind) => lines.filter((l) => l.kind === kind).length
        file?.firstChild.append(el('span', { class: 'sum', 'aria-hidden': 'true' }, el('span', { class: 'sum-added' }, `+${sum('added')}`), el('span', { class: 'sum-removed' }, `−${sum('removed')}`)))
        break
      }
      case 'plan':
        nodes.push(el('div', { class: 'plan' }, lines.map((l) => planLine(l.text))))
        break
      case 'member':
        nodes.push(el('div', { class: 'members' }, lines.map((l) => {
          const [, name, value] = l.text.match(/^· ([\w.-]+):(.*)$/) || []
          return el('p', { class: 'member' }, name ? [el('b', {}, `${name}:`), value] : l.text)
        })))
        break
      case 'own': {
        const looked = text.match(/^(.+?) wants you to look: (.*)$/)
        if (looked) nodes.push(el('p', { class: 'risk' }, icon('shield'), el('span', {}, el('b', {}, looked[1]), ' wants you to look: ', looked[2])))
        else if (text.startsWith('in /')) nodes.push(el('p', { class: 'fact' }, icon('folder'), el('span', { class: 'hidden' }, 'in '), el('code', {}, text.slice(3))))
        else if (text.startsWith('file: ')) {
          file = el('div', { class: 'file' }, el('p', { class: 'file-name' }, el('span', {}, path(text.slice(6), request.cwd))))
          nodes.push(file)
          continue // its change comes next
        } else if (text.startsWith('address: ')) nodes.push(el('p', { class: 'fact' }, icon('globe'), el('span', { class: 'hidden' }, 'address: '), el('code', {}, text.slice(9))))
        else nodes.push(el('p', { class: 'own' }, text))
        break
      }
      default:
        into(el('pre', { class: 'text', tabindex: '0', 'aria-label': 'Details' }, lines.map((l) => l.text).join('\n')))
    }
    file = null
  }
  return nodes
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
  const folder = base(request.cwd)
  node.append(el('header', {}, badge(request.agent),
    el('div', { class: 'head' }, el('h3', { id: `${id}-h` }, head),
      el('p', { class: 'where' }, el('a', { href: `#/session/${encodeURIComponent(request.session)}` }, title || folder || request.session.slice(0, 8)), request.host ? [' on ', el('span', { class: 'host' }, request.host)] : '', folder && title && title !== folder ? ` · ${folder}` : '')),
    el('span', { class: 'when', 'data-since': request.createdAt }, ago(request.createdAt))))
  if (request.effect) node.append(el('p', { class: `effect risk-${request.risk || 'normal'}` }, icon(request.risk === 'high' ? 'alert' : 'bolt'), el('span', {}, request.effect)))
  node.append(el('div', { class: 'body' }, body(request, may)))
  if (request.note) node.append(el('p', { class: 'note' }, request.note))
  if (request.status !== 'pending') {
    node.append(el('p', { class: 'note' }, 'The agent asks this at its own prompt; it can only be answered there.'))
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
      if (await sha256(request.shown) !== request.sha256) {
        throw new Error(request.host ? `It has secrets that ${request.host} doesn’t send. Answer it there.`
          : 'What is shown here isn’t what the request says. Reload the page.')
      }
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
    for (const mode of modes.slice(1)) buttons.append(button('more', [el('span', {}, planNames[mode])], 'check', approve(mode)))
  }
  if (choices.includes('once')) buttons.append(button('yes', 'Approve', 'check', () => say({ choice: 'once' })))
  if (choices.includes('deny')) buttons.append(button('no', 'Deny', 'cross', () => askReason({ choice: 'deny' })))
  if (choices.includes('always') && request.rule) buttons.append(button('more', [el('span', {}, 'Approve and save a permission…', el('small', {}, request.rule))], 'bookmark', askAlways))
  buttons.append(button('quiet', 'Leave it to the agent', '', async () => {
    busy(true)
    try { await release(request) } catch (failure) { busy(false); error.textContent = failure.message; error.hidden = false }
  }))
  node.append(error, buttons, panel)
  return node
}
