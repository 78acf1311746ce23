package selection

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// OffFile is the file in the state folder that says that hookmux is off.
const OffFile = sources.OffFile

// OffSwitch switches hookmux off and on.
type OffSwitch struct {
	state    string // the folder it is written down in
	problems *services.Problems
	changed  func() // other hooks may count now
	now      atomic.Pointer[sources.Off]
}

func (o *OffSwitch) readFile() {
	off, err := sources.ReadOff(o.state)
	if err != nil {
		o.problems.Raise("off", "hookmux stays on, because the note that it's off can't be trusted: "+err.Error(),
			"run `hookmux off` again if you want it off, else `hookmux on`")
		return
	}
	o.now.Store(off)
}

// IsOff reports whether everything is answered neutrally now.
func (o *OffSwitch) IsOff() bool {
	s := o.now.Load()
	if s == nil {
		return false
	}
	if !s.At(time.Now()) {
		if o.now.CompareAndSwap(s, nil) {
			_ = sources.WriteOff(o.state, nil) // it ended by itself, whoever reads it
		}
		return false
	}
	return true
}

// SwitchOff has everything answered neutrally, for a while or (0) until it is
// switched on.
func (o *OffSwitch) SwitchOff(span time.Duration) *wire.Off {
	s := &sources.Off{Since: time.Now()}
	if span > 0 {
		s.Until = s.Since.Add(span)
	}
	o.now.Store(s) // at once, whatever the disk says
	o.changed()
	if err := sources.WriteOff(o.state, s); err != nil {
		o.problems.Raise("off", "hookmux is off, but that could not be written down: "+err.Error(),
			"it will be on again when the daemon restarts")
	}
	return o.Info()
}

// SwitchOn lets hooks count again.
func (o *OffSwitch) SwitchOn() error {
	o.now.Store(nil)
	o.changed()
	o.problems.Clear("off")
	return sources.WriteOff(o.state, nil)
}

// Info says since when and until when; nil when it is on.
func (o *OffSwitch) Info() *wire.Off {
	if !o.IsOff() {
		return nil
	}
	s := o.now.Load()
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
		wire.MethodOff: {Run: o.offMethod},
		wire.MethodOn:  {Run: o.onMethod},
	}
}

func (o *OffSwitch) offMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.OffParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.Seconds < 0 || p.Seconds > (366*24*time.Hour).Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "%.0f days are too long to be off for; a year is the most",
			p.Seconds/86400)
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
