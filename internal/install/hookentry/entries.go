package hookentry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// Kept remembers how much of a path was there before we added to it, so that
// taking out leaves just that.
type Kept struct {
	Path  []string `json:"path"`
	Depth int      `json:"depth"`
}

func keptAt(all []Kept, path []string) int {
	for _, k := range all {
		if slices.Equal(k.Path, path) {
			return k.Depth
		}
	}
	return 0
}

func hasKept(all []Kept, path []string) bool {
	return slices.ContainsFunc(all, func(k Kept) bool { return slices.Equal(k.Path, path) })
}

// depthBefore returns how much of a path was there before we came: what we made
// ourselves at an earlier time does not count.
func depthBefore(kept []Kept, path []string, depth int) int {
	for _, k := range kept {
		made := k.Depth + 1 // the first step of k that is ours
		if depth >= made && len(k.Path) >= made && len(path) >= made && slices.Equal(k.Path[:made], path[:made]) {
			depth = k.Depth
		}
	}
	return depth
}

// member is a key with its value, as JSON; lists of them keep their order.
type member struct {
	Key   string
	Value json.RawMessage
}

func AsJSON(v any) json.RawMessage {
	b, _ := jsonx.Marshal(v) // strings, numbers and what YAML held: always can be
	return b
}

func writeObject(members []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, AsJSON(m.Key)...), ':'), m.Value...)
	}
	return append(b, '}')
}

