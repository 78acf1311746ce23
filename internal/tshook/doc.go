// Package tshook runs hooks that people write as TypeScript or JavaScript
// files, on every agent, without Node and without a build step.
//
// The contract:
//   - A file has one engine of its own ([Hook]) on a goroutine of its own. A
//     handler that awaits something holds up nobody else: events of other
//     sessions go on, events of one session stay in order.
//   - The file's default export is called once for each session, as pi calls
//     it once for each of its processes: what it keeps in its closure belongs
//     to that session. What stands outside of it is shared by all.
//   - Engine and daemon exchange JSON through a handful of functions. A file has
//     no access of its own: every file, process, socket and address it touches
//     goes through Go, which tells the [Recorder].
//   - Time, memory and stack are bounded. A handler that uses up its slice is
//     interrupted; its engine is dropped and the file is loaded again.
//   - A handler that may decide fails closed: a throw, a limit, a file that
//     does not load are errors of [Hook.Handle], which a guard turns into a
//     refusal.
//   - Handlers see every agent's events in pi's format, in the version of that
//     format the file was written for ([Generation]); their answers are
//     translated back. [Info.Limits] lists what an agent cannot carry.
package tshook
