// Package verify asks real agents whether what the catalogue claims about them
// holds: it runs an agent's own program against a scripted model in a
// throw-away home, with hooks of its own in the corridor, and watches what
// really happens.
//
// How the parts fit:
//
//   - A Driver says how one agent is started and given its hooks.
//   - An Act is one launch of an agent: what the scripted model says, what the
//     corridor answers, how it is started. Several checks live on one act,
//     because launches are what costs time.
//   - A Check judges what an act brought to light. Checks are derived from the
//     capability table: every claim is a subject, and a claim that no check
//     takes up is shown as unproven. Every check names a saboteur, a way of
//     breaking hookmux that must make it fail.
//   - Run puts them together and gives a Report.
//
// The contract: no account, no tokens, nothing outside the stage's own folder
// is written, every process that is started is ended by its own id, and what
// could not be proven is never shown as proven.
package verify
