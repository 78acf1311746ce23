// Package toolnames knows the names that hooks of other programs use for tools and the keys of
// their input: a shell call is Bash with a command for hooks written for Claude Code, and bash for
// extensions of pi, whichever agent makes it and whatever that agent calls it. It holds the names,
// and finds and replaces a text in an input; who is shown what is decided by its callers.
package toolnames

import (
	"maps"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
)

// Spelling is the name of a kind of tool in one dialect. Subject is the key of the
// command, file or address that the call is about.
type Spelling struct {
	Tool    string
	Subject string
	Keys    []Key
}

// Key is a key of an input, and how others spell it, likeliest first.
type Key struct {
	Word   string
	Others []string
}

// Key returns a key of the spelling by its word; a word it doesn't have is returned as it is.
func (s Spelling) Key(word string) Key {
	for _, k := range s.Keys {
		if k.Word == word {
			return k
		}
	}
	return Key{Word: word}
}

// In returns how an input spells the key, if it has it.
func (k Key) In(has func(word string) bool) (string, bool) {
	if has(k.Word) {
		return k.Word, true
	}
	for _, w := range k.Others {
		if has(w) {
			return w, true
		}
	}
	return "", false
}

// The dialects. A kind that is missing has no word there: the agent's own name
// and input stay.
var (
	Claude = spellings(func(k kind) (string, string) { return k.claude.tool, k.claude.subject },
		func(k key) string { return k.claude })
	Pi = spellings(func(k kind) (string, string) { return k.pi.tool, k.pi.subject },
		func(k key) string { return k.pi })
)

type kind struct {
	claude, pi name
	keys       []key
}

type name struct{ tool, subject string }

// key is one idea: its name in each dialect, empty if that has none, and every spelling that was seen,
// likeliest first.
type key struct {
	claude, pi string
	met        []string
}

var (
	content = key{"content", "content", []string{"content", "contents", "text", "file_text", "fileText", "data"}}
	old     = key{"old_string", "oldText", []string{"old_string", "oldString", "old_str", "oldStr", "old_text",
		"oldText"}}
	fresh = key{"new_string", "newText", []string{"new_string", "newString", "new_str", "newStr", "new_text",
		"newText"}}
	all     = key{"replace_all", "", []string{"replace_all", "replaceAll"}}
	pattern = key{"pattern", "pattern", []string{"pattern", "query", "regex", "regexp", "search", "glob_pattern",
		"globPattern"}}
	glob = key{"glob", "glob", []string{"glob", "include", "file_pattern", "filePattern"}}
	// Claude Code takes grep's own flags.
	ignoreCase = key{"-i", "ignoreCase", []string{"-i", "ignoreCase", "ignore_case", "case_insensitive",
		"caseInsensitive"}}
	offset = key{"", "offset", []string{"offset", "start_line", "startLine"}}
)

var kinds = map[event.ToolKind]kind{
	event.Shell:     {name{"Bash", "command"}, name{"bash", "command"}, nil},
	event.FileRead:  {name{"Read", "file_path"}, name{"read", "path"}, []key{offset}},
	event.FileWrite: {name{"Write", "file_path"}, name{"write", "path"}, []key{content}},
	event.FileEdit:  {name{"Edit", "file_path"}, name{"edit", "path"}, []key{old, fresh, all}},
	event.Search:    {name{"Grep", "path"}, name{"grep", "path"}, []key{pattern, glob, ignoreCase}},
	event.Fetch:     {name{"WebFetch", "url"}, name{}, nil},
	event.Task: {name{"Task", ""}, name{}, []key{
		{claude: "prompt", met: []string{"prompt", "message", "task", "instructions", "input"}},
		{claude: "description", met: []string{"description", "title", "name"}},
		{claude: "subagent_type", met: []string{"subagent_type", "subagentType", "agent_type", "agentType", "agent"}},
	}},
	event.Question: {name{"AskUserQuestion", ""}, name{}, nil},
	event.Plan:     {name{"ExitPlanMode", ""}, name{}, nil},
}

func spellings(named func(kind) (tool, subject string), word func(key) string) map[event.ToolKind]Spelling {
	out := map[event.ToolKind]Spelling{}
	for k, one := range kinds {
		var s Spelling
		if s.Tool, s.Subject = named(one); s.Tool == "" {
			continue
		}
		for _, key := range one.keys {
			if w := word(key); w != "" {
				s.Keys = append(s.Keys, Key{w, slices.DeleteFunc(slices.Clone(key.met),
					func(m string) bool { return m == w })})
			}
		}
		out[k] = s
	}
	return out
}

// Searched is what a tool of the kind search looks through, by its name.
type Searched int

// Contents are searched when the name does not say otherwise.
const (
	Contents Searched = iota
	FileNames
	Folder
)

// Searches distinguishes the three: agents have them as one kind of tool.
func Searches(tool string) Searched {
	tool = strings.ToLower(tool)
	switch {
	case strings.Contains(tool, "glob") || strings.Contains(tool, "find"):
		return FileNames
	case strings.Contains(tool, "list") || tool == "ls":
		return Folder
	}
	return Contents
}

// maxDig bounds the search: tools keep what they run near the surface.
const maxDig = 5

// Dig finds the way to a text inside a decoded value: keys of objects and
// positions in lists. It is nil when the text is nowhere, or the value itself.
func Dig(v any, text string) []any {
	return dig(v, text, nil)
}

func dig(v any, text string, path []any) []any {
	if len(path) > maxDig {
		return nil
	}
	here := path[:len(path):len(path)]
	switch v := v.(type) {
	case string:
		if v == text && len(path) > 0 {
			return path
		}
	case []any:
		for i, element := range v {
			if found := dig(element, text, append(here, i)); found != nil {
				return found
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // the same place every time
			if found := dig(v[key], text, append(here, key)); found != nil {
				return found
			}
		}
	}
	return nil
}

// Replace replaces the value at a path from [Dig], in place. It returns false if the path doesn't lead
// anywhere.
func Replace(root any, path []any, value any) bool {
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
			object, ok := at.(map[string]any)
			if !ok {
				return false
			}
			if last {
				object[step] = value
			}
			at = object[step]
		}
	}
	return true
}
