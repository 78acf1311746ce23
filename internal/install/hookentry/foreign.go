package hookentry

import (
	"fmt"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// ForeignHooks names other people's hooks on events that we answer too; path is the name
// used for the file.
func ForeignHooks(t *Target, a *agent.Agent, src []byte, path string) []string {
	r, err := t.ParseText(src)
	if err != nil {
		return nil
	}
	var out []string
	for _, s := range t.Handlers(r) {
		if IsFor(s, a) {
			continue
		}
		if s.MentionsUs() {
			out = append(out, fmt.Sprintf("%s: line %d: names %s and is not in the form that hookmux writes, so it "+
				"is left alone: %s", path, s.Line, HookName, termsafe.Line(s.Text, 120)))
			continue
		}
		if e, ok := a.Event(s.Event); ok && e.Decides() && CanContradict(e) {
			out = append(out, fmt.Sprintf("%s: line %d: another hook also runs at %s: %s", path, s.Line, s.Event,
				termsafe.Line(s.Text, 120)))
		}
	}
	return out
}

// CanContradict reports whether two answers can contradict each other at an event.
func CanContradict(e *agent.EventSpec) bool {
	return e.Carries.Allow != nil || e.Carries.Deny != nil || e.Carries.Ask != nil || e.Carries.Input != nil ||
		e.Carries.Keep != nil
}
