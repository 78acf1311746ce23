// Package claude reads the permission rules of Claude Code's settings (permissions.allow, ask
// and deny) and decides about a call as Claude Code itself would.
//
// The behaviour is measured, not read from documentation: testdata holds calls that a real
// Claude Code (2.1.325) was asked to make, with the results.
//
//	file := claude.ReadSettings(claude.ProjectSource(project, home), text)
//	set := claude.NewSet(file)
//	said := set.Decide(call, place)
//
// Two things are kept apart:
//
//   - File.Rules says for every rule as written whether Claude Code uses it, and if it silently
//     ignores it, why, and in which form it would work.
//   - Decide returns the verdict of the rules: Allow, Ask, Deny, or None if no rule matches.
//
// DecideStrict also looks at what a command line really runs, and so finds what a deny or ask
// rule misses in Claude Code. It is never weaker than Decide.
//
// The package does no input or output. Folders and symbolic links come from Place.
package claude
