package hookentry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// Target is a place in a file that holds hooks of one shape.
type Target struct {
	Path   string
	Format edit.Format
	At     []string
	Spec   *agent.InstallSpec
	with   map[string]any // members that are required next to the hooks

	// The last text that was read: it is looked at several times in a row.
	text   []byte
	parsed edit.Reader
	found  []*Handler
	looked bool
}

func NewTarget(path string, place agent.InstallPlace, spec *agent.InstallSpec) (*Target, error) {
	f, err := edit.For(place.Format)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &Target{Path: path, Format: f, Spec: spec, with: place.With}
	if place.At != "" {
		t.At = strings.Split(place.At, ".")
	}
	return t, nil
}

// Handler is a handler that was found.
type Handler struct {
	list    []string // the list that holds it, or holds the group it is in
	Path    []string // the handler itself
	Group   []string // the element of list: the group, or the handler itself
	alone   bool     // nothing but this handler is in its group
	Event   string   // the event it is listed under
	Members map[string]json.RawMessage
	Command Command
	ours    bool
	Text    string // its command, for display
	Line    int
}

func (s *Handler) MentionsUs() bool { return !s.ours && MentionsHookmux(s.Text) }

func Join(path []string, more ...string) []string {
	return append(slices.Clone(path), more...)
}

func KeysOf(r edit.Reader, path []string) []string {
	var keys []string
	for _, k := range r.Keys(path...) {
		if !slices.Contains(keys, k) { // of two the last one is used
			keys = append(keys, k)
		}
	}
	return keys
}

// each visits every list of handlers or groups: the list and the event it is for, which is empty if
// the handlers name it themselves.
func (t *Target) each(r edit.Reader, do func(list []string, event string)) {
	switch t.Spec.Shape {
	case agent.ShapeNested, agent.ShapeFlat:
		for _, key := range KeysOf(r, t.At) {
			event := key
			if meant, ok := t.Spec.Spellings[key]; ok {
				event = meant
			}
			do(Join(t.At, key), event)
		}
	case agent.ShapeList:
		do(t.At, "")
	case agent.ShapeNamed:
		for i := range max(0, r.Len(t.At...)) {
			hooks := Join(t.At, strconv.Itoa(i), "hooks")
			for _, event := range KeysOf(r, hooks) {
				do(Join(hooks, event), event)
			}
		}
	case agent.ShapeEvents:
		for i := range max(0, r.Len(t.At...)) {
			do(t.commandsIn(i), t.eventNamed(r, i))
		}
	}
}

// inGroups reports whether an event's handlers are in groups.
func (t *Target) inGroups(event string) bool {
	return t.Spec.Shape == agent.ShapeNested && !slices.Contains(t.Spec.Flat, event)
}

// listOf returns the list for an event, spelled as in the text.
func (t *Target) listOf(r edit.Reader, event string) []string {
	for key, meant := range t.Spec.Spellings {
		if path := Join(t.At, key); meant == event && r.Raw(path...) != nil {
			return path
		}
	}
	return Join(t.At, event)
}

// Handlers finds all handlers, in order.
func (t *Target) Handlers(r edit.Reader) []*Handler {
	if r != t.parsed {
		return t.findSlots(r)
	}
	if !t.looked {
		t.found, t.looked = t.findSlots(r), true
	}
	return t.found
}

func (t *Target) findSlots(r edit.Reader) []*Handler {
	var out []*Handler
	t.each(r, func(list []string, event string) {
		for i := range max(0, r.Len(list...)) {
			element := Join(list, strconv.Itoa(i))
			if !t.inGroups(event) {
				out = t.appendHandler(out, r, &Handler{list: list, Path: element, Group: element, alone: true,
					Event: event})
				continue
			}
			inner := Join(element, "hooks")
			n := max(0, r.Len(inner...))
			for h := range n {
				path := Join(inner, strconv.Itoa(h))
				out = t.appendHandler(out, r, &Handler{list: list, Path: path, Group: element, alone: n == 1,
					Event: event})
			}
		}
	})
	return out
}

