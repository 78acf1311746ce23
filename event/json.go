package event

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// AppendString appends s as a JSON string. Unlike encoding/json it leaves
// <, > and & alone (Codex hashes and agents compare raw text) and turns broken
// UTF-8 into U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = jsontext.AppendEscape(append(dst, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			i++
			start = i
			continue
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// object writes members of a JSON object, leaving out empty ones.
type object struct {
	b     []byte
	first bool
}

func (o *object) open()  { o.b = append(o.b, '{'); o.first = true }
func (o *object) close() { o.b = append(o.b, '}'); o.first = false }
func (o *object) key(k string) {
	if !o.first {
		o.b = append(o.b, ',')
	}
	o.first = false
	o.b = append(o.b, '"')
	o.b = append(o.b, k...)
	o.b = append(o.b, '"', ':')
}
func (o *object) str(k, v string) {
	if v != "" {
		o.key(k)
		o.b = AppendString(o.b, v)
	}
}
func (o *object) yes(k string, v bool) {
	if v {
		o.key(k)
		o.b = append(o.b, "true"...)
	}
}
func (o *object) num(k string, v int64) {
	if v != 0 {
		o.key(k)
		o.b = strconv.AppendInt(o.b, v, 10)
	}
}
func (o *object) raw(k string, v []byte) {
	if len(v) > 0 {
		o.key(k)
		o.b = append(o.b, v...)
	}
}

// value writes what should be JSON and may not be, when a handler made it.
func (o *object) value(k string, v []byte) { o.raw(k, RawJSON(v)) }

// moment writes a time; one that RFC 3339 cannot spell is left out.
func (o *object) moment(k string, t time.Time, layout string) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return
	}
	o.key(k)
	o.b = append(o.b, '"')
	o.b = t.AppendFormat(o.b, layout)
	o.b = append(o.b, '"')
}
func (o *object) list(k string, v []string) {
	if len(v) == 0 {
		return
	}
	o.key(k)
	o.b = append(o.b, '[')
	for i, s := range v {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = AppendString(o.b, s)
	}
	o.b = append(o.b, ']')
}

// Form chooses what of an event [Event.AppendJSON] writes.
type Form struct {
	// Raw is the payload to write under "raw"; nil leaves it out. It must be
	// one JSON value: see [RawJSON].
	Raw []byte
	// NoBodies leaves out the tool's input and output, which Raw contains too.
	NoBodies bool
}

// AppendJSON appends the event as hookmux's own programs exchange and store
// it.
func (e *Event) AppendJSON(dst []byte, f Form) []byte {
	o := object{b: dst}
	o.open()
	o.str("id", e.ID)
	if !e.Time.IsZero() {
		o.moment("time", e.Time, time.RFC3339Nano)
	}
	o.str("agent", e.Agent)
	o.str("agentVersion", e.AgentVersion)
	o.str("kind", string(e.Kind))
	o.str("native", e.Native)
	o.str("session", e.Session)
	o.str("turn", e.Turn)
	o.str("cwd", e.Cwd)
	o.str("mode", e.Mode)
	o.str("model", e.Model)
	o.str("title", e.Title)
	o.str("transcript", e.Transcript)
	o.str("attended", string(e.Attended))
	o.str("reviewer", string(e.Reviewer))
	if s := e.Subagent; s != nil {
		o.key("subagent")
		o.open()
		o.str("id", s.ID)
		o.str("type", s.Type)
		o.str("parent", s.Parent)
		o.close()
	}
	if t := e.Tool; t != nil {
		o.key("tool")
		t.appendTo(&o, f.NoBodies)
	}
	o.str("prompt", e.Prompt)
	o.str("message", e.Message)
	o.str("detail", e.Detail)
	o.str("error", e.Error)
	o.yes("goingOn", e.GoingOn)
	o.num("background", int64(e.Background))
	if p := e.Where; p != (Place{}) {
		o.key("where")
		o.open()
		o.num("pid", int64(p.PID))
		if p.Start != 0 {
			o.key("start")
			o.b = strconv.AppendUint(o.b, p.Start, 10)
		}
		o.str("tty", p.TTY)
		o.str("pane", p.Pane)
		o.str("host", p.Host)
		o.close()
	}
	o.yes("truncated", e.Truncated)
	o.str("malformed", e.Malformed)
	o.yes("nested", e.Nested)
	o.raw("raw", f.Raw)
	o.close()
	return o.b
}

