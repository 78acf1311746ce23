// What pictures show is the same on every machine and day: fonts of the test, times that
// don't depend on now, and folders below your home. Nothing that's signed changes.
(() => {
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  for (const [name, text] of [['Inter', 'INTER'], ['JetBrains Mono', 'MONO']]) {
    const font = new FontFace(name, bytes(text), { weight: '100 900' })
    document.fonts.add(font)
    font.load()
  }
  document.addEventListener('readystatechange', () => {
    document.documentElement.style.setProperty('--sans', 'Inter')
    document.documentElement.style.setProperty('--mono', '"JetBrains Mono"')
  }, { once: true })
  const minute = 60000
  const now = Date.now()
  Date.now = () => now // ages don't grow; the daemon says what time it is when something is signed
  const before = (minutes) => new Date(Date.now() - minutes * minute - 5000).toISOString()
  const requests = [['npm run bench', 4], ['rm -rf', 2], ['cart.ts', 1]]
  const answered = [['npm test', 3], ['git push', 7]]
  const sessions = { 'c-2': 4, p1: 2, s1: 1, 'c-1': 12, 'g-1': 34, 's-2': 132 }
  const morning = new Date(2026, 10, 19, 9, 41)
  const set = (key, value) => {
    if (!value || typeof value !== 'object') return value
    if (value.shown && value.createdAt) {
      const known = requests.find(([text]) => value.shown.includes(text))
      value.createdAt = before(known ? known[1] : 1)
      if (value.status === 'pending') value.deadline = before((known ? known[1] : 1) - 30)
      if (value.shown.includes('cart.ts')) value.line = 41
      if (value.endedAt) value.endedAt = before(answered.find(([text]) => value.shown.includes(text))?.[1] ?? 0)
    } else if (value.startedAt && value.since) {
      value.since = before(sessions[value.id] ?? 1)
      if (value.status !== 'waiting') value.lastEvent = value.since // they're sorted by it
    }
    else if (value.paired && value.id) Object.assign(value, { paired: '2026-11-16T10:00:00Z', address: '192.168.1.23' }, innerWidth < 940 ? { browser: 'Chrome on Android' } : { name: 'MacBook', browser: 'Chrome on macOS' })
    else if (value.home && value.requests) Object.assign(value, { home: '/home/you', time: now })
    else if (key === 'events') value.forEach((one, i) => { one.time = new Date(now + (i - 6) * minute).toISOString() })
    return value
  }
  const parse = JSON.parse
  JSON.parse = (text) => parse(text, set)
  Response.prototype.json = async function () { return JSON.parse(await this.text()) }
  const localTime = Date.prototype.toLocaleTimeString
  Date.prototype.toLocaleTimeString = function (...how) { return localTime.apply(new Date(+this - now + +morning + 6 * minute), how) }
  // Today is a Thursday.
  const local = Date.prototype.toLocaleDateString
  Date.prototype.toLocaleDateString = function (language, options) {
    const shown = options?.weekday ? new Date(+morning - Math.round((new Date().setHours(0, 0, 0, 0) - new Date(this).setHours(0, 0, 0, 0)) / 86400000) * 86400000) : this
    return local.call(shown, language, options)
  }
})()
