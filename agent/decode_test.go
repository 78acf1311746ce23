package agent

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/event"
)

func decodeText(agent, native, payload string) event.Event {
	return Builtin().Decode(Input{Agent: agent, Event: native, Payload: []byte(payload)})
}

// What a guard must stop because nobody can know what it would do.
func TestUnreadableCallsAreKnown(t *testing.T) {
	wide := func(s string) string { // as UTF-16 with a byte order mark
		out := "\xff\xfe"
		for _, r := range s {
			out += string([]byte{byte(r), 0})
		}
		return out
	}
	const call = `{"tool_name":"Bash","tool_input":{"command":"ls"}}`
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	for name, payload := range map[string]string{
		"deep": `{"tool_name":"Bash","tool_input":{"command":"ls"},"x":` + deep + `}`, "deeper": strings.Repeat("[", 1_000_000),
		"utf-16": wide(call), "leading zero": "\x00" + call, "object": `{"tool_name":"Bash","tool_input":{"command":{"a":"ls"}}}`,
		"words a shell would divide": `{"tool_name":"Bash","tool_input":{"command":["rm -rf ~"]}}`,
		"words a shell would expand": `{"tool_name":"Bash","tool_input":{"command":["rm","-rf","~"]}}`,
		"input twice":                `{"tool_name":"Bash","tool_input":{"command":"rm -rf ~"},"tool_input":{"command":"ls"}}`,
		"tool twice":                 `{"tool_name":"Bash","tool_name":"Read","tool_input":{"command":"rm -rf ~"}}`,
		"cut":                        call[:len(call)-3], "empty": "", "list": "[" + call + "]",
	} {
		for _, native := range []string{"PreToolUse", "PermissionRequest"} {
			if ev := decodeText("claude", native, payload); ev.Unreadable() == "" {
				t.Errorf("%s %s passes for readable: %+v", native, name, ev)
			}
		}
		if ev := decodeText("claude", "PostToolUse", payload); ev.Unreadable() != "" {
			t.Errorf("%s: %q, but there is nothing to guard after a call", name, ev.Unreadable())
		}
	}
	for name, payload := range map[string]string{
		"no tool": `{"session_id":"x"}`, "tool elsewhere": `{"somewhere":{"name":"Bash","args":{"command":"rm -rf ~"}}}`,
	} {
		for _, a := range Builtin().Agents() {
			for native, spec := range a.compiled.events {
				if spec.spec == nil || spec.spec.Kind != event.ToolBefore || spec.spec.Tool != "" {
					continue // the event's name is the tool's
				}
				if ev := decodeText(a.Name, native, payload); ev.Kind == event.ToolBefore && ev.Unreadable() == "" {
					t.Errorf("%s %s: %s passes for readable: %+v", a.Name, native, name, ev)
				}
			}
		}
	}
	for _, f := range fixtures(t) {
		ev := Builtin().Decode(Input{Agent: f.agent, Event: f.event, Payload: f.payload})
		if why := ev.Unreadable(); why != "" {
			t.Errorf("%s: what a real %s sent is unreadable: %s", f.file, f.agent, why)
		}
	}
}

