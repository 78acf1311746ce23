// Package clauderules reads the permission rules of Claude Code's settings
// (permissions.allow, ask and deny) and decides about a call as Claude Code
// itself would.
//
// The behaviour is measured, not read from documentation: testdata holds calls
// that a real Claude Code (2.1.325) was asked to make, with what came of them.
//
//	file := clauderules.ReadSettings(clauderules.ProjectSource(project, home), text)
//	set := clauderules.NewSet(file)
//	said := set.Decide(call, place)
//
// Three things are kept apart:
//
//   - File.Rules says for every rule as written whether Claude Code uses it, and
//     if it silently ignores it why, and in which form it would work.
//   - Decide says what the rules say: Allow, Ask, Deny, or None where no rule
//     says anything.
//   - Baseline says what Claude Code does without any rule; Predict is both
//     together, the outcome a person would see.
//
// DecideStrict also looks at what a command line really runs, and so finds what a
// deny or ask rule misses in Claude Code. It is never weaker than Decide.
//
// The package does no input or output. Folders and symbolic links come in by Place.
package clauderules
