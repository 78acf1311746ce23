package handler

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/redact"
)

// Builtins are handlers that run inside the hub, by name. Go programs that
// embed hookmux add their own with [Builtins.Register].
type Builtins struct {
	mu      sync.RWMutex
	entries map[string]builtin
}

type builtin struct {
	description string
	alias       string // of which other name; empty for the name itself
	run         Func
}

// NewBuiltins offers the shipped built-ins: log, trace and session-capture.
// It uses StateDir, Report and Redact of deps.
func NewBuiltins(deps Deps) *Builtins {
	if deps.Report == nil {
		deps.Report = func(string, string) {}
	}
	if deps.Redact == nil {
		limits := redact.Limits{String: -1, Output: -1} // the log promises the whole payload
		deps.Redact = func(dst, src []byte) []byte {
			out, _ := redact.AppendJSON(dst, src, limits)
			return out
		}
	}
	b := &Builtins{entries: make(map[string]builtin)}
	capture := sessionCapture(deps)
	b.entries["log"] = builtin{description: "appends the whole event, secrets taken out, to " + hookLogName + " in the state directory", run: logEvent(deps)}
	b.entries["trace"] = builtin{description: "shows one line per event in `hookmux watch` and the hub's log", run: trace(deps)}
	b.entries["session-capture"] = builtin{description: "appends session id, cwd, transcript and title to " + sessionsName + " in the state directory", run: capture}
	b.entries["claude.session-capture"] = builtin{description: "another name of session-capture", alias: "session-capture", run: capture}
	return b
}

// Register adds a built-in. A name is taken once: a second registration would
// silently change what users' hooks do.
func (b *Builtins) Register(name, description string, run Func) error {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("builtin %q: a name has no blanks or control characters and is not empty", name)
	}
	if run == nil {
		return fmt.Errorf("builtin %s: no function to run", name)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, taken := b.entries[name]; taken {
		return fmt.Errorf("builtin %s: the name is taken; choose another", name)
	}
	if b.entries == nil {
		b.entries = make(map[string]builtin)
	}
	b.entries[name] = builtin{description: description, run: run}
	return nil
}

// Names lists the built-ins in order, aliases left out.
func (b *Builtins) Names() []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	names := make([]string, 0, len(b.entries))
	for name, entry := range b.entries {
		if entry.alias == "" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Describe says in one line what a built-in does; empty for an unknown one.
func (b *Builtins) Describe(name string) string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.entries[name].description
}

func (b *Builtins) find(name string) (hook.Handler, error) {
	b.mu.RLock()
	entry, ok := b.entries[name]
	b.mu.RUnlock()
	if !ok {
		known := strings.Join(b.Names(), ", ")
		if known == "" {
			return nil, errors.New("builtin " + name + " is unknown; there are none")
		}
		return nil, fmt.Errorf("builtin %q is unknown; there are %s", name, known)
	}
	return hook.HandlerFunc(entry.run), nil
}

// Shipped reports whether r names one of the built-ins that come with hookmux,
// which are quick and cannot hang.
func Shipped(r hook.Registration) bool {
	if r.Handler != "builtin" {
		return false
	}
	switch r.Target {
	case "log", "trace", "session-capture", "claude.session-capture":
		return true
	}
	return false
}
