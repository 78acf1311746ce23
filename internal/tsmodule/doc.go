// Package tsmodule runs hooks that people write as TypeScript or JavaScript
// files, on every agent, without Node and without a build step.
//
// The contract:
//   - A file has one engine of its own ([Module]) on a goroutine of its own. A
//     handler that awaits something holds up nobody else: events of other
//     sessions go on, events of one session stay in order.
//   - The file's default export is called once for each session, as pi calls
//     it once for each of its processes: what it keeps in its closure belongs
//     to that session. What stands outside of it is shared by all.
//   - Engine and hub exchange JSON through a handful of functions. A file has
//     no powers of its own: every file, process, socket and address it touches
//     goes through Go, which tells the [Recorder].
//   - Time, memory and stack are bounded. A handler that uses up its slice is
//     interrupted; its engine is dropped and the file is loaded anew.
//   - A handler that may decide fails closed: a throw, a limit, a file that
//     does not load are errors of [Module.Handle], which a guard turns into a
//     refusal.
//   - Events are shown in pi's words whatever the agent, in the spelling of
//     the generation the file was written for ([Generation]); what comes back
//     is put into the agent's own. What an agent cannot carry is said once,
//     when the file is loaded ([Info.Limits]).
package tsmodule
