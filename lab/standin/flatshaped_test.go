//go:build unix

package standin

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// flatShaped are the rules of a vendor whose events hold their handlers at once, without groups around them.
type flatShaped struct {
	needs   []string      // members that must not be missing beside hooks
	kind    string        // the type a handler must have; empty: it has none
	command []string      // keys of the command for this system, best first
	events  []string      // events the vendor knows; others are passed over
	limit   time.Duration // how long it waits where no timeout is written
	timed   bool          // a handler may say how long, in seconds
	env     func(w *world) []string
}

func (c *flatShaped) load(w *world, _ string, text []byte) ([]entry, error) {
	var top map[string]json.RawMessage
	var events map[string][]map[string]json.RawMessage
	if err := json.Unmarshal(text, &top); err != nil {
		return nil, err
	}
	for _, key := range c.needs {
		if top[key] == nil {
			return nil, fmt.Errorf("%s is missing", key)
		}
	}
	if raw := top["hooks"]; raw != nil {
		if err := json.Unmarshal(raw, &events); err != nil {
			return nil, fmt.Errorf("hooks: %w", err)
		}
	}
	var out []entry
	for event, handlers := range events {
		for _, h := range handlers {
			e, err := c.loadHandler(w, event, h)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", event, err)
			}
			if slices.Contains(c.events, event) {
				out = append(out, *e)
			}
		}
	}
	return out, nil
}

func (c *flatShaped) loadHandler(w *world, event string, h map[string]json.RawMessage) (*entry, error) {
	e := entry{event: event, limit: c.limit}
	var kind, command string
	if h["type"] != nil && json.Unmarshal(h["type"], &kind) != nil || kind != c.kind {
		return nil, fmt.Errorf("type is %s, want %q", h["type"], c.kind)
	}
	for _, key := range c.command {
		if command == "" && h[key] != nil && json.Unmarshal(h[key], &command) != nil {
			return nil, fmt.Errorf("%s is %s, want text", key, h[key])
		}
	}
	if command == "" {
		return nil, fmt.Errorf("a handler without a command")
	}
	if c.timed && h["timeout"] != nil {
		var n float64
		if json.Unmarshal(h["timeout"], &n) != nil || n <= 0 {
			return nil, fmt.Errorf("timeout is %s, want seconds", h["timeout"])
		}
		e.limit = time.Duration(n * float64(time.Second))
	}
	e.argv = shell(command)
	if c.env != nil {
		e.env = c.env(w)
	}
	return &e, nil
}
