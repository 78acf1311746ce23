// Tokens and cost: today, the last days, plans and budgets.
import { el, base, badge, hueOf } from './dom.js'
import { state, main, agentName } from './state.js'

const inCents = (value) => Math.round(value * 100 + 1e-6)

const dollars = (value) => value == null ? '–' : value > 0 && value < 0.005 ? '<$0.01' : value >= 1000 ? `$${Math.round(value).toLocaleString('en')}` : `$${(inCents(value) / 100).toFixed(2)}`

const short = (n) => n >= 1e9 ? `${(n / 1e9).toFixed(1)}B` : n >= 1e6 ? `${(n / 1e6).toFixed(1)}M` : n >= 1e3 ? `${(n / 1e3).toFixed(1)}k` : String(n)

const tokens = (row) => row.inputTokens + row.outputTokens + row.cacheReadTokens + row.cacheCreationTokens

// rounded rounds costs to cents so that they add up to what their sum is rounded to.
const rounded = (parts) => {
  let [sum, said] = [0, 0]
  return parts.map((one) => {
    sum += one.cost
    const cents = inCents(sum) - said
    said += cents
    return { ...one, cost: cents / 100 || one.cost }
  })
}

const meter = (part) => {
  const bar = el('span')
  bar.style.setProperty('--part', Math.min(1, Math.max(0, part)))
  return el('div', { class: `meter ${part >= 1 ? 'full' : part >= 0.8 ? 'near' : ''}`, 'aria-hidden': 'true' }, bar)
}

const tile = (name, value, more) => el('div', { class: 'tile' }, el('dt', {}, name), el('dd', {}, value, el('small', {}, more)))

const group = (title, ...content) => el('section', { class: 'group' }, el('h2', {}, title), content)

// inWords is a budget as you'd say it, and what it does.
const inWords = (text) => {
  const said = Object.fromEntries(text.trim().split(/\s+/).map((word) => word.split(/=(.*)/s)))
  const amount = (value) => value.endsWith('usd') ? `$${value.slice(0, -3)}` : value.endsWith('tokens') ? `${value.slice(0, -6)} tokens` : value
  const per = said.day ? `${amount(said.day)} a day` : said.session ? `${amount(said.session)} a session` : said.window ? `The ${said.window} window` : text
  const does = [said.ask && `asks you at ${said.ask}`, said.block && `blocks at ${said.block}`].filter(Boolean).join(', ')
  return [[per, said.agent && agentName(said.agent), said.project && base(said.project)].filter(Boolean).join(' · '), does.charAt(0).toUpperCase() + does.slice(1)]
}

const until = (time) => {
  const minutes = Math.round((new Date(time) - Date.now()) / 60000)
  if (minutes <= 0) return 'Resets now'
  return minutes < 60 ? `Resets in ${minutes} min` : minutes < 2880 ? `Resets in ${Math.round(minutes / 60)} h` : `Resets in ${Math.round(minutes / 1440)} days`
}

const chart = (days) => {
  const most = Math.max(...days.map((d) => d.cost), 0.000001)
  return el('ol', { class: 'chart' }, days.map((d, i) => {
    const bar = el('span', { class: 'bar' }, d.agents.map(({ name, cost }) => {
      const piece = el('span', { class: 'of-agent' })
      piece.style.setProperty('--hue', hueOf(name))
      piece.style.flexGrow = cost
      return piece
    }))
    bar.style.setProperty('--part', d.cost / most)
    return el('li', {}, el('b', { 'aria-hidden': 'true' }, d.cost >= 10 ? `$${Math.round(d.cost)}` : d.cost ? dollars(d.cost) : '–'), bar, el('span', { class: 'hidden' }, `${d.date.toLocaleDateString('en', { weekday: 'long' })}: ${dollars(d.cost)}`), el('span', { 'aria-hidden': 'true' }, i + 1 < days.length ? d.date.toLocaleDateString('en', { weekday: 'short' }) : 'Today'))
  }))
}

