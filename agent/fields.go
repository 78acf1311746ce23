package agent

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent/dialect"
)

// field is one of the unified fields a payload key can fill.
type field uint8

const (
	noField field = iota
	fEvent
	fSession
	fTurn
	fCwd
	fMode
	fModel
	fTitle
	fTranscript
	fPrompt
	fMessage
	fDetail
	fError
	fSubagentID
	fSubagentType
	fParent
	fVersion
	fAttended
	fToolName
	fToolInput
	fToolOutput
	fToolCall
	fMCPServer
	fDurationMS
	fFailed
	fInterrupted
	fGoingOn
	fBackground
	fTruncated
	fQuestions
	fSuggestions
	fieldCount
)

// fieldNames are the fields as the YAML files spell them.
var fieldNames = [fieldCount]string{
	fEvent: "event", fSession: "session", fTurn: "turn", fCwd: "cwd", fMode: "mode", fModel: "model",
	fTitle: "title", fTranscript: "transcript", fPrompt: "prompt", fMessage: "message", fDetail: "detail",
	fError: "error", fSubagentID: "subagent_id", fSubagentType: "subagent_type", fToolName: "tool_name",
	fParent: "parent", fVersion: "version", fAttended: "attended", fFailed: "failed", fInterrupted: "interrupted",
	fToolInput: "tool_input", fToolOutput: "tool_output", fToolCall: "tool_call",
	fMCPServer:  "mcp_server",
	fDurationMS: "duration_ms", fGoingOn: "going_on", fBackground: "background", fTruncated: "truncated",
	fQuestions: "questions", fSuggestions: "suggestions",
}

func fieldNamed(name string) field {
	for f, n := range fieldNames {
		if n == name && n != "" {
			return field(f)
		}
	}
	return noField
}

// keys lists the payload keys of each field, best first.
func (s *FieldSpec) keys() [fieldCount][]string {
	return [fieldCount][]string{
		fEvent: s.Event, fSession: s.Session, fTurn: s.Turn, fCwd: s.Cwd, fMode: s.Mode, fModel: s.Model,
		fTitle: s.Title, fTranscript: s.Transcript, fPrompt: s.Prompt, fMessage: s.Message, fDetail: s.Detail,
		fError: s.Error, fSubagentID: s.SubagentID, fSubagentType: s.SubagentType, fToolName: s.ToolName,
		fParent: s.Parent, fVersion: s.Version, fAttended: s.Attended, fFailed: s.Failed, fInterrupted: s.Interrupted,
		fToolInput: s.ToolInput, fToolOutput: s.ToolOutput, fToolCall: s.ToolCall,
		fMCPServer:  s.MCPServer,
		fDurationMS: s.DurationMS, fGoingOn: s.GoingOn, fBackground: s.Background, fTruncated: s.Truncated,
		fQuestions: s.Questions, fSuggestions: s.Suggestions,
	}
}

// source describes where one payload key gets its value. A lower rank is the better source.
type source struct {
	field field
	rank  uint8
	sub   []string // the keys below it
}

// eventTable is an event with the payload keys that count at it.
type eventTable struct {
	spec *EventSpec
	keys map[string][]source // one key may hold several fields below it
}

// compiled is an agent made ready for the hot path.
type compiled struct {
	dialect dialect.Dialect
	joined  bool // standing approvals are one offer
	events  map[string]*eventTable
	unknown *eventTable // an event the catalogue does not have

	tools    map[string]*toolTable
	globs    []*toolTable
	fallback *toolTable
}

// splitKey takes a key apart into the payload's own and those below it.
func splitKey(key string) (string, []string) {
	keys := strings.Split(key, ".")
	return keys[0], keys[1:]
}

func compile(a *Agent) *compiled {
	c := &compiled{events: map[string]*eventTable{}, tools: map[string]*toolTable{}}
	c.dialect, _ = dialect.Lookup(a.Dialect)
	c.joined = a.OffersTogether
	base := map[string][]source{}
	for f, keys := range a.Fields.keys() {
		for rank, key := range keys {
			key, sub := splitKey(key)
			base[key] = append(base[key], source{field(f), uint8(rank + 1), sub})
		}
	}
	c.unknown = &eventTable{keys: base}
	for _, spec := range a.Events {
		t := &eventTable{spec: spec, keys: base}
		if len(spec.Fields) > 0 {
			t.keys = make(map[string][]source, len(base)+len(spec.Fields))
			for key, s := range base {
				t.keys[key] = s
			}
			for key, name := range spec.Fields {
				key, sub := splitKey(key)
				kept := make([]source, 0, len(t.keys[key])+1)
				for _, s := range t.keys[key] {
					if !slices.Equal(s.sub, sub) {
						kept = append(kept, s)
					}
				}
				if name != "-" {
					kept = append(kept, source{fieldNamed(name), 0, sub}) // an event's own word beats the common keys
				}
				if t.keys[key] = kept; len(kept) == 0 {
					delete(t.keys, key)
				}
			}
		}
		c.events[spec.Name] = t
	}
	for _, spec := range a.Tools {
		t := compileTool(spec)
		switch {
		case spec.Name == "*":
			c.fallback = t
		case t.glob != nil:
			c.globs = append(c.globs, t)
		default:
			c.tools[spec.Name] = t
		}
	}
	if c.fallback == nil {
		c.fallback = compileTool(&ToolSpec{Name: "*", Kind: "other"})
	}
	return c
}
