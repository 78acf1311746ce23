// Package tshook runs hooks that are written as TypeScript or JavaScript files, on every
// agent, without Node and without a build step.
//
// The contract:
//   - A file has one engine of its own ([Hook]) on a goroutine of its own. A handler that
//     awaits something blocks no other: events of other sessions go on, events of one
//     session stay in order.
//   - The file's default export is called once for each session, as pi calls it once for
//     each of its processes: what it keeps in its closure belongs to that session. What is
//     outside of it is shared by all.
//   - Engine and daemon exchange JSON through a handful of functions. A file has no access
//     of its own: every file, process, socket and address it touches goes through Go, which
//     reports it to the [Recorder].
//   - Time, memory and stack are limited. A handler that uses up its slice is interrupted;
//     its engine is dropped and the file is loaded again.
//   - A handler that may decide fails closed: an exception, a limit, a file that doesn't
//     load are errors of [Hook.Handle], which a guard turns into a denial.
//   - Handlers see every agent's events in pi's format, in the version of that format the
//     file was written for ([Generation]); their answers are translated back. [Info.Limits]
//     lists what an agent can't carry.
package tshook
