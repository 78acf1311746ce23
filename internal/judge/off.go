package judge

import (
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/selection"
)

// isOff reports whether a person switched hookmux off, as the hub writes it
// down under its seal.
func (j *Judge) isOff(now time.Time) bool {
	var off struct {
		Since time.Time `json:"since"`
		Until time.Time `json:"until"`
	}
	if ledger.LoadSealed(j.dirs.State, selection.OffFile, &off) != nil || off.Since.IsZero() {
		return false
	}
	return off.Until.IsZero() || now.Before(off.Until)
}
