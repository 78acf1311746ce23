// A request as you decide about it. Below a title, what's drawn is the text of `shown` and
// nothing but it, line by line: its hash is what your answer signs.
import { el, icon, badge, ring, since, base, short } from './dom.js'
import { sha256 } from './key.js'
import { state, folderOf, agentName, drawLeft, askOf } from './state.js'

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
      if (/^\s/.test(word) && !parts.length) add('lead', word)
      else if (/^['"]/.test(word)) {
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

const sourceFile = /\.(?:[cm]?[jt]sx?|go|py|rs|java|kt|[ch](?:c|pp|h)?|cs|rb|php|swift|sh)$/

// inked marks the texts, comments and words of a language in a piece of a program.
const inked = (piece) => typeof piece !== 'string' ? piece
  : piece.split(/('[^']*'|"[^"]*"|`[^`]*`|(?:^|\s)(?:\/\/|#).*$|\b(?:async|await|break|case|class|const|def|else|export|false|fn|for|from|func|function|if|import|in|let|new|nil|null|package|pub|return|self|static|struct|switch|this|throw|true|try|type|var|while)\b)/)
    .map((part, i) => i % 2 ? el('span', { class: /^['"`]/.test(part) ? 'sh-text' : /^\w/.test(part) ? 'word' : 'remark' }, part) : part)

// diff draws a change: removed and added lines, and those that stay. from is the line of the
// file where it begins, as far as that's known.
const diff = (lines, from, source) => {
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
  let [old, fresh] = [from, from]
  const node = el('pre', { class: `diff ${from ? 'numbered' : ''}`, tabindex: '0', 'aria-label': 'Change' }, lines.map((l, i) => {
    const number = l.kind === 'removed' ? old : fresh
    if (l.kind !== 'added') old++
    if (l.kind !== 'removed') fresh++
    const line = el('span', { class: `line ${l.kind}` }, from ? el('span', { class: 'no', 'aria-hidden': 'true' }, number) : null, el('span', { class: 'sign' }, signs[l.kind]), source ? [drawn[i]].flat().map(inked) : drawn[i], '\n')
    line.style.setProperty('--lead', Math.min(12, l.text.search(/\S|$/)))
    return line
  }))
  node.style.setProperty('--digits', String(Math.max(old, fresh)).length)
  return node
}

// path draws a path as you'd write it, with the part dimmed that's the session's folder.
const path = (text, request) => {
  const folder = request.cwd?.replace(/\/*$/, '/')
  const home = request.host ? '' : state.home
  return folder && text.startsWith(folder) ? [el('i', {}, `${short(folder.slice(0, -1), home)}/`), text.slice(folder.length)] : short(text, home)
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

// hasCommand reports whether there's a command, whose box is headed by the folder it runs in.
const hasCommand = (request) => /^  \$ /m.test(request.shown)

// inHead reports whether the card's head shows the folder in full.
const inHead = (request) => request.cwd && !hasCommand(request) && folderOf(request).length <= 22

// effectOf is what a call would do. What's usual, or on the card in any case, isn't said.
const effectOf = (request) => {
  const effect = (request.effect || '').replace(/(^| · )no rule matches$/, '')
  if (request.risk !== 'high' && /^runs (?!on another machine)[^·]+$/.test(effect) && hasCommand(request)) return '' // the command is there
  if (request.risk !== 'high' && /^writes [^·]+$/.test(effect) && /^file: /m.test(request.shown)) return '' // the file is there
  const file = request.shown.match(/^file: (.*)$/m)?.[1]
  return (effect.charAt(0).toUpperCase() + effect.slice(1)).replace(file || /$^/, (path) => base(path)) // the path is below, in full
}

// effectNodes has the part that's dangerous stand out: a program that's run beside it isn't.
const effectNodes = (effect, risky) => {
  const parts = effect.split(' · ')
  const plain = (part) => /^runs [\w.-]+$/i.test(part)
  if (!risky || parts.length < 2 || parts.every(plain)) return effect
  return [parts.filter((part) => !plain(part)).join(' · '), el('small', {}, parts.filter(plain).map((part) => ` · ${part}`).join(''))]
}

const ruleVerbs = { 'run exactly': 'Runs exactly', 'write and edit': 'Writes and edits' }

// ruleText is a permission as a control shows it.
const ruleText = (request) => {
  const [, what, to] = request.rule.match(/^(run exactly|write and edit): (.*)$/s) || []
  return !what ? request.rule : `${ruleVerbs[what]} ${what.startsWith('run') || request.host ? to : to.split(', ').map((one) => short(one, state.home)).join(', ')}`
}

// ruleNodes is that with what it allows as code.
const ruleNodes = (request) => {
  const [, what, to] = ruleText(request).match(/^(Runs exactly|Writes and edits) (.*)$/s) || []
  return what ? [`${what} `, el('code', {}, to)] : ruleText(request)
}

// runsIn says in which folder.
const runsIn = (folder) => el('p', { class: 'fact' }, icon('folder'), el('span', { class: 'hidden' }, 'in '), el('code', {}, folder))

// body draws the card's lines, those of one kind together. A line is left out only if a
// control shows the same, and what a button would save if this device has no buttons.
const body = (request, may) => {
  const lines = request.shown.replace(/\n$/, '').split('\n').slice(1)
  const blocks = []
  const elsewhere = may && request.status === 'pending' ? askedLines(request) : new Set()
  elsewhere.add(alwaysLine(request))
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
  let folder = '' // where the command runs that comes next
  for (const { group, lines } of blocks) {
    const [{ text }] = lines
    const into = (node) => { if (file && (group === 'diff' || group === 'other')) file.append(node); else nodes.push(node) }
    switch (group) {
      case 'command': {
        const inked = shell(lines.map((l) => l.text))
        const command = el('pre', { class: 'command', tabindex: '0', 'aria-label': 'Command' }, lines.map((l, i) =>
          el('span', { class: 'line' }, el('span', { class: 'prompt', 'aria-hidden': 'true' }, i ? ' ' : '$'), inked[i], '\n')))
        nodes.push(el('div', { class: 'file' }, folder ? el('p', { class: 'file-name' }, icon('folder'), el('span', {}, el('span', { class: 'hidden' }, 'in '), folder)) : null, command))
        folder = ''
        break
      }
      case 'diff': {
        into(diff(lines, request.line || (lines.every((l) => l.kind === 'added') ? 1 : 0), sourceFile.test(file?.textContent)))
        const sum = (kind) => lines.filter((l) => l.kind === kind).length
        file?.firstChild.append(el('span', { class: 'sum', 'aria-hidden': 'true' }, sum('added') ? el('span', { class: 'sum-added' }, `+${sum('added')}`) : null, sum('removed') ? el('span', { class: 'sum-removed' }, `−${sum('removed')}`) : null))
        break
      }
      case 'plan':
        nodes.push(el('div', { class: 'plan' }, lines.map((l) => planLine(l.text))))
        break
      case 'member':
        nodes.push(el('div', { class: 'members' }, lines.map((l) => {
          const [, name, value] = l.text.match(/^· ([\w.-]+):(.*)$/) || []
          if (name === 'description' && value.trim()) return el('p', { class: 'words' }, el('span', {}, `${agentName(request.agent)}: `), `“${value.trim()}”`)
          return el('p', { class: 'member' }, name ? [el('b', {}, `${name}:`), value] : l.text)
        })))
        break
      case 'own': {
        const looked = text.match(/^(.+?) wants you to look: (.*)$/)
        if (looked) nodes.push(el('p', { class: 'risk' }, icon('shield'), el('span', {}, el('b', {}, looked[1]), ' wants you to look: ', looked[2])))
        else if (text === `in ${request.cwd}` && inHead(request)) continue
        else if (text.startsWith('in /') && hasCommand(request) && !folder) { folder = text === `in ${request.cwd}` ? folderOf(request) : text.slice(3); continue }
        else if (text.startsWith('in /')) nodes.push(runsIn(text.slice(3)))
        else if (text.startsWith('file: ')) {
          file = el('div', { class: 'file' }, el('p', { class: 'file-name' }, el('span', { title: text.slice(6) }, path(text.slice(6), request))))
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
  if (folder) nodes.push(runsIn(folder))
  return nodes
}

let serial = 0

const chord = /Mac|iP/.test(navigator.platform) ? '⌘' : 'Ctrl'

const key = (letter) => el('kbd', { 'aria-hidden': 'true' }, letter)

// form draws the controls of a question, or of a form with several.
const form = (request, id) => {
  let count = 0
  const fields = request.questions.map((q, i) => {
    const name = `${id}-q${i}`
    const group = el('fieldset', { class: 'question' }, el('legend', {}, q.header && q.header !== q.question ? el('span', { class: 'tag' }, q.header) : null, q.question,
      q.optional ? el('small', {}, ' optional') : null))
    const options = (q.options || []).map((option, n) => {
      const input = el('input', { type: q.multiSelect ? 'checkbox' : 'radio', name, value: option.label, id: `${name}-${n}` })
      const letter = ++count <= 9 ? String(count) : null
      group.append(el('label', { class: 'option', for: `${name}-${n}`, 'data-key': letter }, input,
        el('span', {}, el('b', {}, option.label), option.description ? el('small', {}, option.description) : null), letter ? key(letter) : null))
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

const planNames = { accept: 'Accept', auto: 'Accept, then allow all edits', manual: 'Accept and review each edit' }
const planNotes = { accept: 'Same permissions as before planning', auto: 'Edits won’t ask you in this session', manual: 'Asks you before each edit' }
const planKeys = { manual: 'm' }

const holdTime = 700 // milliseconds

// held is a button that does something only after it was held down: with a finger, the
// mouse, Enter, the space bar or a key of the page. Who can't hold gets to confirm instead.
const held = (kind, text, act, confirm) => {
  let timer = 0
  const button = el('button', { type: 'button', class: `hold ${kind}` }, el('span', { class: 'fill', 'aria-hidden': 'true' }), ring(), text)
  const stop = () => { clearTimeout(timer); timer = 0; button.classList.remove('held') }
  const start = () => {
    if (timer || button.disabled) return
    button.classList.add('held')
    timer = setTimeout(() => { stop(); act() }, holdTime)
  }
  let pressed = false // with a pointer or a key: the click that follows isn't a screen reader's
  button.addEventListener('pointerdown', (e) => { pressed = true; if (!e.button) start() })
  for (const end of ['pointerup', 'pointercancel', 'pointerleave', 'blur']) button.addEventListener(end, stop)
  button.addEventListener('keydown', (e) => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); pressed = true; if (!e.repeat) start() } })
  button.addEventListener('keyup', (e) => { if (e.key === ' ') e.preventDefault(); stop() })
  button.addEventListener('contextmenu', (e) => e.preventDefault())
  button.addEventListener('click', (e) => { if (!pressed && e.detail === 0) confirm(); pressed = false })
  button.hold = start
  button.release = stop
  return button
}

// card is one request. It's drawn by its fill: one that isn't open can wait.
export const card = (request, ways) => {
  const node = el('article', { class: `card kind-${request.kind} status-${request.status} risk-${request.risk || 'normal'}`, 'data-request': request.id })
  node.fill = () => { if (!node.firstChild) draw(node, request, ways) }
  return node
}

// draw draws a request. act is called with the reply to sign; may says whether this device
// may answer.
const draw = (node, request, { act, release, may, title }) => {
  const id = `r${++serial}`
  node.setAttribute('aria-labelledby', `${id}-h`)
  const head = request.shown.split('\n', 1)[0]
  const risky = request.risk === 'high'
  const folder = hasCommand(request) || request.shown.includes(`\nfile: ${request.cwd}/`) ? '' : inHead(request) ? folderOf(request) : base(request.cwd)
  const effect = effectOf(request)
  // What happens without an answer is the same everywhere: the agent goes on as if it hadn't asked here.
  const left = request.status === 'pending' && request.deadline ? drawLeft(el('span', { class: 'left', 'data-until': request.deadline, 'data-to': agentName(request.agent),
    title: `Without an answer, ${agentName(request.agent)} goes on as it would without hookmux` })) : null
  const read = el('div', { class: 'read', tabindex: '-1' },
    el('header', {}, badge(request.agent, 'small'),
      el('div', { class: 'head', id: `${id}-h` },
        el('h2', {}, el('a', { href: `#/session/${encodeURIComponent(request.session)}` }, title() || base(request.cwd) || request.session.slice(0, 8))),
        el('p', { class: 'where bits', title: head }, el('span', { class: 'asks-what' }, askOf(request)),
          folder ? el('span', { class: 'folder', title: request.cwd }, folder) : '', request.host ? el('span', { class: 'host' }, request.host) : '', may ? null : left)),
      el('span', { class: 'when' }, el('span', { class: 'hidden' }, 'asked '), el('span', { 'data-since': request.createdAt }, since(request.createdAt)))),
    effect ? el('p', { class: 'effect' }, icon(risky ? 'alert' : 'bolt'), el('span', {}, effectNodes(effect, risky))) : null,
    el('div', { class: 'body' }, body(request, may)),
    request.note ? el('p', { class: 'note' }, request.note) : null)
  node.append(read)
  if (request.status !== 'pending') {
    read.append(el('p', { class: 'locked' }, icon('terminal'), 'The agent asks this at its own prompt. Answer it there.'))
    return
  }
  if (!may) {
    node.append(el('div', { class: 'actions' }, el('p', { class: 'locked' }, icon('lock'), 'This device is view-only. Answer in the terminal or on another device.')))
    showWhole(node, read)
    return
  }
  const choices = request.choices || []
  const error = el('p', { class: 'error', role: 'alert', hidden: true })
  const buttons = el('div', { class: 'buttons' })
  const others = el('div', { class: 'choices' })
  const panel = el('div', { class: 'panel', hidden: true })
  const busy = (on) => { for (const b of node.querySelectorAll('button')) b.disabled = on; node.classList.toggle('busy', on) }
  const failed = (failure) => { busy(false); error.textContent = failure.message.charAt(0).toUpperCase() + failure.message.slice(1); error.hidden = false }
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
      if (failure.code !== 'pin') return failed(failure)
      busy(false)
      askPIN(more, failure.message, pin)
    }
  }
  const show = (...content) => { panel.replaceChildren(...content); panel.hidden = false; buttons.hidden = others.hidden = true; panel.querySelector('input,textarea,select,button')?.focus() }
  const close = () => { panel.hidden = true; buttons.hidden = others.hidden = false; buttons.querySelector('button')?.focus() }
  const cancel = () => el('button', { type: 'button', class: 'plain-button', onclick: close }, 'Cancel', key('Esc'))
  const askPIN = (more, why, tried) => {
    const input = el('input', { type: 'password', inputmode: 'numeric', autocomplete: 'off', id: `${id}-pin` })
    show(el('form', { onsubmit: (e) => { e.preventDefault(); say(more, input.value) } },
      el('label', { for: `${id}-pin` }, tried ? why : 'Approvals ask for your PIN'), input,
      el('div', { class: 'buttons' }, cancel(), el('button', { class: 'yes' }, 'Approve', key('↵')))))
  }
  const askReason = (more) => {
    const input = el('textarea', { rows: 2, id: `${id}-why`, placeholder: 'What should it do instead?' })
    show(el('form', { onsubmit: (e) => { e.preventDefault(); const reason = input.value.trim(); say(reason ? { ...more, reason, ...(more.plan ? { feedback: reason } : {}) } : more) } },
      el('label', { for: `${id}-why` }, 'Reason for the agent (optional)'), input,
      el('div', { class: 'buttons' }, cancel(), el('button', { class: 'no' }, icon('cross'), more.plan ? 'Send back' : request.kind === 'question' ? 'Don’t answer' : 'Deny', key(`${chord} ↵`)))))
    input.addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.metaKey || e.ctrlKey)) input.form.requestSubmit() })
  }
  const askAlways = () => {
    const scopes = [request.project ? ['project', `In ${base(request.project)}`] : null, ['session', 'In this session'], ['everywhere', 'Everywhere']].filter(Boolean)
    const select = el('select', { id: `${id}-scope`, onkeydown: (e) => { if (e.key === 'Enter') { e.preventDefault(); select.form.requestSubmit() } } }, scopes.map(([value, text]) => el('option', { value }, text)))
    const save = () => say({ choice: 'always', rule: request.rule, scope: select.value })
    show(el('form', { onsubmit: (e) => { e.preventDefault(); if (!risky) save() } },
      el('p', { class: 'label' }, 'This will be saved'), el('pre', { class: 'rule', tabindex: '0' }, ruleText(request)),
      el('label', { for: `${id}-scope` }, 'Where it applies'), el('span', { class: 'select' }, select),
      el('div', { class: 'buttons' }, cancel(), risky ? held('', 'Hold to approve and save', save, () => sure('Approve and save', save)) : el('button', { class: 'yes' }, icon('check'), 'Approve and save', key('↵')))))
  }
  // sure is for who can't hold a button down.
  const sure = (text, act, what = effect || head) => show(el('p', { class: 'label' }, `${what}. Are you sure?`),
    el('div', { class: 'buttons' }, cancel(), el('button', { type: 'button', class: 'danger', onclick: act }, text)))
  // Keys are those of the terminal.
  const button = (kind, text, symbol, onclick, letter) => el('button', { type: 'button', class: kind, onclick, 'data-key': letter }, symbol ? icon(symbol) : null, text)
  const lines = (text, small, letter) => [el('span', { class: 'lines' }, el('b', {}, text), small ? el('small', {}, small) : null), key(letter === 'A' ? '⇧A' : letter.toUpperCase())]
  const other = (kind, symbol, text, small, onclick, letter) => others.append(button(`choice ${kind}`, lines(text, small, letter), symbol, onclick, letter))
  const keyed = (hold, letter) => { hold.dataset.key = letter; return hold }
  const yes = (text, symbol, act) => buttons.append(button('yes', [text, key('A')], symbol, act, 'a'))
  const no = (act, text = 'Deny…') => buttons.append(button('no', [text, key('D')], 'cross', act, 'd'))
  if (request.kind === 'question' && choices.includes('answer')) {
    const asked = form(request, id)
    const send = () => {
      const { answers, missing } = asked.read()
      if (missing) return failed(new Error(`“${missing}” has no answer yet.`))
      say({ choice: 'answer', answers })
    }
    read.append(el('form', { class: 'form', onsubmit: (e) => { e.preventDefault(); send() } }, asked.nodes))
    if (choices.includes('deny')) no(() => askReason({ choice: 'deny' }), 'Don’t answer…')
    yes('Answer', 'send', send)
  } else if (request.kind === 'plan') {
    const modes = ['accept', 'manual', 'auto'].filter((mode) => choices.includes(mode))
    const approve = (mode) => () => say({ choice: 'plan', plan: mode })
    if (choices.includes('reject')) no(() => askReason({ choice: 'deny', plan: 'reject' }), 'Send back…')
    if (modes.length) yes(modes.length > 1 ? el('span', { class: 'lines' }, el('b', {}, planNames[modes[0]]), el('small', {}, planNotes[modes[0]])) : planNames[modes[0]], 'check', approve(modes[0]))
    for (const mode of modes.slice(1)) {
      if (mode === 'auto') others.append(keyed(held('choice go', lines(planNames.auto, `Hold. ${planNotes.auto}`, 'u'), approve(mode), () => sure('Accept, allow all edits', approve(mode), planNotes.auto)), 'u'))
      else other('go', 'check', planNames[mode], planNotes[mode], approve(mode), planKeys[mode])
    }
  } else {
    const once = () => say({ choice: 'once' })
    if (choices.includes('deny')) no(() => askReason({ choice: 'deny' }))
    if (choices.includes('once')) risky ? buttons.append(keyed(held('', ['Hold to approve', key('A')], once, () => sure('Approve', once)), 'a')) : yes('Approve', 'check', once)
  }
  if (choices.includes('always') && request.rule) other('go opens', 'bookmark', 'Approve and save a permission…', ruleNodes(request), askAlways, 'A')
  other('leave', 'terminal', 'Answer in terminal', left, async () => {
    busy(true)
    try { await release(request) } catch (failure) { failed(failure) }
  }, 'r')
  buttons.append(button('read-on', 'Read on', 'down', () => read.scrollBy({ top: read.clientHeight * 0.85, behavior: 'smooth' }), ' '))
  node.append(el('div', { class: 'actions' }, error, el('p', { class: 'locked away' }, icon('plug'), 'You can answer once hookmux can be reached again.'), buttons, others, panel))
  showWhole(node, read)
}

// showWhole lets you approve only after you've scrolled to the end, where the card is
// higher than its place.
const showWhole = (node, read) => {
  let seen = false
  const look = () => {
    if (!read.clientHeight) return
    const longer = read.scrollHeight > read.clientHeight + 6
    seen ||= longer && read.scrollTop + read.clientHeight >= read.scrollHeight - 6
    node.classList.toggle('unread', longer && !seen)
    read.tabIndex = longer ? 0 : -1
  }
  read.addEventListener('scroll', look, { passive: true })
  new ResizeObserver(look).observe(read)
}