// appendHandler reads the value at the handler's path and appends it, if it is a handler.
func (t *Target) appendHandler(out []*Handler, r edit.Reader, s *Handler) []*Handler {
	if r.Decode(&s.Members, s.Path...) != nil || s.Members == nil {
		return out
	}
	h := t.Spec.Handler
	command := s.Members
	if h.Inside != "" {
		command = nil
		_ = json.Unmarshal(s.Members[h.Inside], &command) // anything else holds no command
	}
	text := func(from map[string]json.RawMessage, key string) string {
		var v string
		_ = json.Unmarshal(from[key], &v) // anything else is not text
		return v
	}
	if t.Spec.Shape == agent.ShapeList {
		s.Event = text(s.Members, h.Event)
	}
	s.Text = text(command, h.Command)
	var args []string
	if json.Unmarshal(command[argsKey(h)], &args) == nil && args != nil {
		s.Command, s.ours = ReadWords(s.Text, args)
		s.Text = strings.Join(append([]string{s.Text}, args...), " ")
	} else {
		s.Command, s.ours = ReadLine(s.Text)
	}
	if at, ok := r.Where(s.Path...); ok {
		s.Line = at.Line
	}
	return append(out, s)
}

// argsKey returns the key of a command's arguments. They are also looked for in agents that
// take a single line: an older hookmux may have written them there.
func argsKey(h agent.HandlerSpec) string {
	if h.Args != "" {
		return h.Args
	}
	return "args"
}

// CommandsIn returns our commands in a text; none if it can't be read.
func (t *Target) CommandsIn(src []byte) (out []Command) {
	r, err := t.ParseText(src)
	if err != nil {
		return nil
	}
	for _, s := range t.Handlers(r) {
		if s.ours && s.Event == s.Command.Event {
			out = append(out, s.Command)
		}
	}
	return out
}

// IsFor reports whether a handler is ours and for this agent.
func IsFor(s *Handler, a *agent.Agent) bool {
	return s.ours && (s.Command.Agent == a.Name || slices.Contains(a.Aliases, s.Command.Agent))
}

// check returns what prevents adding hooks, with its line.
func (t *Target) check(r edit.Reader, events []string) error {
	wrong := func(path []string, is string) error {
		where, _ := r.Where(path...)
		return fmt.Errorf("line %d: %s should be %s", max(1, where.Line), strings.Join(path, "."), is)
	}
	for n := range len(t.At) + 1 {
		path := t.At[:n]
		raw := r.Raw(path...)
		if n > 0 && string(raw) == "null" && t.Format == edit.JSON {
			return wrong(path, "a table of names or a list, and not null")
		}
		if raw == nil || string(raw) == "null" {
			return nil
		}
		last := n == len(t.At) && t.Spec.Shape != agent.ShapeNested && t.Spec.Shape != agent.ShapeFlat
		switch {
		case last && r.Len(path...) < 0:
			return wrong(path, "a list")
		case !last && raw[0] != '{' && n > 0:
			return wrong(path, "a table of names")
		case !last && raw[0] != '{':
			return fmt.Errorf("line 1: the file should contain a table of names")
		}
	}
	if t.Spec.Shape == agent.ShapeNested || t.Spec.Shape == agent.ShapeFlat {
		for _, event := range events {
			path := t.listOf(r, event)
			if r.Raw(path...) != nil && r.Len(path...) < 0 {
				return wrong(path, "a list")
			}
		}
	}
	for _, event := range events {
		i := t.eventElement(r, event)
		if i < 0 {
			continue
		}
		path := t.commandsIn(i)
		if raw := r.Raw(path...); raw != nil && string(raw) != "null" && r.Len(path...) < 0 {
			return wrong(path, "a list")
		}
	}
	return nil
}
