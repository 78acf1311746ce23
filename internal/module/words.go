package module

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
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

// spelling says what pi calls a kind of tool and the keys of its input. The
// subject is the command or path the call is about.
type spelling struct {
	tool    string
	subject string
	keys    [][]string // pi's word first
}

var (
	contentWords = []string{"content", "contents", "text", "file_text", "fileText", "data"}
	oldWords     = []string{"oldText", "old_string", "oldString", "old_str", "oldStr", "old_text"}
	newWords     = []string{"newText", "new_string", "newString", "new_str", "newStr", "new_text"}
	patternWords = []string{"pattern", "query", "regex", "regexp", "search", "glob_pattern", "globPattern"}
	globWords    = []string{"glob", "include", "file_pattern", "filePattern"}
	partWords    = [][]string{{"offset", "start_line", "startLine"}, {"limit"}}
)

var spellings = map[event.ToolKind]spelling{
	event.Shell:     {"bash", "command", nil},
	event.FileRead:  {"read", "path", partWords},
	event.FileWrite: {"write", "path", [][]string{contentWords}},
	event.FileEdit:  {"edit", "path", [][]string{oldWords, newWords}},
	event.Search:    {"grep", "path", [][]string{patternWords, globWords}},
}

// spellingOf is how pi spells a tool; false when it has nothing like it, and
// the agent's own name and input stay.
func spellingOf(t *event.Tool) (spelling, bool) {
	s, ok := spellings[t.Kind]
	if t.Kind != event.Search {
		return s, ok
	}
	name := strings.ToLower(t.Name)
	switch {
	case strings.Contains(name, "glob") || strings.Contains(name, "find"):
		s.tool = "find"
	case strings.Contains(name, "list") || name == "ls":
		s.tool = "ls"
	}
	return s, true
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
	c.name = words.tool
	if section, ok := patchSection(c.native, subject); ok {
		c.showPatch(section)
		return c
	}
	if subject != "" {
		where := locate(c.native, words.subject, subject)
		if len(where) == 1 {
			delete(c.shown, where[0].(string))
		}
		c.places[words.subject] = where
		c.shown[words.subject] = subject
	}
	for _, k := range words.keys {
		c.rename(k)
	}
	if t.Kind == event.FileEdit {
		c.translateEdits()
		c.bothEdits()
	}
	return c
}

// rename shows a key under pi's name for it.
func (c *call) rename(words []string) {
	if _, there := c.shown[words[0]]; there {
		return
	}
	for _, other := range words[1:] {
		if value, ok := c.native[other]; ok {
			delete(c.shown, other)
			c.shown[words[0]] = value
			c.places[words[0]] = []any{other}
			return
		}
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
		edits[i] = object{"oldText": firstOf(edit, oldWords), "newText": firstOf(edit, newWords)}
	}
	c.shown["edits"] = edits
}

func firstOf(o object, words []string) any {
	for _, w := range words {
		if v, ok := o[w]; ok {
			return v
		}
	}
	return ""
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
		if path := dig(native[k], text, []any{k}); path != nil {
			return path
		}
	}
	return nil
}

// maxDig bounds the search: tools keep what they run near the surface.
const maxDig = 6

func dig(v any, text string, path []any) []any {
	if len(path) > maxDig {
		return nil
	}
	path = path[:len(path):len(path)]
	switch v := v.(type) {
	case string:
		if v == text {
			return path
		}
	case []any:
		for i, element := range v {
			if found := dig(element, text, append(path, i)); found != nil {
				return found
			}
		}
	case object:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if found := dig(v[k], text, append(path, k)); found != nil {
				return found
			}
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
		if !replace(current, where[1:], value) {
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
		setFirst(to, oldWords, from["oldText"])
		setFirst(to, newWords, from["newText"])
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
			words := oldWords
			if key == "newText" {
				words = newWords
			}
			setFirst(edit, words, value)
			patch["edits"] = edits
			return nil
		}
	}
	return fmt.Errorf("changed %q, which %s has no key for", key, c.tool)
}

func setFirst(o object, words []string, value any) {
	for _, w := range words {
		if _, ok := o[w]; ok {
			o[w] = value
			return
		}
	}
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

func replace(root any, path []any, value any) bool {
	at := root
	for i, step := range path {
		last := i == len(path)-1
		switch step := step.(type) {
		case int:
			list, ok := at.([]any)
			if !ok || step >= len(list) {
				return false
			}
			if last {
				list[step] = value
			}
			at = list[step]
		case string:
			o, ok := at.(object)
			if !ok {
				return false
			}
			if last {
				o[step] = value
			}
			at = o[step]
		}
	}
	return true
}
