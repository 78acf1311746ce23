// What runs first, while the rest of the page is still on its way: it asks for what waits,
// so that it's here once it can be drawn.
import { load } from './key.js'
import { Api } from './api.js'

// code is the pairing code in the address.
export const code = () => location.hash.startsWith('#pair=') ? location.hash.slice(6) : ''

// connect begins to ask in the name of this device; null where it isn't paired.
export const connect = async () => {
  const own = crypto.subtle ? await load().catch(() => null) : null
  if (!own) return null
  const api = new Api(own)
  api.open().catch(() => {}) // who reads it hears of it
  return api
}

export const connecting = code() ? null : connect()
