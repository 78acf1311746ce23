// Package tui draws the live view: every session and everything that waits for you on one
// screen, answered by key.
//
// What must stay true:
//   - A request is approved only after all of it was on the screen, and for
//     [settleTime]: a key that was on its way before it appeared never answers it.
//   - What a popup covers isn't on the screen.
//   - The selection belongs to a request or a session, not to a line: what comes
//     and goes never moves another one under the cursor.
//   - Every answer carries the hash of the text that was shown; the daemon rejects it
//     if the request has changed.
//   - While the daemon doesn't answer, no key decides anything, and the screen says so.
//   - Text of agents reaches the screen only through package termsafe.
package tui
