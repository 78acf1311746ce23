package judge

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

// isOff reports whether a person switched hookmux off, as the hub writes it
// down.
func (j *Judge) isOff(now time.Time) bool {
	text, err := smallfile.Read(filepath.Join(j.dirs.State, "off.json"), 4<<10)
	if err != nil {
		return false
	}
	var off struct {
		Since time.Time `json:"since"`
		Until time.Time `json:"until"`
	}
	if json.Unmarshal(text, &off) != nil || off.Since.IsZero() {
		return false
	}
	return off.Until.IsZero() || now.Before(off.Until)
}