func TestDecodeTakesOddPayloads(t *testing.T) {
	const call = `"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"ls\n-l"}`
	for name, c := range map[string]struct {
		payload, malformed string
		commands           []string
	}{
		"plain":        {`{` + call + `}`, "", []string{"ls\n-l"}},
		"byte order":   {"\xef\xbb\xbf{" + call + "}", "", []string{"ls\n-l"}},
		"pretty":       {"{\r\n\t" + strings.ReplaceAll(call, ",", ",\n  ") + "\n}\n\n", "", []string{"ls\n-l"}},
		"broken utf-8": {`{` + call + ",\"x\":\"\xff\xfe\"}", "", []string{"ls\n-l"}},
		"empty":        {"", "the payload is empty", nil},
		"blank":        {" \n", "the payload is empty", nil},
		"list":         {`[1,2]`, "the payload is JSON but no object", nil},
		"null":         {`null`, "the payload is JSON but no object", nil},
		"text":         {`"this was no JSON"`, "the payload is a text, no JSON object", nil},
		"cut off":      {`{` + call + `,"x`, "the payload is not JSON: cut off at byte 84", []string{"ls\n-l"}},
		"two values":   {`{` + call + `}{}`, "the payload is not JSON: something follows the value at byte 82", []string{"ls\n-l"}},
		"twice":        {`{"tool_input":{"command":"first"},` + call + `}`, saidTwice, []string{"ls\n-l"}},
		"no text":      {`{"tool_name":7,"tool_input":{"command":7}}`, noText, nil},
		"no input":     {`{"tool_name":"Bash","tool_input":null}`, "the call names no command", nil},
		"an object":    {`{"tool_name":"Bash","tool_input":{"command":{"run":"ls"}}}`, noText, nil},
		"odd words":    {`{"tool_name":"Bash","tool_input":{"command":["ls",{"x":"-l"}]}}`, noText, []string{"ls"}},
		"null command": {`{"tool_name":"Bash","tool_input":{"command":null}}`, "", nil},
		"input a list": {`{"tool_name":"Bash","tool_input":["ls"]}`, noText, nil},
		"input text":   {`{"tool_name":"Bash","tool_input":"ls"}`, noText, nil},
		"word list":    {`{"tool_name":"Bash","tool_input":{"command":["bash","-lc","ls -l"]}}`, "", []string{"ls -l"}},
	} {
		ev := decodeText("claude", "PreToolUse", c.payload)
		if ev.Kind != event.ToolBefore || ev.Native != "PreToolUse" || ev.Malformed != c.malformed ||
			string(ev.Raw) != c.payload {
			t.Errorf(`%s: ev = %+v, want ev.Kind = event.ToolBefore, ev.Native = "PreToolUse", ev.Malformed = %q `+
				`and string(ev.Raw) = %q`, name, ev, c.malformed, c.payload)
		}
		var commands []string
		if ev.Tool != nil {
			commands = ev.Tool.Commands
		}
		if !reflect.DeepEqual(commands, c.commands) {
			t.Errorf("%s: commands %q, want %q", name, commands, c.commands)
		}
	}
}

func TestWhoNamesTheEvent(t *testing.T) {
	for _, c := range []struct {
		agent, argv, payload, native string
		kind                         event.Kind
	}{
		{"claude", "PreToolUse", `{"hook_event_name":"Stop"}`, "Stop", event.TurnEnd},
		{"claude", "PreToolUse", `{"hook_event_name":"Unheard"}`, "PreToolUse", event.ToolBefore},
		{"claude", "", `{"hook_event_name":"Stop"}`, "Stop", event.TurnEnd},
		{"claude", "", `{"hook_event_name":"Unheard"}`, "Unheard", event.Other},
		{"claude", "Unheard", `{}`, "Unheard", event.Other},
		{"claude-code", "Stop", `{}`, "Stop", event.TurnEnd},
		{"nobody", "PreToolUse", `{}`, "PreToolUse", event.ToolBefore},
		{"nobody", "", `{"event":"PreToolUse","conversation_id":"s"}`, "PreToolUse", event.ToolBefore},
		{"", "", ``, "", event.Other},
		{"grok", "PreToolUse", `{"hookEventName":"pre_tool_use"}`, "PreToolUse", event.ToolBefore},
	} {
		ev := decodeText(c.agent, c.argv, c.payload)
		if ev.Native != c.native || ev.Kind != c.kind {
			t.Errorf("%+v: ev.Native = %s, ev.Kind = %s; want ev.Native = %q and ev.Kind = %q",
				c, ev.Native, ev.Kind, c.native, c.kind)
		}
	}
	if ev := decodeText("claude-code", "Stop", `{}`); ev.Agent != "claude" {
		t.Error("an alias stays: ", ev.Agent)
	}
	if ev := decodeText("nobody", "Stop", `{"sessionId":"s"}`); ev.Agent != "nobody" || ev.Session != "s" {
		t.Errorf(`ev = %+v, want ev.Agent = "nobody" and ev.Session = "s"`, ev)
	}
	// The payload names another event, whose own keys count then.
	if ev := decodeText("claude", "Stop", `{"file_path":"/x","hook_event_name":"FileChanged"}`); ev.Message != "/x" {
		t.Errorf(`ev = %+v, want ev.Message = "/x"`, ev)
	}
}

