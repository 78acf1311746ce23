package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// Builtins are named handlers that run inside a program, for registrations with
// handler "builtin". The daemon has its own set (log, trace, session-capture); a
// Go program makes one, registers its functions, and turns registrations into
// entries with [Builtins.Entries].
type Builtins struct {
	mu      sync.RWMutex
	entries map[string]builtin
}

type builtin struct {
	description string
	alias       string // of which other name; empty for the name itself
	run         Handler
}

// Register adds a built-in. Each name can be used once: a second registration
// would silently change what existing hooks do.
func (b *Builtins) Register(name, description string, run Handler) error {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("builtin %q: a name has no blanks or control characters and is not empty", name)
	}
	if run == nil {
		return fmt.Errorf("builtin %s: no function to run", name)
	}
	return b.putHandler(name, builtin{description: description, run: run})
}

// Alias gives a built-in another name.
func (b *Builtins) Alias(name, of string) error {
	b.mu.RLock()
	entry, ok := b.entries[of]
	b.mu.RUnlock()
	if !ok {
		return fmt.Errorf("builtin %s: there is no %s to be another name of", name, of)
	}
	return b.putHandler(name, builtin{description: "another name of " + of, alias: of, run: entry.run})
}

func (b *Builtins) putHandler(name string, entry builtin) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, taken := b.entries[name]; taken {
		return fmt.Errorf("builtin %s: the name is taken; choose another", name)
	}
	if b.entries == nil {
		b.entries = make(map[string]builtin)
	}
	b.entries[name] = entry
	return nil
}

// Names lists the built-ins in order, other names left out.
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

// Find returns the handler of a name. An unknown one is an error, never a hook that
// silently allows.
func (b *Builtins) Find(name string) (Handler, error) {
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
	return entry.run, nil
}

// Entries makes registrations ready to be dispatched, in the order they run.
// Those with another handler than builtin are passed over: their processes are
// the daemon's business.
func (b *Builtins) Entries(regs []Registration) ([]*Entry, error) {
	var entries []*Entry
	for _, r := range regs {
		if r.Handler != "builtin" {
			continue
		}
		run, err := b.Find(r.Target)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.ID, err)
		}
		e, err := NewEntry(r, run, "")
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	Sort(entries)
	return entries, nil
}

// ReadFile reads a hooks.json: JSON with comments, {"version": 1, "hooks":
// […]}. Every registration in it is checked.
func ReadFile(path string) ([]Registration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	plain, err := hujson.Standardize(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var file struct {
		Version int            `json:"version"`
		Hooks   []Registration `json:"hooks"`
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.Version > 1 {
		return nil, fmt.Errorf("%s: version %d is newer than this program knows", path, file.Version)
	}
	for i := range file.Hooks {
		if err := file.Hooks[i].Check(nil, nil); err != nil {
			return nil, fmt.Errorf("%s: hook %d: %w", path, i+1, err)
		}
	}
	return file.Hooks, nil
}