const day = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`

export const usageView = async () => {
  const node = el('div', { class: 'plain usage' }, el('h1', {}, 'Usage'))
  const boot = el('p', { class: 'boot', role: 'status' }, 'Loading…')
  node.append(boot)
  main.replaceChildren(node)
  let said
  const first = new Date()
  first.setHours(0, 0, 0, 0)
  first.setDate(first.getDate() - 6)
  try { said = await state.api.get(`/api/usage?since=${encodeURIComponent(first.toISOString())}`) } catch (failure) { return boot.replaceWith(el('p', { class: 'error', role: 'alert' }, `Usage can’t be read: ${failure.message}`)) }
  boot.remove()
  const { report, limits, budgets } = said
  const by = (key, from = report.rows) => rounded([...Map.groupBy(from.filter((row) => row[key]), (row) => row[key])].map(([name, rows]) => ({ name, ...add(rows) })).sort((a, b) => b.cost - a.cost || b.tokens - a.tokens))
  const add = (rows) => rows.reduce((sum, row) => ({ cost: sum.cost + (row.costUSD || 0), tokens: sum.tokens + tokens(row) }), { cost: 0, tokens: 0 })
  const days = Array.from({ length: 7 }, (_, i) => { const d = new Date(first); d.setDate(d.getDate() + i); return d })
  const perDay = days.map((d) => {
    const rows = report.rows.filter((row) => row.day === day(d))
    return { date: d, ...add(rows), agents: by('agent', rows) }
  })
  const today = perDay.at(-1)
  const all = add(report.rows)
  if (report.reading) node.append(el('p', { class: 'quiet-text', role: 'status' }, `Still reading your agents’ records: ${report.reading.files} of ${report.reading.of} files.`))
  if (!report.rows.length && !report.reading) node.append(el('p', { class: 'quiet-text' }, 'No agent used any tokens in the last seven days.'))
  node.append(el('dl', { class: 'tiles' }, tile('Today', dollars(today.cost), `${short(today.tokens)} tokens`), tile('Last 7 days', dollars(all.cost), `${short(all.tokens)} tokens`)))
  if (all.tokens) node.append(group('Cost per day', chart(perDay)))
  if (limits.windows.length) {
    node.append(group('Plan limits', el('ul', { class: 'list' }, limits.windows.map((one) => el('li', {}, badge(one.agent), el('div', {},
      el('div', { class: 'line-top' }, el('b', {}, `${agentName(one.agent)} · ${one.window}`), el('span', { class: 'amount' }, `${Math.round(one.usedPercent)}%`)),
      meter(one.usedPercent / 100), one.resets ? el('p', { class: 'quiet-text' }, until(one.resets)) : null))))))
  }
  if (budgets.length) {
    node.append(group('Budgets', el('ul', { class: 'list' }, budgets.map((one) => el('li', {}, el('div', {},
      el('div', { class: 'line-top' }, el('b', {}, inWords(one.text)[0]), el('span', { class: 'amount' }, one.percent == null ? '' : one.costUSD == null ? `${Math.round(one.percent)}%` : `${dollars(one.costUSD)} · ${Math.round(one.percent)}%`)),
      one.percent == null ? null : meter(one.percent / 100), el('p', { class: 'quiet-text' }, one.lifted ? 'Lifted' : inWords(one.text)[1]), one.problem ? el('p', { class: 'quiet-text' }, one.problem) : null))))))
  }
  const agent = (name) => { // in the colour it has in the chart
    const swatch = el('span', { class: 'of-agent swatch' })
    swatch.style.setProperty('--hue', hueOf(name))
    return [swatch, agentName(name)]
  }
  const rows = (title, all, name, columns) => all.length ? el('tbody', {}, el('tr', {}, el('th', { scope: 'rowgroup' }, title), (columns || ['', '']).map((one) => el('td', {}, one))),
    all.slice(0, 8).map((one) => el('tr', {}, el('th', { scope: 'row' }, name(one.name)), el('td', {}, short(one.tokens)), el('td', {}, dollars(one.cost))))) : null
  if (report.rows.length) node.append(group('Where it went in the last 7 days', el('div', { class: 'list' }, el('table', {}, el('caption', { class: 'hidden' }, 'By agent, project and model'), rows('Agents', by('agent'), agent, ['Tokens', 'Cost']), rows('Projects', by('project'), base), rows('Models', by('model'), (name) => name)))))
  if (report.unpriced?.length) node.append(el('p', { class: 'quiet-text' }, `Without a price: ${report.unpriced.join(', ')}`))
  node.append(el('p', { class: 'quiet-text' }, `List prices of ${report.prices}. Set budgets in a terminal: `, el('code', {}, 'hookmux usage budget')))
}
