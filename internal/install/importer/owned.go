package importer

import "github.com/hookmux/hookmux/internal/platform/lazyregexp"

// claudeID matches the ids that id makes: the event, a sum of the hook, and for one of
// several matches its label.
var claudeID = lazyregexp.New(`^claude:[A-Za-z]+:[0-9a-f]{10}(\.\S+)?$`)

// Owned reports whether a registration with this id, found where this result is
// to be stored, comes from an import like this one. False for everything when
// no file could be read: a missing file says nothing about what it held.
func (r Result) Owned(id string) bool { return r.complete && claudeID.MatchString(id) }

// Orphans returns those of the ids in a file of hooks that come from earlier imports and aren't
// created by these, the results that go into that file: hooks that were changed or removed at their
// source. Pass it only results that are stored in their own scope; a project's hooks that were
// stored globally on request would make the hooks of every other project look like orphans.
func Orphans(ids []string, into ...Result) []string {
	var list []string
	for _, id := range ids {
		owned, made := false, false
		for _, r := range into {
			owned = owned || r.Owned(id)
			made = made || r.seen[id]
		}
		if owned && !made {
			list = append(list, id)
		}
	}
	return list
}
