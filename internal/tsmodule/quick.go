package tsmodule

import (
	"unicode/utf8"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
	"github.com/hookmux/hookmux/internal/tsmodule/engine"
	"github.com/hookmux/hookmux/internal/tsmodule/pi"
)

// What happens most is one call of a tool, in an engine of the hub's own. It
// travels in a shorter form than other events, three lines: what handlers read
// off their context, which seldom changes within a session and is then neither
// written nor read again; the agent's own words, which few look at; and the
// call, [tool, id, input]. None of them has a line end inside.

// quick reports whether events may travel in the short form.
func quick(g *generation, s *subject, events []shown) bool {
	_, here := g.runner.(*engine.Machine)
	return here && !s.pi && len(events) == 1 && events[0].name == "tool_call"
}

// shortForm writes them.
func (m *Module) shortForm(s *subject, e *shown) string {
	about := m.aboutText(s)
	b := make([]byte, 0, len(about)+512)
	b = append(b, about...)
	b = append(b, '\n')
	b = appendOwnWords(b, s.ev)
	b = append(b, "\n["...)
	b = appendText(b, e.call.Name)
	b = append(b, ',')
	b = appendText(b, e.id)
	b = append(b, ',')
	b = append(b, e.call.Input()...)
	return string(append(b, ']'))
}

// aboutText is a session's context in JSON, written anew when it changed.
func (m *Module) aboutText(s *subject) string {
	a := m.context(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.turn.text == "" || s.turn.about != a {
		s.turn.about, s.turn.text = a, string(pi.Encode(a))
	}
	return s.turn.text
}

// appendOwnWords is [ownWords] without its costs.
func appendOwnWords(b []byte, ev *event.Event) []byte {
	b = append(b, `{"agent":`...)
	b = appendText(b, ev.Agent)
	b = append(b, `,"event":`...)
	b = appendText(b, ev.Native)
	b = append(b, `,"kind":`...)
	b = appendText(b, string(ev.Kind))
	if t := ev.Tool; t != nil {
		b = append(b, `,"toolName":`...)
		b = appendText(b, t.Name)
		b = append(b, `,"toolKind":`...)
		b = appendText(b, string(t.Kind))
		if input := t.CurrentInput(); jsonscan.IsObject(input) {
			b = append(b, `,"input":`...)
			b = append(b, pi.OneLine(input)...)
		}
	}
	return append(b, '}')
}

// appendText adds a JSON string.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return append(b, pi.Encode(text)...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
