package install

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/termsafe"
)

// flaw is one thing in which an entry of ours is not as we write it.
type flaw struct {
	what string
	// deaf: it may not run where it should, or its answer may not count.
	deaf bool
}

// findFlaws compares an entry of ours with what would be written today.
func (h *Host) findFlaws(t *target, r edit.Reader, s *slot, a *agent.Agent) (out []flaw) {
	e, known := a.Event(s.event)
	if !known {
		return []flaw{{"is an event nobody knows any more", true}}
	}
	want := Command{Program: Shim(h.Dirs), Agent: a.Name, Event: e.Name, Seconds: Limit(a, e), Deny: s.command.Deny}
	var wrong []string
	for _, m := range t.handlerMembers(want) {
		if m.key != t.spec.Matcher.Key && !sameJSON(s.handler[m.key], m.value) {
			wrong = append(wrong, m.key)
		}
	}
	if s.event != s.command.Event {
		out = append(out, flaw{"reports as " + termsafe.Line(s.command.Event, 40), true})
	} else if len(wrong) > 0 {
		// An older hookmux wrote another limit or line: it still runs.
		deaf := slices.ContainsFunc(wrong, func(key string) bool { return t.spec.Handler.With[key] != nil })
		out = append(out, flaw{strings.Join(wrong, ", ") + " differs", deaf})
	}
	if m := t.matcherOf(r, s); m != nil {
		out = append(out, flaw{fmt.Sprintf("its %s is %s, so it sees only some calls", t.spec.Matcher.Key, termsafe.Line(string(m), 60)), true})
	}
	if more := t.extraMembers(r, s, want); len(more) > 0 {
		out = append(out, flaw{"also has " + termsafe.Line(strings.Join(more, ", "), 80), true})
	}
	return out
}

// matcherOf is what narrows an entry down; nil when it is meant for every call.
func (t *target) matcherOf(r edit.Reader, s *slot) json.RawMessage {
	key := t.spec.Matcher.Key
	if key == "" {
		return nil
	}
	raw := s.handler[key]
	if t.spec.Shape == agent.ShapeNested {
		raw = r.Raw(join(s.group, key)...)
	}
	all := t.spec.Matcher.All
	if raw == nil || string(raw) == "null" || sameJSON(raw, asJSON("")) || all != "" && sameJSON(raw, asJSON(all)) {
		return nil
	}
	return raw
}

// extraMembers are members of an entry that we do not write: those of its group
// first, with a dot in front, then its own.
func (t *target) extraMembers(r edit.Reader, s *slot, c Command) []string {
	var out []string
	if t.spec.Shape == agent.ShapeNested {
		for _, key := range keysOf(r, s.group) {
			if key != "hooks" && key != t.spec.Matcher.Key && !slices.Contains(t.spec.Handler.Harmless, key) {
				out = append(out, "."+key)
			}
		}
	}
	known := append([]string{t.spec.Matcher.Key}, t.spec.Handler.Harmless...)
	for _, m := range t.handlerMembers(c) {
		known = append(known, m.key)
	}
	var own []string
	for key := range s.handler {
		if !slices.Contains(known, key) {
			own = append(own, key)
		}
	}
	sort.Strings(own)
	return append(out, own...)
}

// widenEntry makes an entry of ours see every call again, and takes out what
// somebody put around it. In a group with other people's handlers it is they
// who are meant by it: ours leaves them and gets a group of its own.
func (t *target) widenEntry(src []byte, r edit.Reader, s *slot, c Command) (out []byte, leave bool, err error) {
	extras := t.extraMembers(r, s, c)
	grouped := slices.DeleteFunc(slices.Clone(extras), func(key string) bool { return key[0] != '.' })
	narrow := t.matcherOf(r, s) != nil
	if t.spec.Shape == agent.ShapeNested && !s.alone && (narrow || len(grouped) > 0) {
		return src, true, nil
	}
	out = src
	for _, key := range extras {
		path := join(s.path, key)
		if key[0] == '.' {
			path = join(s.group, key[1:])
		}
		if out, err = t.format.Remove(out, path); err != nil {
			return nil, false, err
		}
	}
	if !narrow {
		return out, false, nil
	}
	at := join(s.path, t.spec.Matcher.Key)
	if t.spec.Shape == agent.ShapeNested {
		at = join(s.group, t.spec.Matcher.Key)
	}
	if t.spec.Matcher.Needed {
		out, err = t.format.Set(out, at, t.spec.Matcher.All)
	} else {
		out, err = t.format.Remove(out, at)
	}
	return out, false, err
}
