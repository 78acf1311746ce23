package handler

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/toolnames"
)

// presented is a tool call in Claude Code's format, and the way back from there to the agent's
// own.
type presented struct {
	tool   string // the agent's name of the tool
	name   string // Claude's
	input  json.RawMessage
	shown  memberList       // of input
	native memberList       // of the agent's own input
	places map[string]place // Claude's key → where it is in the agent's input
	free   bool             // Claude's own call: keys may be added
}

// place is the location of a value: under a key, and inside that value along a path of object
// keys and list positions.
type place struct {
	key  string
	path []any
	none bool // it was worked out and is nowhere in the input
}

// claudeTool is Claude's name for a tool. A search by file name and a search
// of the web have names of their own.
func claudeTool(t *event.Tool, native memberList) string {
	switch t.Kind {
	case event.MCP:
		if m := t.MCP; m != nil && m.Server != "" && m.Tool != "" {
			return "mcp__" + m.Server + "__" + m.Tool
		}
		return t.Name
	case event.Search:
		if toolnames.Searches(t.Name) != toolnames.Contents {
			return "Glob"
		}
	case event.Fetch:
		if t.URL == "" && (native.indexOf("query") >= 0 || strings.Contains(strings.ToLower(t.Name), "search")) {
			return "WebSearch"
		}
	}
	if s, ok := toolnames.Claude[t.Kind]; ok {
		return s.Tool
	}
	return t.Name
}

// inClaudesWords translates one command or file of a call to Claude's format. The agent's other
// keys are kept as they are.
func inClaudesWords(t *event.Tool, input json.RawMessage, subject string) *presented {
	p := &presented{tool: t.Name, native: readMembers(input), places: make(map[string]place)}
	p.name = claudeTool(t, p.native)
	p.shown = append(memberList(nil), p.native...)
	words := toolnames.Claude[t.Kind]
	if words.Subject != "" && subject != "" {
		p.showSubject(words.Subject, subject)
	}
	for _, k := range words.Keys {
		p.renameKey(k)
	}
	if t.Kind == event.FileEdit || t.Kind == event.FileWrite {
		p.showPatch(subject)
	}
	p.input = p.shown.toJSON()
	return p
}

// showSubject puts the subject under Claude's key and notes where in the
// agent's input it came from.
func (p *presented) showSubject(key, subject string) {
	value := event.AppendString(nil, subject)
	where := locateText(p.native, key, subject)
	p.places[key] = where
	switch i, own := p.shown.indexOf(where.key), p.shown.indexOf(key); {
	case own >= 0:
		p.shown[own].value = value // under its own name, or in place of a differing form
	case !where.none && where.path == nil:
		p.shown[i] = member{key, value}
	default:
		p.shown = append(memberList{{key, value}}, p.shown...)
	}
}

// showPatch shows what a patch does to one file under Claude's keys, so that hooks
// that look at the text of an edit see it: old_string and new_string, and content for
// a new file. A patch cannot be changed through these keys.
func (p *presented) showPatch(path string) {
	section, _, whole := toolnames.FindPatch(func(key string) (string,
		bool) {
		return jsontext.String(p.native.get(key))
	}, path)
	if !whole {
		return
	}
	texts := []struct{ key, text string }{
		{"old_string", strings.Join(section.From, "\n")}, {"new_string", strings.Join(section.To, "\n")},
	}
	if section.Verb == "Add" {
		texts = append(texts, struct{ key, text string }{"content", strings.Join(section.To, "\n") + "\n"})
	}
	for _, one := range texts {
		if p.shown.indexOf(one.key) < 0 {
			p.shown = append(p.shown, member{one.key, event.AppendString(nil, one.text)})
			p.places[one.key] = place{none: true}
		}
	}
}

// renameKey shows a key under Claude's name for it.
func (p *presented) renameKey(k toolnames.Key) {
	if p.shown.indexOf(k.Word) >= 0 {
		return
	}
	if word, ok := k.In(func(w string) bool { return p.shown.indexOf(w) >= 0 && p.native.indexOf(w) >= 0 }); ok {
		p.shown[p.shown.indexOf(word)].key = k.Word
		p.places[k.Word] = place{key: word}
	}
}

// locateText finds a text in an input: under the key itself, else under another key, else
// deeper.
func locateText(native memberList, key, text string) place {
	if equalsString(native.get(key), text) {
		return place{key: key}
	}
	for _, m := range native {
		if equalsString(m.value, text) {
			return place{key: m.key}
		}
	}
	for _, m := range native {
		if !jsontext.IsObject(m.value) && !jsontext.IsArray(m.value) {
			continue
		}
		if v, ok := decodeValue(m.value); ok {
			if path := toolnames.Dig(v, text); path != nil {
				return place{key: m.key, path: path}
			}
		}
	}
	return place{none: true}
}

func equalsString(value json.RawMessage, text string) bool {
	s, ok := jsontext.String(value)
	return ok && s == text
}

// translateBack translates a changed input back to the agent's own format. Only what differs
// from what was shown is a change.
func (p *presented) translateBack(d *event.Decision) error {
	if d.Input == nil {
		return nil
	}
	var patch memberList
	for _, m := range readMembers(d.Input) {
		if old := p.shown.get(m.key); old != nil && sameJSON(old, m.value) {
			continue
		}
		key, value, err := p.memberBack(m, patch)
		if err != nil {
			return err
		}
		if i := patch.indexOf(key); i >= 0 {
			patch[i].value = value
		} else {
			patch = append(patch, member{key, value})
		}
	}
	d.Input = nil
	if len(patch) > 0 {
		d.Input = patch.toJSON()
		return nil
	}
	// Nothing differs: the approval is kept, there was no change.
	if d.Verdict == event.Modify {
		d.Verdict = event.None
		if d.Allowed {
			d.Verdict = event.Allow
		}
	}
	d.Allowed = false
	return nil
}

// memberBack returns one changed member in the agent's format.
func (p *presented) memberBack(m member, patch memberList) (string, json.RawMessage, error) {
	if p.free {
		return m.key, m.value, nil
	}
	where, known := p.places[m.key]
	switch {
	case known && where.none:
		return "", nil, fmt.Errorf("changed %q, which %s has no key for; change the keys it was shown with", m.key,
			p.tool)
	case known && where.path == nil:
		return where.key, m.value, nil
	case known:
		current := p.native.get(where.key)
		if i := patch.indexOf(where.key); i >= 0 {
			current = patch[i].value
		}
		value, ok := replaceAt(current, where.path, m.value)
		if !ok {
			return "", nil, fmt.Errorf("changed %q, which cannot be put back into %q of %s", m.key, where.key, p.tool)
		}
		return where.key, value, nil
	case p.native.indexOf(m.key) >= 0:
		return m.key, m.value, nil
	}
	return "", nil, fmt.Errorf("changed input has the key %q, which %s does not know here",
		termsafe.CutMarked(m.key, 60), p.tool)
}

// replaceAt is current with the value at path replaced.
func replaceAt(current json.RawMessage, path []any, value json.RawMessage) (json.RawMessage, bool) {
	root, ok := decodeValue(current)
	if !ok {
		return nil, false
	}
	fresh, ok := decodeValue(value)
	if !ok {
		return nil, false
	}
	if !toolnames.Replace(root, path, fresh) {
		return nil, false
	}
	return encodeValue(root), true
}
