package event

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyText is text as agents really send it: quotes, control characters,
// broken UTF-8, signs that JSON writers like to escape.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Just(""),
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 12), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"<a>&\u2028\u2029", `"\`, "\x00\x1f\x7f", "\xff\xfe", "🙂\ud7ff\ufffd", "a\r\n\tb"}),
	)
}

// anyJSON returns one JSON value, in whatever spelling.
func anyJSON() *rapid.Generator[json.RawMessage] {
	return rapid.SampledFrom([]json.RawMessage{
		nil, raw(`{}`), raw(`{"command":"ls -l"}`), raw("{ \"a\" :\n [1, 2.50, \"<\"] }"), raw(`"text"`), raw(`12e3`), raw(`[null,true]`),
	})
}

func drawEvent(t *rapid.T) Event {
	text := func(name string) string { return anyText().Draw(t, name) }
	texts := func(name string) []string { return rapid.SliceOfN(anyText(), 0, 3).Draw(t, name) }
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	e := Event{
		ID: text("id"), Agent: text("agent"), AgentVersion: text("version"), Native: text("native"),
		Kind: rapid.SampledFrom(Kinds()).Draw(t, "kind"), Session: text("session"), Turn: text("turn"),
		Cwd:  text("cwd"),
		Mode: text("mode"), Model: text("model"), Title: text("title"), Transcript: text("transcript"),
		Attended: rapid.SampledFrom([]Attended{AttendedUnknown, AttendedYes, AttendedNo}).Draw(t, "attended"),
		Reviewer: rapid.SampledFrom([]Reviewer{ReviewerUnknown, ReviewerUser, ReviewerAgent}).Draw(t, "reviewer"),
		Prompt:   text("prompt"), Message: text("message"), Detail: text("detail"), Error: text("error"),
		GoingOn: flag("going"), Background: rapid.IntRange(-1, 3).Draw(t, "background"),
		Truncated: flag("cut"), Malformed: text("malformed"), Nested: flag("nested"), Raw: anyJSON().Draw(t, "raw"),
	}
	if flag("timed") {
		e.Time = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	}
	if flag("placed") {
		e.Where = Place{PID: rapid.Int().Draw(t, "pid"), Start: rapid.Uint64().Draw(t, "start"), TTY: text("tty"),
			Pane: text("pane"), Host: text("host")}
	}
	if flag("sub") {
		e.Subagent = &Subagent{ID: text("sub id"), Type: text("sub type"), Parent: text("parent")}
	}
	if flag("tool") {
		e.Tool = &Tool{
			Name: text("tool"), Kind: rapid.SampledFrom(ToolKinds()).Draw(t, "tool kind"), CallID: text("call"),
			Commands: texts("commands"), Reads: texts("reads"), Writes: texts("writes"), URL: text("url"), Folder: text("folder"),
			Input: anyJSON().Draw(t, "input"), Changed: anyJSON().Draw(t, "changed"),
			Output: anyJSON().Draw(t, "output"),
			Failed: flag("failed"), Duration: time.Duration(rapid.Int64Range(0, 1e6).Draw(t, "ms")) * time.Millisecond,
		}
		if flag("mcp") {
			e.Tool.MCP = &MCPCall{Server: text("server"), Tool: text("mcp tool")}
		}
	}
	return e
}

// expected is what must come back: broken UTF-8 became U+FFFD, empty lists nil.
func expected(v any) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.String:
			v.SetString(strings.ToValidUTF8(asRunes(v.String()), "\ufffd"))
		case reflect.Slice:
			if v.Len() == 0 {
				v.SetZero()
			}
			if kind := v.Type().Elem().Kind(); kind == reflect.String ||
				v.Type().Elem() == reflect.TypeFor[Degradation]() {
				for i := range v.Len() {
					walk(v.Index(i))
				}
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(v))
}

// asRunes gives each broken byte its own U+FFFD, as encoding/json does;
// strings.ToValidUTF8 would give one to a run of them.
func asRunes(s string) string { return string([]rune(s)) }

func TestAppendStringAgainstEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		got := AppendString([]byte("x"), s)[1:]
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("%q: %q is no JSON", s, got)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != asRunes(s) {
			t.Fatalf("%q came back as %q (%v)", s, back, err)
		}
	})
	for in, want := range map[string]string{
		"<a> & b":        `"<a> & b"`,
		"\x00\x1b\x7f":   `"\u0000\u001b` + "\x7f\"",
		"a\"\\\n\r\t\b/": `"a\"\\\n\r\t\u0008/"`,
		"é🙂\u2028":       "\"é🙂\u2028\"",
		"\xc3(\xff":      "\"\ufffd(\ufffd\"",
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestEventComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		b := e.AppendJSON(nil, Form{Raw: RawJSON(e.Raw)})
		if !json.Valid(b) || !utf8.Valid(b) {
			t.Fatalf("no JSON: %s; want json.Valid(b) and utf8.Valid(b)", b)
		}
		var back Event
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v: b = %s, want no error", err, b)
		}
		expected(&e)
		expected(&back)
		if !reflect.DeepEqual(back, e) {
			t.Fatalf("\n got %+v\nwant %+v\ntool %+v\nwant %+v", back, e, back.Tool, e.Tool)
		}
		marshalled, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(marshalled, &back); err != nil {
			t.Fatal(err)
		}
		var one, other any
		if json.Unmarshal(b, &one) != nil || json.Unmarshal(marshalled, &other) != nil ||
			!reflect.DeepEqual(one, other) {
			t.Fatalf("MarshalJSON and AppendJSON differ:\n%s\n%s", marshalled, b)
		}
	})
}

func TestUnifiedIsJSONWhateverIsInIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		// What a Go handler may put in, and what an agent may send.
		junk := rapid.SampledFrom([]string{"", "{", "nope", "\xff", "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}"})
		e.Raw = []byte(junk.Draw(t, "junk payload"))
		if e.Tool != nil {
			e.Tool.Changed = raw(junk.Draw(t, "junk input"))
			e.Tool.Output = raw(junk.Draw(t, "junk output"))
		}
		for _, b := range [][]byte{e.MarshalUnified(), e.AppendJSON(nil, Form{Raw: RawJSON(e.Raw)})} {
			if !json.Valid(b) || !utf8.Valid(b) {
				t.Fatalf("no JSON: %q; want json.Valid(b) and utf8.Valid(b)", b)
			}
		}
		var u struct {
			Agent     string         `json:"agent"`
			HookType  string         `json:"hookType"`
			Kind      Kind           `json:"kind"`
			SessionID string         `json:"sessionId"`
			Timestamp time.Time      `json:"timestamp"`
			Cwd       string         `json:"cwd"`
			Data      map[string]any `json:"data"`
		}
		if err := json.Unmarshal(e.MarshalUnified(), &u); err != nil {
			t.Fatal(err)
		}
		if u.Agent != asRunes(e.Agent) || u.HookType != asRunes(e.Native) || u.Kind != e.Kind ||
			u.SessionID != asRunes(e.Session) ||
			u.Cwd != asRunes(e.Cwd) || !u.Timestamp.Equal(e.Time.Truncate(time.Millisecond)) || u.Data == nil {
			t.Fatalf("read %+v of %+v; want the same kind, session, folder and time, and data", u, e)
		}
	})
}

func TestUnifiedPayload(t *testing.T) {
	e := Event{
		ID: "e1", Time: time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.FixedZone("", 7200)), Agent: "claude",
		AgentVersion: "2.1",
		Native:       "PreToolUse", Kind: ToolBefore, Session: "s1", Turn: "t1", Cwd: "/p", Mode: "default", Model: "m",
		Title:      "Fix it",
		Transcript: "/t.jsonl", GoingOn: true, Background: 2, Subagent: &Subagent{ID: "a1", Type: "explore"},
		Tool: &Tool{
			Name: "mcp__git__commit", Kind: MCP, CallID: "c1", Commands: []string{"git commit"}, Reads: []string{"/r"},
			Writes: []string{"/w"},
			URL:    "https://x", MCP: &MCPCall{Server: "git", Tool: "commit"}, Input: raw(`{"a":1}`),
			Changed: raw(`{"a":2}`), Output: raw(`"ok"`), Failed: true,
		},
		Prompt: "p", Message: "m", Detail: "d", Error: "e", Raw: []byte("{\n \"x\": 1 }\n"),
	}
	want := `{"id":"e1","agent":"claude","agentVersion":"2.1","hookType":"PreToolUse","kind":"tool.before","sessionId":"s1",` +
		`"timestamp":"2026-05-04T01:02:01.987Z","cwd":"/p","data":{"tool_name":"mcp__git__commit","tool_kind":"mcp","tool_use_id":"c1",` +
		`"tool_input":{"a":2},"original_tool_input":{"a":1},"tool_output":"ok","tool_failed":true,"commands":["git commit"],"paths":["/w","/r"],` +
		`"url":"https://x","mcp_server":"git","mcp_tool":"commit","prompt":"p","message":"m","detail":"d","error":"e","cwd":"/p",` +
		`"transcript_path":"/t.jsonl","permission_mode":"default","model":"m","session_title":"Fix it","turn_id":"t1","agent_id":"a1",` +
		`"agent_type":"explore","stop_hook_active":true,"background_tasks":2},"raw":` + "{\n \"x\": 1 }\n" + `}`
	if got := string(e.MarshalUnified()); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := string((&Event{}).MarshalUnified()); got != `{"timestamp":"0001-01-01T00:00:00.000Z","data":{}}` {
		t.Errorf(`(&Event{}).MarshalUnified() = %q, want {"timestamp":"0001-01-01T00:00:00.000Z","data":{}}`, got)
	}
}

