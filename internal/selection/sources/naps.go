package sources

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
)

// Nap lets a guard, a rule or a pack only monitor for a while. Naps are kept on
// disk, so that they end in time whoever runs then, and sealed: a file that
// something else wrote lets nothing rest.
type Nap struct {
	Name  string    `json:"name"` // guard.destructive, a rule's id, a pack's name
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// NapsFile is the file in the state folder that holds naps.
const NapsFile = "naps.json"

// ReadNaps gives the naps that are not over. With an error there are none.
func ReadNaps(state string, now time.Time) ([]Nap, error) {
	var list []Nap
	if err := ledger.LoadSealed(state, NapsFile, &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(n Nap) bool { return n.IsOver(now) }), nil
}

// LongestNap bounds how long something may rest: it is meant to come back.
const LongestNap = 24 * time.Hour

// IsOver reports whether a nap is over, whatever the clock did meanwhile.
func (n *Nap) IsOver(now time.Time) bool {
	return isOver(n.Since, n.Until, now) || n.Until.Sub(n.Since) > LongestNap+time.Second
}

// slowClock is how far clocks may go back by themselves.
const slowClock = time.Minute

// isOver reports whether a span of time is over: by the clock on the wall, by the time
// that went by (which a clock that is set back does not change), or because the clock
// shows a time before it began. A machine that slept counts that time, too.
func isOver(since, until, now time.Time) bool {
	wall := now.Round(0)
	return !now.Before(until) || !wall.Before(until.Round(0)) || wall.Before(since.Round(0).Add(-slowClock))
}

// WriteNaps writes the naps down.
func WriteNaps(state string, list []Nap) error {
	if len(list) > 0 {
		return ledger.StoreSealed(state, NapsFile, list)
	}
	err := os.Remove(filepath.Join(state, NapsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// IsNapping reports whether something of this name only monitors for now.
func (o *GuardOptions) IsNapping(name string) bool {
	return slices.ContainsFunc(o.Resting, func(n Nap) bool { return n.Name == name })
}
