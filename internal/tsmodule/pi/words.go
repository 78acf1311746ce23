package tsmodule

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

// object is a JSON object whose numbers keep their digits.
type object = map[string]any

func objectOf(b []byte) object {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var o object
	if dec.Decode(&o) != nil {
		return nil
	}
	return o
}

// call is one command or file of a tool call in pi's words, and the way back
// from there to the agent's own.
type call struct {
	tool   string // the agent's name of it
	name   string // pi's
	shown  object
	native object
	places map[string][]any // pi's key → where it stands in the agent's input; nil: nowhere
	own    bool             // pi's own call: keys may be added
	// Of a plain command: its input as it came, and how it is taken apart.
	raw   json.RawMessage
	whole func() *call
}

// spellingOf is how pi spells a tool; false when it has nothing like it, and
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

// keyIn is the key of an object that means the same; false when it has none.
func keyIn(o object, k toolnames.Key) (string, bool) {
	return k.In(func(word string) bool { _, there := o[word]; return there })
}

// subjects are the commands or files pi would ask about one by one. A call
// without any is shown once, as it is.
func subjects(t *event.Tool) []string {
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

// inPisWords shows one command or file of a call.
func inPisWords(t *event.Tool, subject string, own bool) *call {
	c := &call{tool: t.Name, name: t.Name, native: objectOf(t.CurrentInput()), places: map[string][]any{}, own: own}
	c.shown = maps.Clone(c.native)
	if c.shown == nil {
		c.shown = object{}
	}
	words, known := spellingOf(t)
	if own || !known {
		if own {
			c.bothEdits()
		}
		return c
	}
	c.name = words.Tool
	if section, ok := patchSection(c.native, subject); ok {
		c.showPatch(section)
		return c
	}
	if subject != "" {
		where := locate(c.native, words.Subject, subject)
		if len(where) == 1 {
			delete(c.shown, where[0].(string))
		}
		c.places[words.Subject] = where
		c.shown[words.Subject] = subject
	}
	for _, k := range words.Keys {
		c.rename(k)
	}
	if t.Kind == event.FileEdit {
		c.translateEdits()
		c.bothEdits()
	}
	return c
}

// rename shows a key under pi's name for it.
func (c *call) rename(k toolnames.Key) {
	if _, there := c.shown[k.Word]; there {
		return
	}
	if word, ok := keyIn(c.native, k); ok {
		delete(c.shown, word)
		c.shown[k.Word] = c.native[word]
		c.places[k.Word] = []any{word}
	}
}

// translateEdits shows a list of edits with pi's keys.
func (c *call) translateEdits() {
	list, ok := c.native["edits"].([]any)
	if !ok {
		return
	}
	edits := make([]any, len(list))
	for i, e := range list {
		edit, ok := e.(object)
		if !ok {
			return
		}
		shown := object{"oldText": "", "newText": ""}
		for _, k := range []toolnames.Key{oldText, newText} {
			if word, ok := keyIn(edit, k); ok {
				shown[k.Word] = edit[word]
			}
		}
		edits[i] = shown
	}
	c.shown["edits"] = edits
}

// bothEdits shows a single edit the old way and the new: the hook era had
// oldText and newText, extensions have edits.
func (c *call) bothEdits() {
	_, old := c.shown["oldText"]
	list, many := c.shown["edits"].([]any)
	switch {
	case old && !many:
		c.shown["edits"] = []any{object{"oldText": c.shown["oldText"], "newText": c.shown["newText"]}}
	case !old && len(list) == 1:
		if edit, ok := list[0].(object); ok {
			c.shown["oldText"], c.shown["newText"] = edit["oldText"], edit["newText"]
		}
	}
}

// locate finds where a text stands: under the key itself, else under another,
// else deeper; nil when nowhere.
func locate(native object, key, text string) []any {
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

// back is a changed input in the agent's own words: the keys to lay over its
// input, nil when nothing really changed.
func (c *call) back(changed object) (object, error) {
	patch := object{}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		value := changed[key]
		if old, there := c.shown[key]; there && reflect.DeepEqual(old, value) {
			continue
		}
		if err := c.put(patch, key, value); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.shown)) {
		if _, there := changed[key]; !there {
			return nil, fmt.Errorf("took %q out of the input of %s, which cannot be carried; set it to another value", key, c.tool)
		}
	}
	if len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}

func (c *call) put(patch object, key string, value any) error {
	where, known := c.places[key]
	switch {
	case c.own:
		if _, native := c.native["edits"]; native && (key == "oldText" || key == "newText") {
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
			current = clone(c.native[top])
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
	if _, native := c.native[key]; native {
		patch[key] = value
		return nil
	}
	return fmt.Errorf("changed input has the key %q, which %s does not know", key, c.tool)
}

// putEdits puts a changed list of edits back: into the agent's list, or into
// its one old and new text.
func (c *call) putEdits(patch object, value any) error {
	list, ok := value.([]any)
	native, many := c.native["edits"].([]any)
	if ok && !many && len(list) == 1 && c.places["oldText"] != nil && c.places["newText"] != nil {
		if edit, isEdit := list[0].(object); isEdit {
			patch[c.places["oldText"][0].(string)] = edit["oldText"]
			patch[c.places["newText"][0].(string)] = edit["newText"]
			return nil
		}
	}
	if !ok || !many || len(list) != len(native) {
		return fmt.Errorf("changed the edits of %s in a way it cannot take", c.tool)
	}
	edits := clone(native).([]any)
	for i := range list {
		to, okTo := edits[i].(object)
		from, okFrom := list[i].(object)
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
func (c *call) putEdit(patch object, key string, value any) error {
	edits, ok := patch["edits"].([]any)
	if !ok {
		edits, _ = clone(c.native["edits"]).([]any)
	}
	if len(edits) == 1 {
		if edit, ok := edits[0].(object); ok {
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

func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = clone(e)
		}
		return out
	}
	return v
}