// What an agent sent comes out under raw with the same bytes, however it was
// spelled.
func TestRawKeepsItsBytes(t *testing.T) {
	for _, payload := range []string{
		`{}`, "{\r\n\t\"a\" : [ 1.0,\t2e5 ],\n\"a\":\"\\u003c<\" }\n\n", `[1,2]`, `"text"`, `null`, ` 12 `, `{"n":123456789012345678901234567890}`,
	} {
		e := Event{Raw: []byte(payload)}
		var unified struct{ Raw json.RawMessage }
		if err := json.Unmarshal(e.MarshalUnified(), &unified); err != nil ||
			string(unified.Raw) != strings.TrimSpace(payload) {
			t.Errorf("%q: unified.Raw = %q, error %v; want no error and string(unified.Raw) = "+
				"strings.TrimSpace(payload)", payload, unified.Raw, err)
		}
		if !bytes.Contains(e.MarshalUnified(), []byte(payload)) {
			t.Errorf("%q is not in %s", payload, e.MarshalUnified())
		}
		var back Event
		if err := json.Unmarshal(e.AppendJSON(nil, Form{Raw: RawJSON(e.Raw)}), &back); err != nil ||
			string(back.Raw) != strings.TrimSpace(payload) {
			t.Errorf("%q: back.Raw = %q, error %v; want no error and string(back.Raw) = strings.TrimSpace(payload)",
				payload, back.Raw, err)
		}
	}
	for payload, want := range map[string]string{
		"":                      "",
		"\xef\xbb\xbf{\"a\":1}": `{"a":1}`,
		"{\"a\":\"\xff\xfe\"}":  "{\"a\":\"\ufffd\"}",
		`{"cut`:                 `"{\"cut"`,
		"plain text\n":          `"plain text\n"`,
		"{}{}":                  `"{}{}"`,
	} {
		if got := string(RawJSON([]byte(payload))); got != want {
			t.Errorf("%q: %s, want %s", payload, got, want)
		}
	}
}

func TestFormLeavesOut(t *testing.T) {
	e := Event{ID: "e", Raw: []byte(`{"x":1}`), Tool: &Tool{Name: "Bash", Input: raw(`{"i":1}`), Output: raw(`{"o":1}`),
		Changed: raw(`{"c":1}`)}}
	if got := string(e.AppendJSON(nil, Form{NoBodies: true})); got != `{"id":"e","tool":{"name":"Bash","changed":{"c":1}}}` {
		t.Errorf(`e.AppendJSON(nil, Form{NoBodies: true}) = %q, want `+
			`{"id":"e","tool":{"name":"Bash","changed":{"c":1}}}`, got)
	}
	if got := string(e.AppendJSON([]byte("> "), Form{Raw: raw(
		"1")})); got != `> {"id":"e","tool":{"name":"Bash","input":{"i":1},"output":{"o":1},"changed":{"c":1}},"raw":1}` {
		t.Errorf(`got %q, want > {"id":"e","tool":{"name":"Bash","input":{"i":1},"output":{"o":1},"changed":{"c":1}},"raw":1}`, got)
	}
}