func TestToolsAreRead(t *testing.T) {
	for _, c := range []struct {
		agent, payload string
		want           event.Tool
	}{
		{"claude", `{"tool_name":"MultiEdit","tool_input":{"file_path":"/a","edits":[{"file_path":"/b"},{"x":1}]}}`,
			event.Tool{Kind: event.FileEdit, Writes: []string{"/a", "/b"}}},
		{"claude", `{"tool_name":"Read","tool_input":{"file_path":"/a"}}`, event.Tool{Kind: event.FileRead, Reads: []string{"/a"}}},
		{"claude", `{"tool_name":"WebFetch","tool_input":{"url":"https://x"}}`, event.Tool{Kind: event.Fetch, URL: "https://x"}},
		{"claude", `{"tool_name":"mcp__a__b__c","tool_input":{"path":"/a","url":"u"}}`,
			event.Tool{Kind: event.MCP, MCP: &event.MCPCall{Server: "a", Tool: "b__c"}, Writes: []string{"/a"}, URL: "u"}},
		{"claude", `{"tool_name":"mcp__a__b__c","mcp_server":{"name":"a__b"}}`, event.Tool{Kind: event.MCP, MCP: &event.MCPCall{Server: "a__b", Tool: "c"}}},
		{"claude", `{"tool_name":"BrandNew","tool_input":{"commands":["a","b"],"path":"/p"}}`,
			event.Tool{Kind: event.OtherTool, Commands: []string{"a", "b"}, Writes: []string{"/p"}}},
		{"codex", `{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a b.txt\n*** Move to: c.txt\n@@\n-x\n+*** Add File: no\n*** Delete File: d\n*** Add File: e\n*** Add File: e\n*** End Patch"}}`,
			event.Tool{Kind: event.FileEdit, Writes: []string{"a b.txt", "c.txt", "d", "e"}}},
		{"grok", `{"tool_name":"run_terminal_command","tool_input":{"command":"x"},"tool_response":{"output":[1],"exit_code":3},"durationMs":14,"hook_event_name":"PostToolUse"}`,
			event.Tool{Kind: event.Shell, Commands: []string{"x"}, Failed: true, Duration: 14 * time.Millisecond}},
	} {
		ev := decodeText(c.agent, "", c.payload)
		got := *ev.Tool
		got.Name, got.Input, got.Output = "", nil, nil
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.agent, c.payload, got, c.want)
		}
	}
}

func TestEnvironmentTellsVersionAttendanceAndPane(t *testing.T) {
	env := map[string]string{"AI_AGENT": "claude-code_2-1-325_harness", "CLAUDE_CODE_SESSION_ATTENDED": "0",
		"TMUX_PANE": "%7"}
	in := Input{Agent: "claude", Event: "Stop", Payload: []byte(`{}`), Cwd: "/here",
		Env: func(k string) string { return env[k] }}
	ev := Builtin().Decode(in)
	if ev.AgentVersion != "2.1.325" || ev.Attended != event.AttendedNo || ev.Where.Pane != "%7" || ev.Cwd != "/here" {
		t.Errorf(`ev = %+v, want ev.AgentVersion = "2.1.325", ev.Attended = event.AttendedNo, ev.Where.Pane = "%%7" `+
			`and ev.Cwd = "/here"`, ev)
	}
	env["CLAUDE_CODE_SESSION_ATTENDED"], env["AI_AGENT"] = "1", "other_1"
	if ev = Builtin().Decode(in); ev.Attended != event.AttendedYes || ev.AgentVersion != "" {
		t.Errorf(`ev = %+v, want ev.Attended = event.AttendedYes and ev.AgentVersion = ""`, ev)
	}
	// Hooks of Codex's shared daemon carry the pane of whoever started it.
	in.Agent = "codex"
	env["PATH"] = "/h/.codex/packages/app-server-daemon/releases/1:/bin"
	if ev = Builtin().Decode(in); ev.Where.Pane != "" {
		t.Error("took the daemon's pane")
	}
	env["PATH"] = "/bin"
	if ev = Builtin().Decode(in); ev.Where.Pane != "%7" {
		t.Error("lost the pane")
	}
}

