package hub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// offState says that everything is answered neutrally. It is kept on disk: a
// hub that comes back must not switch guards on behind the person's back, nor
// stay off longer than asked.
type offState struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: until switched on
}

func (h *Hub) offFile() string { return filepath.Join(h.deps.Dirs.State, "off.json") }

func (h *Hub) loadOff() {
	b, err := os.ReadFile(h.offFile())
	if err != nil {
		return
	}
	var s offState
	if json.Unmarshal(b, &s) == nil {
		h.off.Store(&s)
	}
}

func (h *Hub) isOff() bool {
	s := h.off.Load()
	if s == nil {
		return false
	}
	if !s.Until.IsZero() && time.Now().After(s.Until) {
		if h.off.CompareAndSwap(s, nil) {
			_ = os.Remove(h.offFile())
		}
		return false
	}
	return true
}

func (h *Hub) switchOff(span time.Duration) *wire.Off {
	s := &offState{Since: time.Now()}
	if span > 0 {
		s.Until = s.Since.Add(span)
	}
	h.off.Store(s) // at once, whatever the disk says
	h.modules.NoteChange()
	b, _ := json.Marshal(s)
	if err := os.WriteFile(h.offFile(), b, 0o600); err != nil {
		h.deps.Problems.Raise("off", "hookmux is off, but that could not be written down: "+err.Error(), "it will be on again when the hub restarts")
	}
	return h.offInfo()
}

func (h *Hub) switchOn() error {
	h.off.Store(nil)
	h.modules.NoteChange()
	h.deps.Problems.Mend("off")
	if err := os.Remove(h.offFile()); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (h *Hub) offInfo() *wire.Off {
	if !h.isOff() {
		return nil
	}
	s := h.off.Load()
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
