package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// target is a place in a file where hooks of one shape stand.
type target struct {
	path   string
	format edit.Format
	at     []string
	spec   *agent.InstallSpec

	// The last text that was read: it is looked at several times in a row.
	text   []byte
	parsed edit.Reader
	found  []*slot
	looked bool
}

// target is the one for a place; the same again as long as nothing about it
// changed, because several plans look at the same text.
func (h *Host) target(path string, place agent.InstallPlace, spec *agent.InstallSpec) (*target, error) {
	key := path + "\x00" + place.At
	if t := h.targets[key]; t != nil && t.spec == spec {
		return t, nil
	}
	t, err := newTarget(path, place, spec)
	if err == nil {
		if h.targets == nil {
			h.targets = map[string]*target{}
		}
		h.targets[key] = t
	}
	return t, err
}

func newTarget(path string, place agent.InstallPlace, spec *agent.InstallSpec) (*target, error) {
	f, err := edit.For(place.Format)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &target{path: path, format: f, spec: spec}
	if place.At != "" {
		t.at = strings.Split(place.At, ".")
	}
	return t, nil
}

// slot is a handler that was found.
type slot struct {
	list    []string // the list that holds it, or holds the group it is in
	path    []string // the handler itself
	group   []string // the element of list: the group, or the handler itself
	alone   bool     // nothing but this handler is in its group
	event   string   // the event it stands under
	handler map[string]json.RawMessage
	command Command
	ours    bool
	text    string // its command, for people
	line    int
}

func (s *slot) mentionsUs() bool { return !s.ours && mentionsHookmux(s.text) }

func join(path []string, more ...string) []string {
	return append(slices.Clone(path), more...)
}

func keysOf(r edit.Reader, path []string) []string {
	var keys []string
	for _, k := range r.Keys(path...) {
		if !slices.Contains(keys, k) { // of two the last one counts
			keys = append(keys, k)
		}
	}
	return keys
}

// each visits every list of handlers or groups: the list and the event it is
// for, which is empty where the handlers say it themselves.
func (t *target) each(r edit.Reader, do func(list []string, event string)) {
	switch t.spec.Shape {
	case agent.ShapeNested, agent.ShapeFlat:
		for _, event := range keysOf(r, t.at) {
			do(join(t.at, event), event)
		}
	case agent.ShapeList:
		do(t.at, "")
	case agent.ShapeNamed:
		for i := range max(0, r.Len(t.at...)) {
			hooks := join(t.at, strconv.Itoa(i), "hooks")
			for _, event := range keysOf(r, hooks) {
				do(join(hooks, event), event)
			}
		}
	}
}

// slots finds all handlers, in order.
func (t *target) slots(r edit.Reader) []*slot {
	if r != t.parsed {
		return t.findSlots(r)
	}
	if !t.looked {
		t.found, t.looked = t.findSlots(r), true
	}
	return t.found
}

func (t *target) findSlots(r edit.Reader) []*slot {
	var out []*slot
	t.each(r, func(list []string, event string) {
		for i := range max(0, r.Len(list...)) {
			element := join(list, strconv.Itoa(i))
			if t.spec.Shape != agent.ShapeNested {
				out = t.slot(out, r, list, element, element, event, true)
				continue
			}
			inner := join(element, "hooks")
			n := max(0, r.Len(inner...))
			for h := range n {
				out = t.slot(out, r, list, join(inner, strconv.Itoa(h)), element, event, n == 1)
			}
		}
	})
	return out
}

func (t *target) slot(out []*slot, r edit.Reader, list, path, group []string, event string, alone bool) []*slot {
	s := &slot{list: list, path: path, group: group, alone: alone, event: event}
	if r.Decode(&s.handler, path...) != nil || s.handler == nil {
		return out
	}
	h := t.spec.Handler
	text := func(key string) string {
		var v string
		_ = json.Unmarshal(s.handler[key], &v) // anything else is no text
		return v
	}
	if t.spec.Shape == agent.ShapeList {
		s.event = text(h.Event)
	}
	s.text = text(h.Command)
	var args []string
	if json.Unmarshal(s.handler[argsKey(h)], &args) == nil && args != nil {
		s.command, s.ours = ReadWords(s.text, args)
		s.text = strings.Join(append([]string{s.text}, args...), " ")
	} else {
		s.command, s.ours = ReadLine(s.text)
	}
	if at, ok := r.Where(path...); ok {
		s.line = at.Line
	}
	return append(out, s)
}

// argsKey is where the words of a command stand. They are looked for in agents
// that get a line as well: an older hookmux may have written them there.
func argsKey(h agent.HandlerSpec) string {
	if h.Args != "" {
		return h.Args
	}
	return "args"
}

// used reports whether any hooks stand here.
func (t *target) used(r edit.Reader) bool { return len(t.slots(r)) > 0 }

// isFor reports whether a slot is ours and meant for this agent.
func isFor(s *slot, a *agent.Agent) bool {
	return s.ours && (s.command.Agent == a.Name || slices.Contains(a.Aliases, s.command.Agent))
}

// check says what is in the way of adding hooks, with its line.
func (t *target) check(r edit.Reader, events []string) error {
	wrong := func(path []string, is string) error {
		where, _ := r.Where(path...)
		return fmt.Errorf("line %d: %s should be %s", max(1, where.Line), strings.Join(path, "."), is)
	}
	for n := range len(t.at) + 1 {
		path := t.at[:n]
		raw := r.Raw(path...)
		if n > 0 && string(raw) == "null" && t.format == edit.JSON {
			return wrong(path, "a table of names or a list, and not null")
		}
		if raw == nil || string(raw) == "null" {
			return nil
		}
		last := n == len(t.at) && (t.spec.Shape == agent.ShapeList || t.spec.Shape == agent.ShapeNamed)
		switch {
		case last && r.Len(path...) < 0:
			return wrong(path, "a list")
		case !last && raw[0] != '{' && n > 0:
			return wrong(path, "a table of names")
		case !last && raw[0] != '{':
			return fmt.Errorf("line 1: the file should hold a table of names")
		}
	}
	if t.spec.Shape == agent.ShapeNested || t.spec.Shape == agent.ShapeFlat {
		for _, event := range events {
			path := join(t.at, event)
			if r.Raw(path...) != nil && r.Len(path...) < 0 {
				return wrong(path, "a list")
			}
		}
	}
	return nil
}