func withMembers(with map[string]any) []member {
	var out []member
	for k, v := range with {
		out = append(out, member{k, AsJSON(v)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// Limit returns the time limit that is requested for an event, in whole seconds: the hook must
// never assume more time than the agent allows. 0 keeps the agent's own.
func Limit(a *agent.Agent, e *agent.EventSpec) int {
	limit := a.InstallTimeout(e.Name)
	if limit <= 0 || a.Install == nil || a.Install.Way != agent.WayPlugin && a.Install.Handler.Timeout == "" {
		return int(limit / time.Second)
	}
	for _, most := range []agent.Duration{e.MaxTimeout, a.Install.Handler.Max} {
		if most > 0 {
			limit = min(limit, time.Duration(most))
		}
	}
	return max(1, int(limit/time.Second))
}

// HandlerMembers returns what we write for a command, the event's name and matcher left to
// the shape.
func (t *Target) HandlerMembers(c Command) []member {
	h := t.Spec.Handler
	var out []member
	if h.Name != "" {
		out = append(out, member{h.Name, AsJSON(groupName + " " + c.Event)})
	}
	if t.Spec.Shape == agent.ShapeList {
		out = append(out, member{h.Event, AsJSON(c.Event)})
	}
	if m := t.Spec.Matcher; m.Needed && m.Key != "" && t.Spec.Shape != agent.ShapeNested {
		out = append(out, member{m.Key, AsJSON(m.All)})
	}
	if h.Inside != "" {
		out = append(out, member{h.Inside, writeObject(commandMembers(h, c))})
	} else {
		out = append(out, commandMembers(h, c)...)
	}
	if h.Timeout != "" && c.Seconds > 0 {
		n := c.Seconds
		if h.Unit == "ms" {
			n *= 1000
		}
		out = append(out, member{h.Timeout, AsJSON(n)})
	}
	if closed := t.Spec.Closed; closed != nil && c.Deny {
		out = append(out, member{closed.Key, AsJSON(closed.Value)})
	}
	return out
}

// commandMembers returns the command and the other members every handler has.
func commandMembers(h agent.HandlerSpec, c Command) []member {
	out := withMembers(h.With)
	switch {
	case h.Form == "exec" && h.Args != "":
		return append(out, member{h.Command, AsJSON(c.Program)}, member{h.Args, AsJSON(c.Args())})
	case h.Form == "words":
		return append(out, member{h.Command, AsJSON(c.Words())})
	}
	return append(out, member{h.Command, AsJSON(c.Line())})
}

// ListElement returns what is added to an event's list.
func (t *Target) ListElement(c Command) json.RawMessage {
	handler := writeObject(t.HandlerMembers(c))
	if !t.inGroups(c.Event) {
		return handler
	}
	var group []member
	if m := t.Spec.Matcher; m.Needed && m.Key != "" {
		group = append(group, member{m.Key, AsJSON(m.All)})
	}
	return writeObject(append(group, member{"hooks", json.RawMessage("[" + string(handler) + "]")}))
}

// groupName is the name of our own group where groups have names.
const groupName = "hookmux"

// WriteCommands changes a text so that it holds exactly these commands of the agent: missing
// ones are appended, so that no other hook changes its position; those already there stay
// where they are and are updated; others of ours are removed. What was added to is appended
// to kept.
func (t *Target) WriteCommands(src []byte, a *agent.Agent, want []Command, kept []Kept) ([]byte, []Kept, error) {
	for i, c := range want {
		r, err := t.ParseText(src)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			var events []string
			for _, c := range want {
				events = append(events, c.Event)
			}
			if err := t.check(r, events); err != nil {
				return nil, nil, err
			}
		}
		var found *Handler
		for _, s := range t.Handlers(r) {
			if found == nil && IsFor(s, a) && s.Event == c.Event {
				found = s
			}
		}
		if found != nil {
			src, kept, err = t.refreshEntry(src, r, found, c, kept)
		} else {
			src, kept, err = t.addEntry(src, r, c, kept)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	src, err := t.removeWhere(src, kept, func(s *Handler, seen map[string]bool) bool {
		if !IsFor(s, a) {
			return false
		}
		wanted := slices.ContainsFunc(want, func(c Command) bool { return c.Event == s.Event })
		again := seen[s.Event]
		seen[s.Event] = true
		return !wanted || again
	})
	if err != nil || len(want) == 0 {
		return src, kept, err
	}
	return t.addMembers(src, kept)
}

// refreshEntry updates an entry of ours in place, or moves it to a group of its own.
func (t *Target) refreshEntry(src []byte, r edit.Reader, s *Handler, c Command, kept []Kept) ([]byte, []Kept, error) {
	now, leave, err := t.widenEntry(src, r, s, c)
	if err != nil {
		return nil, nil, err
	}
	if !leave {
		now, err = t.updateHandler(now, s, c)
		return now, kept, err
	}
	if src, err = t.takeOutEntry(src, r, s, kept); err != nil {
		return nil, nil, err
	}
	if r, err = t.ParseText(src); err != nil {
		return nil, nil, err
	}
	return t.addEntry(src, r, c, kept)
}

// ParseText reads a text; one that holds nothing yet is empty.
func (t *Target) ParseText(src []byte) (edit.Reader, error) {
	if len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")))) == 0 && t.Format == edit.JSON {
		src = []byte("{}")
	}
	if t.parsed != nil && bytes.Equal(t.text, src) {
		return t.parsed, nil
	}
	r, err := t.Format.Parse(src)
	if err == nil {
		t.text, t.parsed, t.found, t.looked = src, r, nil, false
	}
	return r, err
}

// AppendCommand adds a command after whatever is there, ours or not.
func (t *Target) AppendCommand(src []byte, c Command) ([]byte, error) {
	r, err := t.ParseText(src)
	if err != nil {
		return nil, err
	}
	src, _, err = t.addEntry(src, r, c, nil)
	return src, err
}

func (t *Target) addEntry(src []byte, r edit.Reader, c Command, kept []Kept) ([]byte, []Kept, error) {
	list := t.At
	switch t.Spec.Shape {
	case agent.ShapeNested, agent.ShapeFlat:
		list = t.listOf(r, c.Event)
	case agent.ShapeNamed:
		if ours := t.ownGroup(r); ours >= 0 {
			list = Join(t.At, strconv.Itoa(ours), "hooks", c.Event)
			break
		}
		group := writeObject([]member{
			{"name", AsJSON(groupName)},
			{"hooks", writeObject([]member{{c.Event, json.RawMessage("[" + string(t.ListElement(c)) + "]")}})},
		})
		return t.appendEntry(src, r, t.At, group, kept)
	case agent.ShapeEvents:
		return t.addToEvent(src, r, c, kept)
	}
	return t.appendEntry(src, r, list, t.ListElement(c), kept)
}

func (t *Target) appendEntry(src []byte, r edit.Reader, list []string, value json.RawMessage, kept []Kept) ([]byte,
	[]Kept, error) {
	if !hasKept(kept, list) {
		kept = append(slices.Clone(kept), Kept{slices.Clone(list), depthBefore(kept, list, r.Depth(list...))})
	}
	out, err := t.Format.Append(src, list, value)
	return out, kept, err
}

// ownGroup returns the index of the named group that holds handlers of ours.
func (t *Target) ownGroup(r edit.Reader) int {
	for _, s := range t.Handlers(r) {
		if s.ours {
			i, err := strconv.Atoi(s.Path[len(t.At)])
			if err == nil {
				return i
			}
		}
	}
	return -1
}

// updateHandler changes what differs in a handler of ours and leaves the rest.
func (t *Target) updateHandler(src []byte, s *Handler, c Command) (out []byte, err error) {
	out = src
	for _, m := range t.HandlerMembers(c) {
		if SameJSON(s.Members[m.Key], m.Value) || m.Key == t.Spec.Matcher.Key {
			continue
		}
		if out, err = t.Format.Set(out, Join(s.Path, m.Key), m.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func SameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return bytes.Equal(AsJSON(x), AsJSON(y))
}

// RemoveEntries removes everything of ours that is for an agent.
func (t *Target) RemoveEntries(src []byte, a *agent.Agent, kept []Kept) ([]byte, error) {
	src, err := t.removeMembers(src, a, kept)
	if err != nil {
		return nil, err
	}
	return t.removeWhere(src, kept, func(s *Handler, _ map[string]bool) bool { return IsFor(s, a) })
}

func (t *Target) removeWhere(src []byte, kept []Kept, gone func(s *Handler, seen map[string]bool) bool) ([]byte,
	error) {
	for range 10_000 { // each round takes one out
		r, err := t.ParseText(src)
		if err != nil {
			return nil, err
		}
		var last *Handler
		seen := map[string]bool{}
		for _, s := range t.Handlers(r) {
			if gone(s, seen) {
				last = s // from the end, so that nothing in front of it moves
			}
		}
		if last == nil {
			return src, nil
		}
		if src, err = t.takeOutEntry(src, r, last, kept); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("has more hooks than can be looked through")
}

// takeOutEntry removes one handler, and the group and lists around it as far as they
// hold nothing else and were not there before.
func (t *Target) takeOutEntry(src []byte, r edit.Reader, s *Handler, kept []Kept) ([]byte, error) {
	switch {
	case t.Spec.Shape == agent.ShapeNamed:
		group := s.Path[:len(t.At)+1]
		if t.onlyOne(r, group) && r.Len(s.list...) == 1 {
			return t.Format.Prune(src, group, max(keptAt(kept, t.At), 0))
		}
		return t.Format.Prune(src, s.Path, len(group)+1)
	case t.Spec.Shape == agent.ShapeEvents:
		return t.takeFromEvent(src, r, s, kept)
	case t.inGroups(s.Event) && !s.alone:
		return t.Format.Prune(src, s.Path, len(s.Path)-1)
	}
	return t.Format.Prune(src, s.Group, keptAt(kept, s.list))
}

// onlyOne reports whether a named group has hooks for one event only.
func (t *Target) onlyOne(r edit.Reader, group []string) bool {
	return len(KeysOf(r, Join(group, "hooks"))) == 1
}

// IsHollow reports whether nothing is left except what a new file is created with. A text
// with a comment isn't hollow: comments are the user's.
func (t *Target) IsHollow(src []byte, p agent.InstallPlace) bool {
	r, err := t.ParseText(src)
	if err != nil {
		return false
	}
	if t.Format == edit.JSON && edit.Commented(src) || t.Format != edit.JSON && bytes.Contains(src, []byte("#")) {
		return false
	}
	for _, key := range KeysOf(r, nil) {
		want, ok := p.With[key]
		if !ok || !SameJSON(r.Raw(key), AsJSON(want)) {
			return false
		}
	}
	return true
}

// FreshText returns a file that holds nothing yet.
func (t *Target) FreshText(place agent.InstallPlace) []byte {
	if t.Format != edit.JSON {
		return []byte{}
	}
	src := []byte("{}\n")
	for _, m := range withMembers(place.With) {
		if out, err := t.Format.Set(src, []string{m.Key}, m.Value); err == nil {
			src = out
		}
	}
	return src
}
