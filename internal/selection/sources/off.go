package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

// Off says that everything is answered neutrally. It is kept on disk: a daemon that
// comes back must not switch guards on behind the user's back, nor stay off
// longer than asked. The file is sealed: one that something else wrote switches
// nothing off.
type Off struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: until switched on

	// Written is when this was written down; see [isOlder].
	Written time.Time `json:"written,omitzero"`
}

// OffFile is the file in the state folder that says that hookmux is off.
const OffFile = "off.json"

// At reports whether everything is answered neutrally at a moment.
func (o *Off) At(now time.Time) bool {
	return o != nil && !o.Since.IsZero() && (o.Until.IsZero() || !isOver(o.Since, o.Until, now))
}

// ReadOff gives what was written down last, nil while hookmux is on. With an
// error hookmux is on, too.
func ReadOff(state string) (*Off, error) {
	var o Off
	if err := sealed.Load(state, OffFile, &o); err != nil || o.Since.IsZero() {
		return nil, err
	}
	file := filepath.Join(state, OffFile)
	if info, err := os.Lstat(file); err != nil || isOlder(&o, info) {
		return nil, fmt.Errorf("%s: it was put back or touched after hookmux wrote it", file)
	}
	return &o, nil
}

// now is the clock, which tests set back.
var now = time.Now

// writeTime is how long it may take to write a file, and how far the clock of a file
// server may be ahead.
const writeTime = time.Minute

// isOlder reports whether a note is older than its file, which means that an earlier one was
// put back. A file's change time can't be set back, and moving or linking it updates it,
// too. If the system doesn't report it, no note is older.
func isOlder(o *Off, info fs.FileInfo) bool {
	changed := files.ChangedAt(info)
	return changed != 0 && time.Unix(0, changed).Sub(o.Written) > writeTime
}

// WriteOff writes it down; nil means that hookmux is on.
func WriteOff(state string, o *Off) error {
	if o != nil {
		note := *o
		note.Written = now()
		return sealed.Store(state, OffFile, note)
	}
	err := os.Remove(filepath.Join(state, OffFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
