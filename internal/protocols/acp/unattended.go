package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent/dialect"
)

// unattended maps the requests of an agent that editors carry out without asking you to the
// events that they are reported as.
var unattended = map[string]string{
	"terminal/create":    eventTerminal,
	"fs/write_text_file": eventWriteFile,
	"fs/read_text_file":  eventReadFile,
}

// action is something that an editor does for an agent.
type action struct {
	kind actionKind
	what string // the path, or the command line
}

type actionKind int

const (
	runCommand actionKind = iota
	readFile
	writeFile
)

// askedToAct handles a request to run a command, write or read a file in the editor. What was
// permitted before isn't asked again.
func (c *Conversation) askedToAct(m *Message) Step {
	var p struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
	}
	readLoosely(m.Params, &p) // guards see what can be read of it
	said := payload{Request: m.Key(), ToolName: "edit", ToolInput: m.Params}
	actions := []action{{writeFile, p.Path}}
	switch m.Method {
	case "terminal/create":
		said.ToolName = "execute"
		said.ToolInput, actions = terminalInput(m.Params)
	case "fs/read_text_file":
		said.ToolName, actions = "read", []action{{readFile, p.Path}}
	}
	s := c.session(p.SessionID)
	if slices.ContainsFunc(actions, func(a action) bool { return s.allowed[a] }) {
		return Step{}
	}
	return Step{Permission: &Permission{ID: m.ID, Key: m.Key(), Session: p.SessionID, Unattended: true,
		Report: c.report(unattended[m.Method], p.SessionID, said)}}
}

// terminalInput returns what a new terminal runs, as one command line, and the ways in
// which a request for permission may have named it.
func terminalInput(params json.RawMessage) (input json.RawMessage, actions []action) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(params, &fields) != nil {
		return params, nil
	}
	line, whole := joinedCommand(fields)
	if whole {
		fields["command"] = asJSON(line)
		delete(fields, "args")
	}
	return asJSON(fields), []action{{runCommand, strings.TrimSpace(line)}}
}

// joinedCommand returns a command whose arguments are in a field of their own, as one line.
// It is false if there are none, or if they aren't all strings.
func joinedCommand(fields map[string]json.RawMessage) (line string, whole bool) {
	var command string
	var arguments []string
	if json.Unmarshal(fields["command"], &command) != nil || command == "" {
		return "", false
	}
	if json.Unmarshal(fields["args"], &arguments) != nil || len(arguments) == 0 {
		return command, false
	}
	return dialect.CommandLine(append([]string{command}, arguments...)), true
}

// permittedActions returns the commands and paths that a yes to this call is for.
func (t *toolCall) permittedActions(input json.RawMessage) (list []action) {
	var fields struct {
		Command json.RawMessage `json:"command"`
		Path    string          `json:"path"`
		File    string          `json:"file_path"`
	}
	readLoosely(input, &fields)
	var line string
	var words []string
	switch {
	case json.Unmarshal(fields.Command, &line) == nil && line != "":
		list = append(list, action{runCommand, strings.TrimSpace(line)})
	case json.Unmarshal(fields.Command, &words) == nil && len(words) > 0:
		list = append(list, action{runCommand, dialect.CommandLine(words)})
	}
	for _, path := range append(t.paths(), fields.Path, fields.File) {
		switch {
		case path == "":
		case t.Kind == "read" || t.Kind == "search":
			list = append(list, action{readFile, path})
		case t.Kind == "edit" || t.Kind == "delete" || t.Kind == "move":
			list = append(list, action{readFile, path}, action{writeFile, path})
		}
	}
	return list
}

// isYes reports whether an answer chooses an option that allows.
func (p *Permission) isYes(result json.RawMessage) bool {
	var r struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	var asked struct {
		Options []struct{ OptionID, Kind string } `json:"options"`
	}
	_ = json.Unmarshal(result, &r)        // an answer of another shape is no yes
	readLoosely(p.Report.Payload, &asked) // it was written here
	return r.Outcome.Outcome == "selected" && slices.ContainsFunc(asked.Options,
		func(option struct{ OptionID, Kind string }) bool {
			return option.OptionID == r.Outcome.OptionID && strings.HasPrefix(option.Kind, "allow")
		})
}
