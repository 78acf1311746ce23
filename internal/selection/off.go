package selection

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/smallfile"
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
	file     string
	problems *problems.List
	changed  func() // other hooks may count now
	state    atomic.Pointer[offState]
}

func (o *OffSwitch) readFile() {
	b, err := smallfile.Read(o.file, 4<<10)
	if err != nil {
		return
	}
	var s offState
	if json.Unmarshal(b, &s) == nil {
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
			_ = os.Remove(o.file)
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
	b, _ := json.Marshal(s)
	if err := os.WriteFile(o.file, b, 0o600); err != nil {
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
	if err := os.Remove(o.file); err != nil && !os.IsNotExist(err) {
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
