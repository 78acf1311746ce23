// Notifications while no page is open.

const policy = window.trustedTypes?.createPolicy('hookmux', { createScriptURL: (url) => {
  if (url !== '/sw.js') throw new TypeError('only hookmux’s own worker')
  return url
} })

const able = () => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

const registration = () => navigator.serviceWorker.register(policy ? policy.createScriptURL('/sw.js') : '/sw.js')

export const pushState = async () => {
  if (!able()) return 'unable'
  const found = await navigator.serviceWorker.getRegistration('/')
  return found && await found.pushManager.getSubscription() ? 'on' : 'off'
}

const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))

export const pushOn = async (api) => {
  if (await Notification.requestPermission() !== 'granted') throw new Error('Notifications are blocked for this page; allow them in the browser’s settings.')
  const { key } = await api.get('/api/push')
  const worker = await registration()
  await navigator.serviceWorker.ready
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) })
  const { endpoint, keys } = subscription.toJSON()
  try {
    const { notify } = await api.post('/api/push', { endpoint, p256dh: keys.p256dh, auth: keys.auth })
    if (!notify) return 'Notifications are off for all of hookmux; turn them on in a terminal: hookmux notify on'
    return 'You’re notified while no page is open'
  } catch (failure) {
    await subscription.unsubscribe()
    throw failure
  }
}

export const pushOff = async (api) => {
  const found = await navigator.serviceWorker.getRegistration('/')
  await (await found?.pushManager.getSubscription())?.unsubscribe()
  await api.post('/api/push', { endpoint: '', p256dh: '', auth: '' })
}
