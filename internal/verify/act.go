package verify

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/verify/model"
)

// Act is one launch of an agent.
type Act struct {
	Name string
	What string // in a person's words, for the progress
	// Raw acts need no hookmux: they are for agents beyond the catalogue.
	Raw bool
	// Play brings the stage to life and returns when the agent has ended. What
	// it cannot do with this agent it says by unplayable.
	Play func(ctx context.Context, st *Stage) error
}

// unplayable is the error of an act that an agent has no use for.
type unplayable string

func (u unplayable) Error() string { return string(u) }

var registry = struct {
	sync.Mutex
	acts   map[string]Act
	checks []Check
}{acts: map[string]Act{}}

// RegisterAct adds an act, or replaces one of the same name.
func RegisterAct(a Act) {
	registry.Lock()
	defer registry.Unlock()
	registry.acts[a.Name] = a
}

func actNamed(name string) (Act, bool) {
	builtins()
	registry.Lock()
	defer registry.Unlock()
	a, ok := registry.acts[name]
	return a, ok
}

// Acts lists the names of all acts.
func Acts() []string {
	builtins()
	registry.Lock()
	defer registry.Unlock()
	var names []string
	for n := range registry.acts {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

var builtinsOnce sync.Once

// builtins registers what comes with hookmux, once, at first use.
func builtins() {
	builtinsOnce.Do(func() {
		for _, a := range builtinActs() {
			RegisterAct(a)
		}
		for _, c := range builtinChecks() {
			Register(c)
		}
	})
}

// play runs one act of one agent.
func play(ctx context.Context, s *setting, a Act, keep bool) *Evidence {
	began := time.Now()
	st, err := newStage(s, a.Name)
	if err != nil {
		return &Evidence{Act: a.Name, Err: err, Took: time.Since(began)}
	}
	defer func() {
		st.stopHub()
		if !keep {
			removeAll(st.Base)
		}
	}()
	err = a.Play(ctx, st)
	var cannot unplayable
	if u, ok := err.(unplayable); ok {
		cannot, err = u, nil
	}
	e := st.finish(err, began)
	e.Missing = string(cannot)
	if keep {
		if kerr := e.write(st); kerr != nil && e.Err == nil {
			e.Err = fmt.Errorf("the evidence cannot be kept: %w", kerr)
		}
	}
	return e
}

// prompt is what a person asks; the mark has the model play its script.
func prompt(words string) string { return words + " " + model.Mark("") }
