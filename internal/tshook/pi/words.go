// Package pi translates tool calls and results of any agent to pi's format and back: hooks
// are written for pi's interface, of one of its three generations.
package pi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/toolnames"
)

// Object is a JSON object whose numbers keep their digits.
type Object = map[string]any

func ParseObject(b []byte) Object {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var o Object
	if dec.Decode(&o) != nil {
		return nil
	}
	return o
}

// Call is one command or file of a tool call in pi's format, and the way back from there to
// the agent's own.
type Call struct {
	tool   string // the agent's name of it
	Name   string // pi's
	Shown  Object
	Native Object
	places map[string][]any // pi's key → where it is in the agent's input; nil: nowhere
	own    bool             // pi's own call: keys may be added
	// Of a plain command: its input as it came, and how it is taken apart.
	Raw   json.RawMessage
	whole func() *Call
}

// spellingOf returns how pi spells a tool; false when it has nothing like it, and
// the agent's own name and input stay.
func spellingOf(t *event.Tool) (toolnames.Spelling, bool) {
	s, ok := toolnames.Pi[t.Kind]
	if t.Kind == event.Search {
		switch toolnames.Searches(t.Name) {
		case toolnames.FileNames:
			s.Tool = "find"
		case toolnames.Folder:
			s.Tool = "ls"
		}
	}
	return s, ok
}

// The texts of an edit, by whichever key.
var (
	oldText = toolnames.Pi[event.FileEdit].Key("oldText")
	newText = toolnames.Pi[event.FileEdit].Key("newText")
)

// keyIn returns the key of an Object that means the same; false when it has none.
func keyIn(o Object, k toolnames.Key) (string, bool) {
	return k.In(func(word string) bool { _, there := o[word]; return there })
}

// Subjects returns the commands or files pi would ask about one by one. A call
// without any is shown once, as it is.
func Subjects(t *event.Tool) []string {
	var list []string
	switch t.Kind {
	case event.Shell:
		list = t.Commands
	case event.FileRead:
		list = append(slices.Clone(t.Reads), t.Writes...)
	case event.FileWrite, event.FileEdit:
		list = append(slices.Clone(t.Writes), t.Reads...)
	case event.Search:
		if list = t.Reads; len(list) > 1 {
			list = list[:1] // one search, however many places
		}
	}
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// CallFor shows one command or file of a call.
func CallFor(t *event.Tool, subject string, own bool) *Call {
	c := &Call{tool: t.Name, Name: t.Name, Native: ParseObject(t.CurrentInput()), places: map[string][]any{}, own: own}
	c.Shown = maps.Clone(c.Native)
	if c.Shown == nil {
		c.Shown = Object{}
	}
	words, known := spellingOf(t)
	if own || !known {
		if own {
			c.bothEdits()
		}
		return c
	}
	c.Name = words.Tool
	if section, ok, _ := toolnames.FindPatch(c.nativeText, subject); ok {
		c.showPatch(section)
		return c
	}
	if subject != "" {
		where := locateText(c.Native, words.Subject, subject)
		if len(where) == 1 {
			delete(c.Shown, where[0].(string))
		}
		c.places[words.Subject] = where
		c.Shown[words.Subject] = subject
	}
	for _, k := range words.Keys {
		c.renameKey(k)
	}
	if t.Kind == event.FileEdit {
		c.translateEdits()
		c.bothEdits()
	}
	return c
}

// nativeText returns the text under a key of the agent's input.
func (c *Call) nativeText(key string) (string, bool) {
	text, ok := c.Native[key].(string)
	return text, ok
}

// renameKey shows a key under pi's name for it.
func (c *Call) renameKey(k toolnames.Key) {
	if _, there := c.Shown[k.Word]; there {
		return
	}
	if word, ok := keyIn(c.Native, k); ok {
		delete(c.Shown, word)
		c.Shown[k.Word] = c.Native[word]
		c.places[k.Word] = []any{word}
	}
}

// translateEdits shows a list of edits with pi's keys.
func (c *Call) translateEdits() {
	list, ok := c.Native["edits"].([]any)
	if !ok {
		return
	}
	edits := make([]any, len(list))
	for i, e := range list {
		edit, ok := e.(Object)
		if !ok {
			return
		}
		shown := Object{"oldText": "", "newText": ""}
		for _, k := range []toolnames.Key{oldText, newText} {
			if word, ok := keyIn(edit, k); ok {
				shown[k.Word] = edit[word]
			}
		}
		edits[i] = shown
	}
	c.Shown["edits"] = edits
}

// bothEdits shows a single edit the old way and the new: the hook era had
// oldText and newText, extensions have edits.
func (c *Call) bothEdits() {
	_, old := c.Shown["oldText"]
	list, many := c.Shown["edits"].([]any)
	switch {
	case old && !many:
		c.Shown["edits"] = []any{Object{"oldText": c.Shown["oldText"], "newText": c.Shown["newText"]}}
	case !old && len(list) == 1:
		if edit, ok := list[0].(Object); ok {
			c.Shown["oldText"], c.Shown["newText"] = edit["oldText"], edit["newText"]
		}
	}
}

// locateText finds where a text is: under the key itself, else under another, else deeper;
// nil if it isn't found.
func locateText(native Object, key, text string) []any {
	if s, ok := native[key].(string); ok && s == text {
		return []any{key}
	}
	keys := slices.Sorted(maps.Keys(native)) // the same place every time
	for _, k := range keys {
		if s, ok := native[k].(string); ok && s == text {
			return []any{k}
		}
	}
	for _, k := range keys {
		if path := toolnames.Dig(native[k], text); path != nil {
			return append([]any{k}, path...)
		}
	}
	return nil
}

// Back returns a changed input in the agent's own format: the keys to lay over its input,
// nil if nothing really changed.
func (c *Call) Back(changed Object) (Object, error) {
	patch := Object{}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		value := changed[key]
		if old, there := c.Shown[key]; there && reflect.DeepEqual(old, value) {
			continue
		}
		if err := c.putValue(patch, key, value); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Shown)) {
		if _, there := changed[key]; !there {
			return nil, fmt.Errorf("took %q out of the input of %s, which cannot be carried; set it to another value",
				key, c.tool)
		}
	}
	if len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}

