// Package notify notifies you that an agent needs you, or that a turn is over.
//
// It runs in the daemon and follows the requests. rules.go decides which notice is shown and
// when, noticeplan.go keeps what waits and what was shown: both are pure. notice.go writes
// the text. Each way of notifying is a channel with a queue of its own (channelqueue.go), so
// that a slow one holds up nothing.
//
// Contract:
//   - Nothing here decides for you, except the button Deny, which anyone who can press a
//     button may press: a no is safe. There is no button that approves: programs of the
//     same user can press buttons (`dunstctl action`), and who pressed one isn't known.
//   - A request is shown once, only if it still waits after the settle time, and is
//     withdrawn if the channel can do that.
//   - Text of agents is redacted and made visible before any channel gets it; each channel
//     quotes it for what displays it.
//   - No notice delays an agent.
package notify
