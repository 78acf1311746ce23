package event

import (
	"encoding/json"
	"time"
)

// wireEvent is an event as AppendJSON writes it.
type wireEvent struct {
	ID           string          `json:"id"`
	Time         time.Time       `json:"time"`
	Agent        string          `json:"agent"`
	AgentVersion string          `json:"agentVersion"`
	Kind         Kind            `json:"kind"`
	Native       string          `json:"native"`
	Session      string          `json:"session"`
	Turn         string          `json:"turn"`
	Cwd          string          `json:"cwd"`
	Mode         string          `json:"mode"`
	Model        string          `json:"model"`
	Title        string          `json:"title"`
	Transcript   string          `json:"transcript"`
	Attended     Attended        `json:"attended"`
	Reviewer     Reviewer        `json:"reviewer"`
	Subagent     *Subagent       `json:"subagent"`
	Tool         *wireTool       `json:"tool"`
	Prompt       string          `json:"prompt"`
	Message      string          `json:"message"`
	Detail       string          `json:"detail"`
	Error        string          `json:"error"`
	GoingOn      bool            `json:"goingOn"`
	Background   int             `json:"background"`
	Where        Place           `json:"where"`
	Truncated    bool            `json:"truncated"`
	Malformed    string          `json:"malformed"`
	Nested       bool            `json:"nested"`
	Raw          json.RawMessage `json:"raw"`
}

type wireTool struct {
	Name       string          `json:"name"`
	Kind       ToolKind        `json:"kind"`
	CallID     string          `json:"callId"`
	Commands   []string        `json:"commands"`
	Reads      []string        `json:"reads"`
	Writes     []string        `json:"writes"`
	URL        string          `json:"url"`
	Folder     string          `json:"folder"`
	MCP        *MCPCall        `json:"mcp"`
	Input      json.RawMessage `json:"input"`
	Changed    json.RawMessage `json:"changed"`
	Output     json.RawMessage `json:"output"`
	Failed     bool            `json:"failed"`
	DurationMS int64           `json:"durationMs"`
}

// UnmarshalJSON reads an event that a daemon stored, streamed or explained. Raw
// is then the payload as one JSON value.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w wireEvent
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Event{
		ID: w.ID, Time: w.Time, Agent: w.Agent, AgentVersion: w.AgentVersion, Kind: w.Kind, Native: w.Native,
		Session: w.Session, Turn: w.Turn, Cwd: w.Cwd, Mode: w.Mode, Model: w.Model, Title: w.Title,
		Transcript: w.Transcript, Attended: w.Attended, Reviewer: w.Reviewer, Subagent: w.Subagent, Prompt: w.Prompt,
		Message: w.Message, Detail: w.Detail, Error: w.Error, GoingOn: w.GoingOn, Background: w.Background,
		Where:     w.Where,
		Truncated: w.Truncated, Malformed: w.Malformed, Nested: w.Nested, Raw: w.Raw,
	}
	if t := w.Tool; t != nil {
		e.Tool = &Tool{
			Name: t.Name, Kind: t.Kind, CallID: t.CallID, Commands: t.Commands, Reads: t.Reads, Writes: t.Writes,
			URL: t.URL, Folder: t.Folder, MCP: t.MCP, Input: t.Input, Changed: t.Changed, Output: t.Output, Failed: t.Failed,
			Duration: time.Duration(t.DurationMS) * time.Millisecond,
		}
	}
	return nil
}
