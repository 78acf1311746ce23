// Requests to the daemon. Every one is signed; answers carry a second signature, over
// what was shown.
import { nonce, sha256, sign } from './key.js'

export class Failure extends Error {
  constructor(code, why, status) {
    super(why)
    this.code = code
    this.status = status
  }
}

export class Api {
  constructor(device) {
    this.device = device
    this.instance = document.documentElement.dataset.instance // the page came with what to sign for
    this.skew = 0
  }

  // hello learns what to sign for, and what time it is there.
  async hello() {
    const began = Date.now()
    const response = await fetch('/api/hello', { cache: 'no-store' })
    if (!response.ok) throw new Failure('hello', 'hookmux doesn’t answer here', response.status)
    const said = await response.json()
    this.instance = said.instance
    this.skew = said.time - (began + Date.now()) / 2
  }

  now() { return Math.round(Date.now() + this.skew) }

  async authorization(method, path, body) {
    const at = this.now()
    const once = nonce()
    const message = ['hookmux-request-1', this.instance, method, path, await sha256(body), at, once].join('\n')
    return `Hookmux-1 ${this.device.id} ${at} ${once} ${await sign(this.device.key, message)}`
  }

  // send sends a signed request; after a restart of the daemon it asks once what to sign for.
  async send(method, path, body, options = {}) {
    if (!this.instance) await this.hello()
    const text = body === undefined ? '' : JSON.stringify(body)
    const { pathname, search } = new URL(path, location.origin) // as it's really sent: browsers encode a little more
    for (let first = true; ; first = false) {
      const headers = { Authorization: await this.authorization(method, pathname + search, text) }
      if (text) headers['Content-Type'] = 'application/json'
      const response = await fetch(path, { method, headers, body: text || undefined, cache: 'no-store', ...options })
      if (response.ok) return response
      const said = await response.json().catch(() => ({}))
      if (response.status === 401 && first) {
        const before = this.instance
        await this.hello()
        if (said.error === 'clock' || this.instance !== before) continue
      }
      throw new Failure(said.error || 'failed', said.why || `hookmux answers ${response.status}`, response.status)
    }
  }

  async get(path) { return (await this.send('GET', path)).json() }
  async post(path, body) { return (await this.send('POST', path, body)).json() }

  // answer answers a request with exactly what was shown of it.
  async answer(reply, pin) {
    await this.hello() // so that neither signature is for an earlier run of the daemon
    const answer = JSON.stringify(reply)
    const time = this.now()
    const once = nonce()
    const choice = reply.plan ? `${reply.choice} ${reply.plan}` : reply.choice
    const message = ['hookmux-answer-1', `instance ${this.instance}`, `device ${this.device.id}`, `request ${reply.id}`,
      `shown ${reply.sha256}`, `choice ${choice}`, `answer ${await sha256(answer)}`, `nonce ${once}`, `time ${time}`].join('\n')
    const body = { answer, time, nonce: once, signature: await sign(this.device.key, message) }
    if (pin) body.pin = pin
    return this.post('/api/answer', body)
  }

  // open asks for what there is and every change.
  open() {
    this.shown = !document.hidden
    this.leaving = new AbortController()
    return this.opening = this.send('GET', `/api/stream?visible=${this.shown ? 1 : 0}`, undefined, { signal: this.leaving.signal })
  }

  close() { this.leaving?.abort() }

  // stream reads what there is and every change, until it ends.
  async stream(each) {
    const opening = this.opening || this.open()
    this.opening = null
    const response = await opening
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      each(null) // something came: it's alive
      rest += value
      const parts = rest.split('\n\n')
      rest = parts.pop()
      for (const part of parts) if (part.startsWith('data: ')) each(JSON.parse(part.slice(6)))
    }
  }
}

// unsigned is for pairing, before there's a device.
export const unsigned = async (path, body) => {
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  const said = await response.json().catch(() => ({}))
  if (!response.ok) throw new Failure(said.error || 'failed', said.why || `hookmux answers ${response.status}`, response.status)
  return said
}
