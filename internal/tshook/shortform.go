package tshook

import (
	"unicode/utf8"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// Most events are one tool call in an embedded engine. It is sent in a shorter form than other
// events, in three lines: the context, which rarely changes within a session and is then
// neither encoded nor parsed again; the agent's native form, which few hooks read; and the
// call, [tool, id, input]. No line contains a line end.

// canUseShortForm reports whether events may travel in the short form.
func canUseShortForm(g *loadedCode, s *subject, events []presentedEvent) bool {
	_, here := g.runner.(*engine.Machine)
	return here && !s.pi && len(events) == 1 && events[0].name == "tool_call"
}

// shortForm encodes one tool call in the short form.
func (m *Hook) shortForm(s *subject, e *presentedEvent) string {
	about := m.aboutText(s)
	b := make([]byte, 0, len(about)+512)
	b = append(b, about...)
	b = append(b, '\n')
	b = appendNativeJSON(b, s.ev)
	b = append(b, "\n["...)
	b = appendText(b, e.call.Name)
	b = append(b, ',')
	b = appendText(b, e.id)
	b = append(b, ',')
	b = append(b, e.call.Input()...)
	return string(append(b, ']'))
}

// aboutText returns a session's context in JSON, encoded again only when it changed.
func (m *Hook) aboutText(s *subject) string {
	a := m.contextFields(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.memory.text == "" || s.memory.about != a {
		s.memory.about, s.memory.text = a, string(pi.Encode(a))
	}
	return s.memory.text
}

// appendNativeJSON is [nativeJSON] without its allocations.
func appendNativeJSON(b []byte, ev *event.Event) []byte {
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
		if input := t.CurrentInput(); jsontext.IsObject(input) {
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
