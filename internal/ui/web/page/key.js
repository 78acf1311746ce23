// This device's key and what's remembered with it. The key can't be exported: a script
// can sign with it, on this address only, and nothing can read it out.

const encoder = new TextEncoder()

const open = () => new Promise((done, failed) => {
  const request = indexedDB.open('hookmux', 1)
  request.onupgradeneeded = () => request.result.createObjectStore('device')
  request.onsuccess = () => done(request.result)
  request.onerror = () => failed(request.error)
})

const store = async (mode, act) => {
  const db = await open()
  try {
    return await new Promise((done, failed) => {
      const work = db.transaction('device', mode)
      const request = act(work.objectStore('device'))
      if (mode === 'readonly') request.onsuccess = () => done(request.result) // nothing is left to write
      work.oncomplete = () => done(request.result)
      work.onerror = work.onabort = () => failed(work.error)
    })
  } finally {
    db.close()
  }
}

export const load = () => store('readonly', (s) => s.get('own'))
export const save = (device) => store('readwrite', (s) => s.put(device, 'own'))
export const forget = () => store('readwrite', (s) => s.delete('own'))

export const base64 = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

export const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')

// empty is the hash of no text: a phone needn't wait for that.
const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export const sha256 = async (text) => text ? hex(await crypto.subtle.digest('SHA-256', encoder.encode(text))) : empty

export const nonce = () => base64(crypto.getRandomValues(new Uint8Array(18)))

// make makes a key pair whose private half never leaves the browser.
export const make = async () => {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
  return { key: pair.privateKey, public: base64(await crypto.subtle.exportKey('raw', pair.publicKey)) }
}

export const sign = async (key, message) =>
  base64(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, encoder.encode(message)))

// digits are the four that this device and your terminal show.
export const digits = async (code, publicKey, nonce) => {
  const sum = await sha256(`hookmux-pair-1\n${code}\n${publicKey}\n${nonce}`)
  return String(parseInt(sum.slice(0, 8), 16) % 10000).padStart(4, '0')
}
