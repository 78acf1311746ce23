// Package hookmux holds the list of what changed from version to version. The programs
// are in cmd/hookmux and cmd/hookmux-hook, what other programs may use in event, agent,
// hook and client.
package hookmux

import _ "embed" // for the file below

// Changelog is CHANGELOG.md.
//
//go:embed CHANGELOG.md
var Changelog string
