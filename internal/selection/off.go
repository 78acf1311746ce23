package selection

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/problems"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// offState says that everything is answered neutrally. It is kept on disk: a
// hub that comes back must not switch guards on behind the person's back, nor
// stay off longer than asked.
type offState struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: until switched on
}

// OffSwitch switches hookmux off and on.
type OffSwitch struct {
	folder   string // the state folder
	problems *problems.List
	changed  func() // other hooks may count now
	state    atomic.Pointer[offState]
}

// OffFile is the file in the state folder that says that hookmux is off. It is
// sealed like grants: one that something else wrote switches nothing off.
const OffFile = "off.json"

func (o *OffSwitch) readFile() {
	var s offState
	if err := ledger.LoadSealed(o.folder, OffFile, &s); err != nil {
		if errors.Is(err, ledger.ErrForged) {
			o.problems.Raise("off", "something other than `hookmux off` wrote "+err.Error(),
				"remove that file, and look at what wrote it")
		}
		return
	}
	if !s.Since.IsZero() {
		o.state.Store(&s)
	}
}

// IsOff reports whether everything is answered neutrally now.
func (o *OffSwitch) IsOff() bool {
	s := o.state.Load()
	if s == nil {
		return false
	}
	if !s.Until.IsZero() && time.Now().After(s.Until) {
		if o.state.CompareAndSwap(s, nil) {
			_ = os.Remove(filepath.Join(o.folder, OffFile))
		}
		return false
	}
	return true
}

// SwitchOff has everything answered neutrally, for a while or (0) until it is
// switched on.
func (o *OffSwitch) SwitchOff(span time.Duration) *wire.Off {
	s := &offState{Since: time.Now()}
	if span > 0 {
		s.Until = s.Since.Add(span)
	}
	o.state.Store(s) // at once, whatever the disk says
	o.changed()
	if err := ledger.StoreSealed(o.folder, OffFile, s); err != nil {
		o.problems.Raise("off", "hookmux is off, but that could not be written down: "+err.Error(),
			"it will be on again when the hub restarts")
	}
	return o.Info()
}

// SwitchOn lets hooks count again.
func (o *OffSwitch) SwitchOn() error {
	o.state.Store(nil)
	o.changed()
	o.problems.Mend("off")
	if err := os.Remove(filepath.Join(o.folder, OffFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// Info says since when and until when; nil when it is on.
func (o *OffSwitch) Info() *wire.Off {
	if !o.IsOff() {
		return nil
	}
	s := o.state.Load()
	if s == nil {
		return nil
	}
	info := &wire.Off{Since: s.Since}
	if !s.Until.IsZero() {
		until := s.Until
		info.Until = &until
	}
	return info
}

// Methods switch hooks off and on.
func (o *OffSwitch) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodOff: services.Decide(o.offMethod),
		wire.MethodOn:  services.Decide(o.onMethod),
	}
}

func (o *OffSwitch) offMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.OffParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.Seconds < 0 || p.Seconds > (366*24*time.Hour).Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "%.0f days are too long to be off for; a year is the most", p.Seconds/86400)
	}
	return o.SwitchOff(time.Duration(p.Seconds * float64(time.Second))), nil
}

func (o *OffSwitch) onMethod(json.RawMessage, proc.Cred) (any, *wire.Error) {
	was := o.IsOff()
	if err := o.SwitchOn(); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return map[string]bool{"wasOff": was}, nil
}
