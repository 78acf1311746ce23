package acp

import (
	"encoding/json"
	"strings"
)

// toolCall is a tool call as far as messages reported it.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Status    string          `json:"status"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`
	Content   []toolContent   `json:"content"`
	Locations []toolLocation  `json:"locations"`
	Meta      struct {
		ClaudeCode struct {
			ToolName string `json:"toolName"`
		} `json:"claudeCode"`
	} `json:"_meta"`

	begun bool // its beginning was reported
}

// toolContent is the content of a call: text, or the difference it makes to a file.
type toolContent struct {
	Type    string `json:"type"`
	Path    string `json:"path"`
	NewText string `json:"newText"`
	Content struct {
		Text string `json:"text"`
	} `json:"content"`
}

type toolLocation struct {
	Path string `json:"path"`
}

// merge adds what a later message says.
func (t *toolCall) merge(more *toolCall) {
	for _, pair := range []struct{ into, from *string }{
		{&t.Title, &more.Title}, {&t.Kind, &more.Kind}, {&t.Name, &more.Name}, {&t.Status, &more.Status},
		{&t.Meta.ClaudeCode.ToolName, &more.Meta.ClaudeCode.ToolName},
	} {
		if *pair.from != "" {
			*pair.into = *pair.from
		}
	}
	if !isBlank(more.RawInput) {
		t.RawInput = more.RawInput
	}
	if !isBlank(more.RawOutput) {
		t.RawOutput = more.RawOutput
	}
	if len(more.Content) > 0 {
		t.Content = more.Content
	}
	if len(more.Locations) > 0 {
		t.Locations = more.Locations
	}
}

// isBlank reports whether a value says nothing.
func isBlank(v json.RawMessage) bool {
	text := strings.TrimSpace(string(v))
	return text == "" || text == "null" || text == "{}" || text == `""`
}

// ownName returns the agent's own name of the tool, if it is reported.
func (t *toolCall) ownName() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Meta.ClaudeCode.ToolName
}

// input returns the input of the call. titleOnly says that it wasn't reported completely:
// there is only a line that describes the call.
func (t *toolCall) input(titleIsCommand bool) (input json.RawMessage, titleOnly bool) {
	fields := map[string]json.RawMessage{}
	raw := unwrapJSONString(t.RawInput)
	told := json.Unmarshal(raw, &fields) == nil && len(fields) > 0
	paths := t.paths()
	line, joined := joinedCommand(fields)
	switch {
	case told && !joined && (len(paths) == 0 || t.Kind == "execute"): // a command's places follow from the command
		return raw, false
	case told:
		if joined {
			fields["command"] = asJSON(line)
			delete(fields, "args")
		}
		if t.Kind != "execute" && len(paths) > 0 {
			fields["paths"] = asJSON(append(pathsIn(fields["paths"]), paths...))
		}
	case !isBlank(raw): // a text or a list: nothing other than a command is given like that
		fields["command"] = raw
	case t.Kind == "execute":
		fields["command"] = asJSON(t.Title)
		titleOnly = !titleIsCommand
	default:
		fields["title"] = asJSON(t.Title)
		if len(paths) > 0 {
			fields["paths"] = asJSON(paths)
		}
		changes := t.changes()
		if changes != nil {
			fields["changes"] = asJSON(changes)
		}
		titleOnly = changes == nil && t.Kind != "read" && t.Kind != "search"
	}
	return asJSON(fields), titleOnly
}

// unwrapJSONString decodes an input that is a JSON string with an object in it.
func unwrapJSONString(input json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(input, &text) == nil && strings.HasPrefix(strings.TrimSpace(text), "{") &&
		json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return input
}

// pathsIn returns the paths that an input lists itself.
func pathsIn(list json.RawMessage) (paths []string) {
	readLoosely(list, &paths)
	return paths
}

// paths returns the files that the call names, each once.
func (t *toolCall) paths() []string {
	var list []string
	seen := map[string]bool{"": true}
	for _, path := range append(t.changedPaths(), t.locatedPaths()...) {
		if !seen[path] {
			seen[path] = true
			list = append(list, path)
		}
	}
	return list
}

func (t *toolCall) changedPaths() (list []string) {
	for _, c := range t.Content {
		if c.Type == "diff" {
			list = append(list, c.Path)
		}
	}
	return list
}

func (t *toolCall) locatedPaths() (list []string) {
	for _, l := range t.Locations {
		list = append(list, l.Path)
	}
	return list
}

// changes returns the new texts of files, by path.
func (t *toolCall) changes() map[string]string {
	var list map[string]string
	for _, c := range t.Content {
		if c.Type == "diff" {
			if list == nil {
				list = map[string]string{}
			}
			list[c.Path] = c.NewText
		}
	}
	return list
}

// output returns the result of the call.
func (t *toolCall) output() json.RawMessage {
	if !isBlank(t.RawOutput) {
		return t.RawOutput
	}
	var texts []string
	for _, c := range t.Content {
		if c.Content.Text != "" {
			texts = append(texts, c.Content.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return asJSON(strings.Join(texts, "\n"))
}

func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // texts and lists of texts can be written
	}
	return b
}