func (t *Tool) appendTo(o *object, noBodies bool) {
	o.open()
	o.str("name", t.Name)
	o.str("kind", string(t.Kind))
	o.str("callId", t.CallID)
	o.list("commands", t.Commands)
	o.list("reads", t.Reads)
	o.list("writes", t.Writes)
	o.str("url", t.URL)
	o.str("folder", t.Folder)
	if m := t.MCP; m != nil {
		o.key("mcp")
		o.open()
		o.str("server", m.Server)
		o.str("tool", m.Tool)
		o.close()
	}
	if !noBodies {
		o.value("input", t.Input)
		o.value("output", t.Output)
	}
	o.value("changed", t.Changed)
	o.yes("failed", t.Failed)
	o.num("durationMs", t.Duration.Milliseconds())
	o.close()
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// RawJSON returns the payload as one JSON value that any reader takes: its very
// bytes when they are one, without a byte order mark and with U+FFFD for bytes
// that are no UTF-8; else its text as a JSON string, so that a broken payload
// is still carried whole. An empty payload gives nil.
func RawJSON(payload []byte) json.RawMessage {
	if len(payload) == 0 {
		return nil
	}
	value := bytes.TrimPrefix(payload, byteOrderMark)
	if !json.Valid(value) {
		return AppendString(nil, string(payload))
	}
	if !utf8.Valid(value) {
		return bytes.ToValidUTF8(value, []byte("\ufffd"))
	}
	return value
}

// MarshalJSON writes the whole event, payload included.
func (e Event) MarshalJSON() ([]byte, error) {
	return e.AppendJSON(nil, Form{Raw: RawJSON(e.Raw)}), nil
}

// MarshalUnified returns the payload that handlers read on stdin: the same shape
// and the same spellings for every agent, with the agent's own payload under
// "raw".
func (e *Event) MarshalUnified() []byte {
	o := object{b: make([]byte, 0, 512+2*len(e.Raw))}
	o.open()
	o.str("id", e.ID)
	o.str("agent", e.Agent)
	o.str("agentVersion", e.AgentVersion)
	o.str("hookType", e.Native)
	o.str("kind", string(e.Kind))
	o.str("sessionId", e.Session)
	o.moment("timestamp", e.Time, "2006-01-02T15:04:05.000Z07:00")
	o.str("cwd", e.Cwd)
	o.key("data")
	o.open()
	if t := e.Tool; t != nil {
		o.str("tool_name", t.Name)
		o.str("tool_kind", string(t.Kind))
		o.str("tool_use_id", t.CallID)
		o.value("tool_input", t.CurrentInput())
		if t.Changed != nil {
			o.value("original_tool_input", t.Input)
		}
		o.value("tool_output", t.Output)
		o.yes("tool_failed", t.Failed)
		o.list("commands", t.Commands)
		o.list("paths", t.Paths())
		o.str("url", t.URL)
		if t.MCP != nil {
			o.str("mcp_server", t.MCP.Server)
			o.str("mcp_tool", t.MCP.Tool)
		}
	}
	o.str("prompt", e.Prompt)
	o.str("message", e.Message)
	o.str("detail", e.Detail)
	o.str("error", e.Error)
	o.str("cwd", e.Cwd)
	o.str("transcript_path", e.Transcript)
	o.str("permission_mode", e.Mode)
	o.str("model", e.Model)
	o.str("session_title", e.Title)
	o.str("turn_id", e.Turn)
	if s := e.Subagent; s != nil {
		o.str("agent_id", s.ID)
		o.str("agent_type", s.Type)
	}
	o.yes("stop_hook_active", e.GoingOn)
	o.num("background_tasks", int64(e.Background))
	o.yes("truncated", e.Truncated)
	o.str("malformed", e.Malformed)
	o.close()
	o.raw("raw", RawJSON(e.Raw))
	o.close()
	return o.b
}

// wireDecision is a decision as MarshalJSON writes it.
type wireDecision struct {
	Verdict   string          `json:"verdict"`
	Reason    string          `json:"reason"`
	Allowed   bool            `json:"allowed"`
	Input     json.RawMessage `json:"modifiedInput"`
	Output    json.RawMessage `json:"modifiedOutput"`
	Context   string          `json:"context"`
	Notice    string          `json:"notice"`
	KeepGoing bool            `json:"keepGoing"`
	ExitCode  int             `json:"exitCode"`
	Stdout    string          `json:"stdout"`
	Answer    *Answer         `json:"answer"`
	By        string          `json:"by"`
	Rule      string          `json:"rule"`
	Rules     []string        `json:"rules"`
	Degraded  []Degradation   `json:"degraded"`
}

// MarshalJSON writes the verdict as a word, "none" included.
func (d Decision) MarshalJSON() ([]byte, error) {
	var o object
	o.open()
	o.str("verdict", d.Verdict.Word())
	o.str("reason", d.Reason)
	o.yes("allowed", d.Allowed)
	o.value("modifiedInput", d.Input)
	o.value("modifiedOutput", d.Output)
	o.str("context", d.Context)
	o.str("notice", d.Notice)
	o.yes("keepGoing", d.KeepGoing)
	o.num("exitCode", int64(d.ExitCode))
	o.str("stdout", d.Stdout)
	if d.Answer != nil {
		answer := *d.Answer
		if len(answer.Suggestion) > 0 {
			answer.Suggestion = RawJSON(answer.Suggestion)
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		o.value("answer", b)
	}
	o.str("by", d.By)
	o.str("rule", d.Rule)
	o.list("rules", d.Rules)
	o.list("degraded", d.DegradedText())
	o.close()
	return o.b, nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Decision) UnmarshalJSON(b []byte) error {
	var w wireDecision
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	v, err := ParseVerdict(w.Verdict)
	if err != nil {
		return err
	}
	*d = Decision{
		Verdict: v, Reason: w.Reason, Allowed: w.Allowed, Input: w.Input, Output: w.Output, Context: w.Context,
		Notice: w.Notice, KeepGoing: w.KeepGoing, ExitCode: w.ExitCode, Stdout: w.Stdout, Answer: w.Answer,
		By: w.By, Rule: w.Rule, Rules: w.Rules, Degraded: w.Degraded,
	}
	if isNull(d.Input) {
		d.Input = nil
	}
	if isNull(d.Output) {
		d.Output = nil
	}
	return nil
}
