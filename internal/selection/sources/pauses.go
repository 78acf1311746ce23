package sources

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/platform/sealed"
)

// Pause puts a guard, a rule or a pack into log mode for a while. Pauses are kept on disk,
// so that they end in time whatever runs then, and sealed: a file that something else wrote
// pauses nothing.
type Pause struct {
	Name  string    `json:"name"` // guard.destructive, a rule's id, a pack's name
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// PausesFile is the file in the state folder that holds pauses.
const PausesFile = "pauses.json"

// ReadPauses gives the pauses that are not over. With an error there are none.
func ReadPauses(state string, now time.Time) ([]Pause, error) {
	var list []Pause
	if err := sealed.Load(state, PausesFile, &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(n Pause) bool { return n.IsOver(now) }), nil
}

// LongestPause bounds how long something may rest: it is meant to come back.
const LongestPause = 24 * time.Hour

// IsOver reports whether a pause is over, whatever the clock did meanwhile.
func (n *Pause) IsOver(now time.Time) bool {
	return isOver(n.Since, n.Until, now) || n.Until.Sub(n.Since) > LongestPause+time.Second
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

// WritePauses writes the pauses down.
func WritePauses(state string, list []Pause) error {
	if len(list) > 0 {
		return sealed.Store(state, PausesFile, list)
	}
	err := os.Remove(filepath.Join(state, PausesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// IsPaused reports whether something of this name only logs for now.
func (o *GuardOptions) IsPaused(name string) bool {
	return slices.ContainsFunc(o.Resting, func(n Pause) bool { return n.Name == name })
}
