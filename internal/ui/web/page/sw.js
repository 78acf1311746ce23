// Shows what was pushed, and withdraws what was answered. It keeps no pages and answers
// no requests.

self.addEventListener('push', (event) => event.waitUntil((async () => {
  let said = {}
  try { said = event.data.json() } catch { /* shown as it is */ }
  const note = said.notification || {}
  if (said.withdraw) {
    for (const shown of await self.registration.getNotifications({ tag: said.withdraw })) shown.close()
    // Browsers want every push to show something; a silent one replaces the old.
    await self.registration.showNotification('Answered', { tag: said.withdraw, silent: true, body: '' })
    for (const shown of await self.registration.getNotifications({ tag: said.withdraw })) shown.close()
    return
  }
  await self.registration.showNotification(note.title || 'hookmux', { body: note.body || 'An agent needs you', tag: note.tag, icon: '/icon-192.png', badge: '/icon-192.png', data: note.navigate })
})()))

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const at = new URL(event.notification.data || '/', self.location.origin)
  const url = at.origin === self.location.origin ? at.href : '/'
  event.waitUntil((async () => {
    const [open] = await self.clients.matchAll({ type: 'window' })
    if (!open) return self.clients.openWindow(url)
    await open.focus()
    return open.navigate(url).catch(() => open.postMessage({ open: at.hash }))
  })())
})