func TestPersonasAreNoSubagents(t *testing.T) {
	if ev := decodeText("claude", "Stop", `{"session_id":"s","agent_type":"reviewer"}`); ev.Subagent != nil {
		t.Errorf("ev.Subagent = %+v, want nil", ev.Subagent)
	}
	if ev := decodeText("claude", "Stop", `{"session_id":"s","agent_type":"x","agent_id":"a"}`); *ev.Subagent != (event.Subagent{ID: "a", Type: "x", Parent: "s"}) {
		t.Errorf(`ev.Subagent = %+v, want *ev.Subagent = (event.Subagent{ID: "a", Type: "x", Parent: "s"})`,
			ev.Subagent)
	}
}

func TestWithInputReadsTheCallAgain(t *testing.T) {
	ev := decodeText("codex", "PreToolUse", `{"tool_name":"apply_patch","tool_input":{"command":"*** Add File: a"}}`)
	before := ev.Tool
	Builtin().WithInput(&ev, []byte(`{"command":"*** Add File: b"}`))
	if !reflect.DeepEqual(ev.Tool.Writes, []string{"b"}) ||
		string(ev.Tool.CurrentInput()) != `{"command":"*** Add File: b"}` || string(ev.Tool.Input) == "" {
		t.Errorf(`ev.Tool = %+v, want ev.Tool.Writes = []string{"b"}, string(ev.Tool.CurrentInput()) = `+
			`{"command":"*** Add File: b"} and string(ev.Tool.Input) not empty`, ev.Tool)
	}
	if before.Changed != nil || !reflect.DeepEqual(before.Writes, []string{"a"}) {
		t.Error("the first reading was changed")
	}
	none := event.Event{}
	Builtin().WithInput(&none, []byte(`{}`))
}

func TestRawStaysAsItCame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		if rapid.Bool().Draw(t, "object") {
			payload = append(append([]byte(`{"tool_input":`), payload...), '}')
		}
		kept := bytes.Clone(payload)
		agent := rapid.SampledFrom([]string{"claude", "codex", "grok", "nobody"}).Draw(t, "agent")
		ev := Builtin().Decode(Input{Agent: agent, Event: "PreToolUse", Payload: payload})
		if !bytes.Equal(ev.Raw, kept) || !bytes.Equal(payload, kept) {
			t.Fatalf("%q became %q; want ev.Raw equal to kept and payload equal to kept", kept, ev.Raw)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, fx := range fixtures(f) {
		f.Add(fx.agent, fx.event, fx.payload)
	}
	f.Add("claude", "PreToolUse", []byte(`{"tool_name":"mcp__","tool_input":{"commands":[[]],"path":null}`))
	f.Add("grok", "PostToolUse", []byte(`{"tool_name":"run_terminal_command","tool_response":[]}`))
	f.Fuzz(func(t *testing.T, agent, native string, payload []byte) {
		kept := bytes.Clone(payload)
		ev := Builtin().Decode(Input{Agent: agent, Event: native, Payload: payload})
		if !bytes.Equal(ev.Raw, kept) {
			t.Fatalf("raw changed: ev.Raw is %v, want %v", ev.Raw, kept)
		}
		for _, d := range []event.Decision{{}, {Verdict: event.Deny},
			{Verdict: event.Modify, Input: []byte(`{"command":"x"}`)}, {KeepGoing: true, Context: "c"}} {
			Builtin().Encode(&ev, d)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct{ agent, file string }{
		{"claude", "PreToolUse.Bash.json"}, {"claude", "PostToolUse.Edit.json"}, {"codex", "PreToolUse.apply_patch.json"}, {"grok", "PostToolUse.json"},
	} {
		payload := loadFixture(b, c.agent, c.file)
		native, _, _ := strings.Cut(c.file, ".")
		b.Run(c.agent+"/"+strings.TrimSuffix(c.file, ".json"), func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				Builtin().Decode(Input{Agent: c.agent, Event: native, Payload: payload})
			}
		})
	}
}

func BenchmarkEncodeDeny(b *testing.B) {
	payload := loadFixture(b, "claude", "PreToolUse.Bash.json")
	ev := Builtin().Decode(Input{Agent: "claude", Event: "PreToolUse", Payload: payload})
	b.ReportAllocs()
	for b.Loop() {
		Builtin().Encode(&ev, event.Decision{Verdict: event.Deny, Reason: "no"})
	}
}