func (c *Call) putValue(patch Object, key string, value any) error {
	where, known := c.places[key]
	switch {
	case c.own:
		if _, native := c.Native["edits"]; native && (key == "oldText" || key == "newText") {
			return c.putEdit(patch, key, value)
		}
		patch[key] = value
		return nil
	case known && where == nil:
		return fmt.Errorf("changed %q, which %s has no key for", key, c.tool)
	case known && len(where) == 1:
		patch[where[0].(string)] = value
		return nil
	case known:
		top := where[0].(string)
		current, ok := patch[top]
		if !ok {
			current = Clone(c.Native[top])
		}
		if !toolnames.Replace(current, where[1:], value) {
			return fmt.Errorf("changed %q, which cannot be put back into %q of %s", key, top, c.tool)
		}
		patch[top] = current
		return nil
	case key == "edits":
		return c.putEdits(patch, value)
	case key == "oldText" || key == "newText":
		return c.putEdit(patch, key, value)
	}
	if _, native := c.Native[key]; native {
		patch[key] = value
		return nil
	}
	return fmt.Errorf("changed input has the key %q, which %s does not know", key, c.tool)
}

// putEdits puts a changed list of edits back: into the agent's list, or into
// its one old and new text.
func (c *Call) putEdits(patch Object, value any) error {
	list, ok := value.([]any)
	native, many := c.Native["edits"].([]any)
	if ok && !many && len(list) == 1 && c.places["oldText"] != nil && c.places["newText"] != nil {
		if edit, isEdit := list[0].(Object); isEdit {
			patch[c.places["oldText"][0].(string)] = edit["oldText"]
			patch[c.places["newText"][0].(string)] = edit["newText"]
			return nil
		}
	}
	if !ok || !many || len(list) != len(native) {
		return fmt.Errorf("changed the edits of %s in a way it cannot take", c.tool)
	}
	edits := Clone(native).([]any)
	for i := range list {
		to, okTo := edits[i].(Object)
		from, okFrom := list[i].(Object)
		if !okTo || !okFrom {
			return fmt.Errorf("changed the edits of %s in a way it cannot take", c.tool)
		}
		for _, k := range []toolnames.Key{oldText, newText} {
			if word, ok := keyIn(to, k); ok {
				to[word] = from[k.Word]
			}
		}
	}
	patch["edits"] = edits
	return nil
}

// putEdit puts one text back into an agent's only edit.
func (c *Call) putEdit(patch Object, key string, value any) error {
	edits, ok := patch["edits"].([]any)
	if !ok {
		edits, _ = Clone(c.Native["edits"]).([]any)
	}
	if len(edits) == 1 {
		if edit, ok := edits[0].(Object); ok {
			k := oldText
			if key == newText.Word {
				k = newText
			}
			if word, ok := keyIn(edit, k); ok {
				edit[word] = value
			}
			patch["edits"] = edits
			return nil
		}
	}
	return fmt.Errorf("changed %q, which %s has no key for", key, c.tool)
}

func Clone(v any) any {
	switch v := v.(type) {
	case Object:
		out := make(Object, len(v))
		for k, e := range v {
			out[k] = Clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Clone(e)
		}
		return out
	}
	return v
}
