//go:build unix

package standin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// claudeShaped are the rules of a vendor that took over Claude Code's form of hooks: groups with a matcher below each
// event, handlers of type command, a line for a shell, JSON on stdin.
type claudeShaped struct {
	at       string                   // the member of the file that holds the events; empty: its top level
	events   []string                 // events the vendor knows; others are passed over, or break the file when strict
	strict   bool                     // one member or event that is not known, and the vendor loads nothing
	types    []string                 // types of handlers besides command
	handler  []string                 // members of a handler besides type, command and timeout
	group    []string                 // members of a group besides matcher and hooks
	unit     time.Duration            // of timeout
	limits   map[string]time.Duration // how long it waits where no timeout is written; "" is for all other events
	max      time.Duration            // longest timeout it takes; zero: none
	env      func(w *world, file string) []string
	dir      func(w *world, file string) string
	top      []string // members that must not be missing beside At
	anchored bool     // a matcher must fit the whole name
	untyped  bool     // a handler without a type is a command
}

// load reads a file by the rules.
func (c *claudeShaped) load(w *world, file string, text []byte) ([]entry, error) {
	var top map[string]json.RawMessage
	if len(text) > 0 {
		if err := strictJSON(text, &top); err != nil {
			return nil, err
		}
	}
	for _, key := range c.top {
		if top[key] == nil {
			return nil, fmt.Errorf("%s is missing", key)
		}
	}
	events := top
	if c.at != "" {
		events = nil
		if raw := top[c.at]; raw != nil {
			if err := json.Unmarshal(raw, &events); err != nil {
				return nil, fmt.Errorf("%s: %w", c.at, err)
			}
		}
	}
	var out []entry
	for event, raw := range events {
		if !slices.Contains(c.events, event) {
			if c.strict {
				return nil, fmt.Errorf("%s is no event", event)
			}
			continue
		}
		var groups []map[string]json.RawMessage
		if err := json.Unmarshal(raw, &groups); err != nil {
			return nil, fmt.Errorf("%s: %w", event, err)
		}
		for _, group := range groups {
			one, err := c.loadGroup(w, file, event, group)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", event, err)
			}
			out = append(out, one...)
		}
	}
	return out, nil
}

func (c *claudeShaped) loadGroup(w *world, file, event string, group map[string]json.RawMessage) ([]entry, error) {
	var matcher string
	var handlers []map[string]json.RawMessage
	for key, raw := range group {
		var err error
		switch {
		case key == "matcher":
			err = json.Unmarshal(raw, &matcher)
		case key == "hooks":
			err = json.Unmarshal(raw, &handlers)
		case c.strict && !slices.Contains(c.group, key):
			err = fmt.Errorf("a group has no %s", key)
		}
		if err != nil {
			return nil, err
		}
	}
	if handlers == nil {
		return nil, fmt.Errorf("a group without hooks")
	}
	matches, err := c.matcher(matcher)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, h := range handlers {
		e, err := c.loadHandler(w, file, event, h)
		if err != nil {
			return nil, err
		}
		if e != nil {
			e.matches = matches
			out = append(out, *e)
		}
	}
	return out, nil
}

// matcher returns a regular expression; nothing and a star are for every tool.
func (c *claudeShaped) matcher(text string) (func(string) bool, error) {
	if text == "" || text == "*" {
		return nil, nil
	}
	if c.anchored {
		text = "^(?:" + text + ")$"
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return re.MatchString, nil
}

func (c *claudeShaped) loadHandler(w *world, file, event string, h map[string]json.RawMessage) (*entry, error) {
	var kind, command string
	e := entry{event: event, limit: c.limits[""]}
	if own, ok := c.limits[event]; ok {
		e.limit = own
	}
	for key, raw := range h {
		var err error
		switch {
		case key == "type":
			err = json.Unmarshal(raw, &kind)
		case key == "command":
			err = json.Unmarshal(raw, &command)
		case key == "timeout":
			var n float64
			if err = json.Unmarshal(raw, &n); err == nil {
				e.limit = time.Duration(n * float64(c.unit))
			}
		case c.strict && !slices.Contains(c.handler, key):
			err = fmt.Errorf("a handler has no %s", key)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	switch {
	case slices.Contains(c.types, kind):
		return nil, nil // not a command
	case kind != "command" && (kind != "" || !c.untyped):
		return nil, fmt.Errorf("type %q is not known", kind)
	case command == "":
		return nil, fmt.Errorf("a handler without a command")
	case e.limit <= 0 || c.max > 0 && e.limit > c.max:
		return nil, fmt.Errorf("a limit of %v", e.limit)
	}
	e.argv = shell(command)
	if c.env != nil {
		e.env = c.env(w, file)
	}
	if c.dir != nil {
		e.dir = c.dir(w, file)
	}
	return &e, nil
}

// claudeCall returns what Claude Code and those that took over its form tell before a shell command runs.
func claudeCall(event, tool, session string, more map[string]any) func(*world, string) call {
	return func(w *world, command string) call {
		payload := map[string]any{"session_id": session, "cwd": w.Project, "hook_event_name": event,
			"tool_name": tool, "tool_input": map[string]any{"command": command}}
		for k, v := range more {
			payload[k] = v
		}
		return call{event: event, tool: tool, payload: asJSON(payload)}
	}
}

// readClaude reads Claude's answer at PreToolUse: exit code 2 refuses with stderr, another code than 0 says nothing,
// JSON on stdout decides by hookSpecificOutput.permissionDecision. With named, the output must name its event.
func readClaude(named bool) func(entry, result) reading {
	return func(e entry, r result) reading {
		switch {
		case r.failed != nil:
			return reading{outcome: goesOn, why: r.failed.Error()}
		case r.Exit == 2:
			return reading{outcome: refused, why: r.Stderr}
		case r.Exit != 0:
			return reading{outcome: goesOn, why: r.Stderr}
		}
		var answer struct {
			Specific *struct {
				Event    string `json:"hookEventName"`
				Decision string `json:"permissionDecision"`
				Reason   string `json:"permissionDecisionReason"`
			} `json:"hookSpecificOutput"`
		}
		if json.Unmarshal([]byte(r.Stdout), &answer) != nil || answer.Specific == nil ||
			named && answer.Specific.Event != e.event {
			return reading{outcome: goesOn, why: r.Stdout}
		}
		switch answer.Specific.Decision {
		case "allow":
			return reading{approved, answer.Specific.Reason}
		case "deny":
			return reading{refused, answer.Specific.Reason}
		case "ask":
			return reading{asks, answer.Specific.Reason}
		}
		return reading{outcome: goesOn}
	}
}
