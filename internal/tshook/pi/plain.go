package pi

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/toolnames"
)

// PlainCommand returns a call whose input is the same in pi's format and the agent's, as in
// nearly every call of a shell; nil if it isn't one. It is only taken apart when a hook
// changed it, which is rare.
func PlainCommand(t *event.Tool, subject string) *Call {
	if t.Kind != event.Shell || subject == "" {
		return nil
	}
	raw := t.CurrentInput()
	if !jsontext.Valid(raw) || !utf8.Valid(raw) {
		return nil
	}
	for _, key := range toolnames.PatchKeys {
		text, ok := jsontext.String(jsontext.Get(raw, key))
		if ok && strings.Contains(text, "*** Begin Patch") || key == "command" && text != subject {
			return nil
		}
	}
	words, known := spellingOf(t)
	if !known || words.Subject != "command" {
		return nil
	}
	for _, k := range words.Keys {
		for _, other := range k.Others {
			if jsontext.Get(raw, other) != nil {
				return nil // it is called otherwise in pi
			}
		}
	}
	return &Call{tool: t.Name, Name: words.Tool, Raw: raw, whole: func() *Call { return CallFor(t, subject, false) }}
}

// IsPlain reports whether the input is the same in pi's format and the agent's.
func (c *Call) IsPlain() bool { return c.whole != nil }

// Unfold takes a plain command apart.
func (c *Call) Unfold() {
	if c.whole != nil {
		*c = *c.whole()
	}
}

// Input returns what handlers see, in JSON.
func (c *Call) Input() json.RawMessage {
	if c.whole != nil {
		return OneLine(c.Raw)
	}
	return Encode(c.Shown)
}

// OneLine returns a well-formed value without line ends and broken characters.
func OneLine(raw json.RawMessage) json.RawMessage {
	if bytes.IndexByte(raw, '\n') < 0 && utf8.Valid(raw) {
		return raw
	}
	return bytes.ToValidUTF8(Encode(raw), []byte("\uFFFD"))
}
