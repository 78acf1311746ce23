package trust

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/platform/sealed"
)

// folder is where everything about trust is, in the state folder.
const folder = "trust"

// record is kept per project, 0600 and sealed: what something else wrote
// trusts nothing.
type record struct {
	Version int       `json:"version"`
	Common  string    `json:"common"`
	Path    string    `json:"path"`
	Trusted []trusted `json:"trusted"` // the newest last
}

type trusted struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
	Root string    `json:"root"` // the working tree it was trusted in
	// Branch was checked out there; "" for none, "-" outside of a repository.
	Branch string `json:"branch,omitempty"`
	Files  []File `json:"files"`
}

// maxTrusted is how many contents of one project are kept: one per branch that is switched
// to, not one per edit ever made.
const maxTrusted = 24

// recordName returns the record of a project, from the state folder.
func recordName(key string) string { return filepath.Join(folder, key, "trust.json") }

// readRecord reads a record that carries our seal.
func (s *Store) readRecord(key string, data []byte) (record, error) {
	rec := record{Version: 1}
	if len(data) == 0 {
		return rec, nil
	}
	err := sealed.Unseal(s.state, recordName(key), data, &rec)
	switch {
	case err != nil:
		return record{Version: 1}, fmt.Errorf("the record of trusted projects was changed by something else: %w; run `hookmux trust` again", err)
	case rec.Version != 1:
		return record{Version: 1}, errors.New("the record of trust is a newer version's; run `hookmux trust` again")
	}
	return rec, nil
}

func (r *record) findContent(hash string) *trusted {
	for i := range r.Trusted {
		if r.Trusted[i].Hash == hash {
			return &r.Trusted[i]
		}
	}
	return nil
}

// isTrusted reports whether content is trusted at root with that branch checked
// out. It is not when other content was trusted there later: else putting an
// older file back, as a stash or a restore does, would silently take away the
// guard that was added since. Another branch or working tree may well hold the
// older content; there it goes on counting.
func (r *record) isTrusted(hash, root, branch string) bool {
	found := false
	for _, t := range r.Trusted {
		switch {
		case t.Hash == hash:
			found = true
		case found && branch != detached && t.Root == root && t.Branch == branch:
			return false
		}
	}
	return found
}

// lastTrusted returns what stays in force at root: the newest content trusted there on that
// branch, else the newest trusted there, else in any working tree.
func (r *record) lastTrusted(root, branch string) *trusted {
	for _, fits := range []func(t *trusted) bool{
		func(t *trusted) bool { return t.Root == root && t.Branch == branch },
		func(t *trusted) bool { return t.Root == root },
		func(*trusted) bool { return true },
	} {
		for i := len(r.Trusted) - 1; i >= 0; i-- {
			if fits(&r.Trusted[i]) {
				return &r.Trusted[i]
			}
		}
	}
	return nil
}
