package registry

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// Change describes what a writer did to a file, byte by byte, so that trust can follow
// exactly that.
type Change struct {
	File          string
	Before, After []byte // Before is nil when there was no file
	Hook          hook.Registration
	Waits         bool // other changes of the file wait to be accepted
}

// GlobalFile returns where the user's own hooks are.
func (r *Registry) GlobalFile() string { return r.opt.GlobalFile }

// NewID makes an id for a hook that was given none.
func NewID(agent, hookType string) string {
	name := func(s string) string {
		if s == hook.Any || s == "" {
			return "any"
		}
		return s
	}
	n, err := rand.Int(rand.Reader, big.NewInt(36*36*36*36))
	if err != nil {
		n = big.NewInt(int64(os.Getpid()))
	}
	return fmt.Sprintf("%s.%s.%s%04s", name(agent), name(hookType), strconv.FormatInt(time.Now().UnixMilli(), 36),
		n.Text(36))
}

// Add puts a new hook at the end of a file; without an id it is given one.
func (r *Registry) Add(file string, reg hook.Registration) (Change, error) {
	return r.changeFile(file, func(old []byte, hooks []Parsed) ([]byte, hook.Registration, error) {
		if reg.ID == "" {
			reg.ID = NewID(reg.Agent, reg.HookType)
		}
		if err := r.check(reg); err != nil {
			return nil, reg, err
		}
		if i := indexOf(hooks, reg.ID); i >= 0 {
			return nil, reg, fmt.Errorf("%s:%d: hook %q is there already; change it with `hookmux hooks %s set %s`",
				file, hooks[i].Line, reg.ID, shellquote.Word(hooks[i].Agent), shellquote.Word(reg.ID))
		}
		fresh, err := putHook(old, hooks, reg)
		return fresh, reg, err
	})
}

// Put adds a hook or, when its id is there, replaces it: what importing the
// same hooks again needs.
func (r *Registry) Put(file string, reg hook.Registration) (Change, error) {
	return r.changeFile(file, func(old []byte, hooks []Parsed) ([]byte, hook.Registration, error) {
		if err := r.check(reg); err != nil {
			return nil, reg, err
		}
		fresh, err := putHook(old, hooks, reg)
		return fresh, reg, err
	})
}

// Set changes one hook. Only the keys that differ afterwards are touched.
func (r *Registry) Set(file, id string, patch func(*hook.Registration) error) (Change, error) {
	return r.changeFile(file, func(old []byte, hooks []Parsed) ([]byte, hook.Registration, error) {
		i := indexOf(hooks, id)
		if i < 0 {
			return nil, hook.Registration{}, errNoHook(file, id)
		}
		reg := copied(hooks[i].Registration)
		if err := patch(&reg); err != nil {
			return nil, reg, err
		}
		if err := r.check(reg); err != nil {
			return nil, reg, err
		}
		if reg.ID != id && indexOf(hooks, reg.ID) >= 0 {
			return nil, reg, fmt.Errorf("%s: hook %q is there already; choose another id", file, reg.ID)
		}
		fresh, err := patchAt(old, i, hooks[i].Registration, reg)
		return fresh, reg, err
	})
}

// Remove takes one hook out.
func (r *Registry) Remove(file, id string) (Change, error) {
	return r.changeFile(file, func(old []byte, hooks []Parsed) ([]byte, hook.Registration, error) {
		i := indexOf(hooks, id)
		if i < 0 {
			return nil, hook.Registration{}, errNoHook(file, id)
		}
		fresh, err := edit.RemoveFromArray(old, []string{"hooks"}, i)
		return fresh, hooks[i].Registration, err
	})
}

// List returns the hooks in one file, as they're written there.
func (r *Registry) List(file string) ([]Parsed, []Problem) {
	data, err := userfile.ReadFile(file, maxFile)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, []Problem{{File: file, Text: err.Error()}}
	}
	list, problems := Parse(data, r.opt.Known)
	for i := range problems {
		problems[i].File = file
	}
	return list, problems
}

func errNoHook(file, id string) error {
	return fmt.Errorf("%s: no hook %q; `hookmux hooks list` shows them", file, id)
}

func (r *Registry) check(reg hook.Registration) error {
	return reg.Check(r.opt.Known.Agent, r.opt.Known.Type)
}

func indexOf(hooks []Parsed, id string) int {
	return slices.IndexFunc(hooks, func(p Parsed) bool { return p.ID == id })
}

