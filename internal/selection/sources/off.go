package sources

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
)

// Off says that everything is answered neutrally. It is kept on disk: a daemon that
// comes back must not switch guards on behind the person's back, nor stay off
// longer than asked. The file is sealed: one that something else wrote switches
// nothing off.
type Off struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: until switched on
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
	if err := ledger.LoadSealed(state, OffFile, &o); err != nil || o.Since.IsZero() {
		return nil, err
	}
	return &o, nil
}

// WriteOff writes it down; nil means that hookmux is on.
func WriteOff(state string, o *Off) error {
	if o != nil {
		return ledger.StoreSealed(state, OffFile, o)
	}
	err := os.Remove(filepath.Join(state, OffFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
