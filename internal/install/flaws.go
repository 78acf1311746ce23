package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// flaw is one thing in which an entry of ours is not as we write it.
type flaw struct {
	what string
	// mayMiss says that it may not run when it should, or that its answer may be ignored.
	mayMiss bool
}

// findFlaws compares an entry of ours with what would be written today.
func (l siteReader) findFlaws(t *hookentry.Target, r edit.Reader, s *hookentry.Handler) (out []flaw) {
	a := l.agent
	e, known := a.Event(s.Event)
	if !known {
		return []flaw{{"is an event that no longer exists", true}}
	}
	want := hookentry.Command{Program: Shim(l.host.Dirs), Agent: a.Name, Event: e.Name, Seconds: hookentry.Limit(a, e),
		Deny: s.Command.Deny}
	var wrong []string
	for _, m := range t.HandlerMembers(want) {
		// You may choose the harmless ones, and an older hookmux may not have written them.
		if m.Key == t.Spec.Matcher.Key || slices.Contains(t.Spec.Handler.Harmless, m.Key) ||
			hookentry.SameJSON(s.Members[m.Key], m.Value) {
			continue
		}
		wrong = append(wrong, m.Key)
	}
	if s.Event != s.Command.Event {
		out = append(out, flaw{"reports as " + termsafe.Line(s.Command.Event, 40), true})
	} else if len(wrong) > 0 {
		// An older hookmux wrote another limit or line: it still runs.
		mayMiss := slices.ContainsFunc(wrong, func(key string) bool { return t.Spec.Handler.With[key] != nil })
		out = append(out, flaw{strings.Join(wrong, ", ") + " differs", mayMiss})
	}
	if m := t.MatcherOf(r, s); m != nil {
		out = append(out, flaw{fmt.Sprintf("its %s is %s, so it sees only some calls", t.Spec.Matcher.Key,
			termsafe.Line(string(m), 60)), true})
	}
	if more := t.ExtraMembers(r, s, want); len(more) > 0 {
		out = append(out, flaw{"also has " + termsafe.Line(strings.Join(more, ", "), 80), true})
	}
	return out
}