// changeFile reads, checks and writes a file under its lock. A file with mistakes isn't
// touched: indexes would be wrong, and its author wants to see the mistakes.
func (r *Registry) changeFile(file string,
	fn func(old []byte, hooks []Parsed) ([]byte, hook.Registration, error)) (Change, error) {
	done := Change{File: file}
	var undo func()
	if file != r.opt.GlobalFile { // a project's folder is shared with its readers
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return done, err
		}
	}
	err := userfile.WriteFile(file, func(old []byte) ([]byte, error) {
		hooks, problems := Parse(old, r.opt.Known)
		if len(problems) > 0 {
			p := problems[0]
			p.File, p.Text = file, p.Text+"; correct it first"
			return nil, p
		}
		fresh, reg, err := fn(old, hooks)
		if err != nil {
			return nil, err
		}
		done.Before, done.After, done.Hook = bytes.Clone(old), bytes.Clone(fresh), reg
		// Under the file's lock, so that of several writers the last one's
		// text is the last good one.
		undo = r.keepWritten(file, done.After)
		return fresh, nil
	})
	if err != nil && undo != nil {
		undo()
	}
	if err == nil && file == r.opt.GlobalFile && r.global.accepted != nil {
		done.Waits, err = r.global.accepted.FollowWrite(done.Before, done.After, func(old []byte) ([]byte, error) {
			return r.changeText(file, old, fn)
		})
	}
	return done, err
}

// changeText makes a change to a text of hooks.
func (r *Registry) changeText(file string, old []byte,
	fn func(old []byte, hooks []Parsed) ([]byte, hook.Registration, error)) ([]byte, error) {
	hooks, problems := Parse(old, r.opt.Known)
	if len(problems) > 0 {
		p := problems[0]
		p.File, p.Text = file, p.Text+"; correct it first"
		return nil, p
	}
	fresh, _, err := fn(old, hooks)
	return fresh, err
}

// keepWritten keeps an edit as the last good version without waiting for the next
// reading: a guard that was just added must survive a file that is broken
// before the next event. undo is for an edit that could not be written.
func (r *Registry) keepWritten(path string, data []byte) (undo func()) {
	if _, problems := Parse(data, r.opt.Known); len(problems) > 0 {
		return nil // reading it will say so
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.global
	if path != r.opt.GlobalFile {
		if f = r.files[path]; f == nil {
			f = r.newFile(path, path, Project)
		}
	}
	f.good.Read(maxFile)
	before := f.good.Text
	f.keep(data)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if before != nil {
			f.keep(before)
			return
		}
		f.good.Drop()
	}
}

func putHook(old []byte, hooks []Parsed, reg hook.Registration) ([]byte, error) {
	if i := indexOf(hooks, reg.ID); i >= 0 {
		return patchAt(old, i, hooks[i].Registration, reg)
	}
	if len(bytes.TrimSpace(old)) == 0 {
		var err error
		if old, err = edit.Set(old, []string{"version"}, version); err != nil {
			return nil, err
		}
	}
	return edit.AppendToArray(old, []string{"hooks"}, reg)
}

// patchAt changes the keys of element i in which the two registrations differ.
func patchAt(old []byte, i int, was, is hook.Registration) ([]byte, error) {
	before, after := asMap(was), asMap(is)
	at := []string{"hooks", strconv.Itoa(i)}
	var err error
	for _, key := range jsonKeys(is) {
		if bytes.Equal(before[key], after[key]) {
			continue
		}
		if old, err = edit.Set(old, append(slices.Clone(at), key), after[key]); err != nil {
			return nil, err
		}
	}
	for key := range before {
		if _, still := after[key]; still {
			continue
		}
		if old, err = edit.Remove(old, append(slices.Clone(at), key)); err != nil {
			return nil, err
		}
	}
	return old, nil
}

func asMap(reg hook.Registration) map[string]json.RawMessage {
	b, _ := jsonx.Marshal(reg) // a registration always can be written
	m := map[string]json.RawMessage{}
	_ = json.Unmarshal(b, &m)
	return m
}

// jsonKeys returns the keys a registration is written with, in order.
func jsonKeys(reg hook.Registration) []string {
	m := asMap(reg)
	var keys []string
	for _, key := range registrationFields() {
		if _, ok := m[key]; ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// copied shares nothing with the original.
func copied(reg hook.Registration) hook.Registration {
	if reg.Priority != nil {
		p := *reg.Priority
		reg.Priority = &p
	}
	if reg.Enabled != nil {
		e := *reg.Enabled
		reg.Enabled = &e
	}
	if reg.Match != nil {
		m := *reg.Match
		reg.Match = &m
	}
	reg.SkipAgents = slices.Clone(reg.SkipAgents)
	return reg
}
