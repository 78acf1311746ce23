// Package notify tells a person that an agent needs them, or that a turn is over.
//
// It runs in the daemon and follows the requests. rules.go says which notice is told
// and when, noticeplan.go keeps what waits and was told: both are pure. notice.go makes
// the words. Each way of telling is a channel with a queue of its own (channelQueue.go), so
// that a slow one holds up nothing.
//
// Contract:
//   - Nothing here decides for a person, but the button Deny, which anybody who can
//     press a button may press: a no is safe. There is no button that approves:
//     programs of the same user can press buttons (`dunstctl action`), and nobody can
//     tell who did.
//   - A request is told once, only while it still waits after the settle time, and is
//     withdrawn where the channel can do that.
//   - Text of agents is redacted and made visible before any channel gets it; each
//     channel quotes it for whoever reads it there.
//   - No notice delays an agent.
package notify