func TestOddTimesAreLeftOut(t *testing.T) {
	e := Event{ID: "e", Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if got := string(e.AppendJSON(nil, Form{})); got != `{"id":"e"}` {
		t.Errorf(`e.AppendJSON(nil, Form{}) = %q, want {"id":"e"}`, got)
	}
	if got := string(e.MarshalUnified()); got != `{"id":"e","data":{}}` {
		t.Errorf(`e.MarshalUnified() = %q, want {"id":"e","data":{}}`, got)
	}
}

func TestEventThatIsNone(t *testing.T) {
	for _, s := range []string{`[]`, `{"time":"yesterday"}`, `{"tool":{"durationMs":"long"}}`} {
		if err := json.Unmarshal([]byte(s), new(Event)); err == nil {
			t.Errorf("%s was read; want an error", s)
		}
	}
}

func TestDecisionComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDecision(t)
		d.Reason, d.By = anyText().Draw(t, "reason"), anyText().Draw(t, "by")
		for _, text := range rapid.SliceOfN(anyText(), 0, 2).Draw(t, "degraded") {
			d.NoteDegraded(Degradation{Text: text})
		}
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back Decision
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v: b = %s, want no error", err, b)
		}
		// json.Marshal compacts; null is no value.
		for _, v := range []*json.RawMessage{&d.Input, &d.Output} {
			if isNull(*v) {
				*v = nil
				continue
			}
			var compact bytes.Buffer
			_ = json.Compact(&compact, *v)
			*v = compact.Bytes()
		}
		expected(&d)
		expected(&back)
		if !reflect.DeepEqual(back, d) {
			t.Fatalf("\n got %+v\nwant %+v", back, d)
		}
	})
	if b, _ := json.Marshal(Decision{}); string(b) != `{"verdict":"none"}` {
		t.Errorf(`b = %s, want {"verdict":"none"}`, b)
	}
	if b, err := json.Marshal(Decision{Verdict: Modify, Input: raw(`{"cut`)}); err != nil ||
		string(b) != `{"verdict":"modify","modifiedInput":"{\"cut"}` {
		t.Errorf(`b = %s, error %v; want no error and string(b) = {"verdict":"modify","modifiedInput":"{\"cut"}`,
			b, err)
	}
	var d Decision
	if err := json.Unmarshal([]byte(`{"verdict":"rewrite"}`), &d); err == nil {
		t.Error("a verdict nobody knows was read")
	}
	if err := json.Unmarshal([]byte(`{"verdict":"allow","modifiedInput":null}`), &d); err != nil || d.Input != nil {
		t.Errorf("d = %+v, error %v; want no error and d.Input = nil", d, err)
	}
}

func TestKinds(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range Kinds() {
		if seen[k] || !k.Known() {
			t.Errorf("%s: twice or not known", k)
		}
		seen[k] = true
		if k.Guarded() != (k == ToolBefore || k == PermissionRequest) ||
			k.TakesKeepGoing() != (k == TurnEnd || k == SubagentEnd) {
			t.Errorf("k = %q, want k.Guarded() = (k == ToolBefore || k == PermissionRequest) and k.TakesKeepGoing() "+
				"= (k == TurnEnd || k == SubagentEnd)", k)
		}
	}
	for _, k := range ToolKinds() {
		if !k.Known() {
			t.Errorf("k = %q, want k.Known()", k)
		}
	}
	if Kind("PreToolUse").Known() || Kind("").Known() || ToolKind("bash").Known() || ToolKind("").Known() {
		t.Error("a name that is none is known")
	}
}

func TestToolViews(t *testing.T) {
	tool := Tool{Reads: []string{"r"}, Writes: []string{"w1", "w2"}, Input: raw("1")}
	if got := tool.Paths(); !reflect.DeepEqual(got, []string{"w1", "w2", "r"}) {
		t.Errorf(`tool.Paths() = %q, want []string{"w1", "w2", "r"}`, got)
	}
	if (&Tool{Reads: []string{"r"}}).Paths()[0] != "r" || (&Tool{Writes: []string{"w"}}).Paths()[0] != "w" ||
		(&Tool{}).Paths() != nil {
		t.Error("one kind of path alone")
	}
	if string(tool.CurrentInput()) != "1" {
		t.Error("the input as sent")
	}
	tool.Changed = raw("2")
	if string(tool.CurrentInput()) != "2" {
		t.Error("the input as changed")
	}
}
