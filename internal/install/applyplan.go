package install

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// lockPath returns the lock of everybody who changes what is installed.
func lockPath(stateFolder string) string { return filepath.Join(stateFolder, "install.lock") }

// errMoved says that what would be done now isn't what the user agreed to.
var errMoved = errors.New("the files changed while you were asked, and nothing was written; run the command again")

// ApplyPlan plans and applies the plan under a lock, so that of several installations at once
// none loses the records of another. The lock isn't held while you are asked: what you were
// shown is compared with what is planned now, and is only done if it is the same. Without
// shown, whatever is planned is done.
func (h *Host) ApplyPlan(plan func() (*Plan, error), shown *Plan, e Editor) (*Plan, error) {
	if err := h.refuseRealHome(); err != nil {
		return nil, err
	}
	unlock, err := userfile.Lock(lockPath(h.Dirs.State))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, ok := e.(*Disk); ok {
		leftovers{h}.remove()
	}
	now, err := plan()
	if err != nil {
		return nil, err
	}
	if shown != nil && !sameChanges(shown, now) {
		return nil, errMoved
	}
	return now, now.Apply(e)
}

// sameChanges reports whether two plans do the same to other people's files.
func sameChanges(a, b *Plan) bool {
	return slices.EqualFunc(a.stepsToShow(), b.stepsToShow(), func(x, y Step) bool {
		return x.Op == y.Op && x.Path == y.Path && bytes.Equal(x.Old, y.Old) && bytes.Equal(x.New, y.New)
	})
}

func (p *Plan) stepsToShow() []Step {
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool {
		return s.Op != OpWrite && s.Op != OpDelete && s.Op != OpTrust
	})
}
