package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDetectProtocol(t *testing.T) {
	for _, c := range []struct {
		line string
		want Protocol
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`, RPC},
		{`{"id":1,"method":"daemon.info","params":{},"jsonrpc":"2.0"}`, RPC},
		{`{"jsonrpc":"2.0","method":"event.push","params":{"payload":1,"terminalId":"x"}}`, RPC},
		{` {"jsonrpc" : "2.0"} `, RPC},
		{`{"v":1,"id":"a","agent":"claude","event":"Stop","payload":12,"env":0}`, Frame},
		{`{"payload":0,"v":1}`, Frame},
		{`{"v":1,"id":"a","method":"x","payload":12}`, Frame},
		{`{"terminalId":"00000000-0000-0000-0000-000000000001","event":"idle","agent":"claude","at":1}`, Mux0},
		{`{"event":"running","at":1.5,"terminalId":"x","payload":"extra keys are tolerated"}`, Mux0},
		{`{"payload":7,"terminalId":"x"}`, Mux0},
		{`{"terminalId":"x","payload":7}`, Mux0},
		{`{"terminalId":"x","method":"y"}`, Mux0},
		{`{"id":1,"method":"feed.push","params":{}}`, Cmux},
		{`{"method":"feed.push"}`, Cmux},
		{`{"id":"a","method":"feed.push","params":{"prompt":"explain \"jsonrpc\" and terminalId","jsonrpc":"2.0","payload":3}}`, Cmux},
		{`{"event":"running","terminalId":"x","agent":"claude","summary":"I wrote {\"jsonrpc\":\"2.0\"}","toolDetail":"Bash: echo '\"payload\":1'"}`, Mux0},
		{`{"prompt":"jsonrpc"}`, Unknown},
		{`{"payload":"text"}`, Unknown},
		{`{"payload":{"v":1}}`, Unknown},
		{`{}`, Unknown},
		{``, Unknown},
		{"\n", Unknown},
		{`[{"jsonrpc":"2.0"}]`, Unknown},
		{`"jsonrpc"`, Unknown},
		{`null`, Unknown},
		{`GET / HTTP/1.1`, Unknown},
		{`{"method":`, Unknown},
		{`{"method" "x"}`, Unknown},
		{`{"id":1,"jsonrpc":`, Unknown},
		{"\x16\x03\x01", Unknown},
	} {
		if got := DetectProtocol([]byte(c.line)); got != c.want {
			t.Errorf("%s: %d, want %d", c.line, got, c.want)
		}
	}
}

func FuzzTell(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1}`, `{"v":1,"payload":3}`, `{"terminalId":"x"}`, `{"method":"x","params":{"jsonrpc":1}}`, `{"a":[{"payload":1}]}`, `{`, `{"payload":-1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got := DetectProtocol(line)
		var top map[string]json.RawMessage
		if json.Unmarshal(line, &top) != nil {
			return // anything but a crash
		}
		has := func(key string) bool { _, ok := top[key]; return ok }
		want := Unknown
		switch {
		case has("jsonrpc"):
			want = RPC
		case has("terminalId"):
			want = Mux0
		case has("payload") && bytes.ContainsAny(top["payload"][:1], "0123456789"):
			want = Frame
		case has("method"):
			want = Cmux
		}
		// A repeated key may hold a number in one place only.
		if got != want && bytes.Count(line, []byte(":")) <= len(top) {
			t.Fatalf("%q: %d, want %d", line, got, want)
		}
	})
}

const terminal = "00000000-0000-0000-0000-000000000001"

func TestParseMux0(t *testing.T) {
	zero, one := 0, 1
	for _, c := range []struct {
		line string
		want Mux0Message
	}{
		{`{"event": "running", "at": 1794706809.888709, "resumeCommand": "claude --resume s1", "sessionTitle": "Fix the bug", "terminalId": "` + terminal + `", "agent": "claude"}`,
			Mux0Message{Event: "running", At: 1794706809.888709, ResumeCommand: "claude --resume s1", SessionTitle: "Fix the bug", TerminalID: terminal, Agent: "claude"}},
		{`{"event": "running", "at": 1794706810.0923724, "toolDetail": "Bash: ls -la", "terminalId": "` + terminal + `", "agent": "claude"}` + "\n",
			Mux0Message{Event: "running", At: 1794706810.0923724, ToolDetail: "Bash: ls -la", TerminalID: terminal, Agent: "claude"}},
		{`{"event": "finished", "at": 1794706811.9962163, "exitCode": 0, "summary": "flat shape works", "terminalId": "` + terminal + `", "agent": "claude"}`,
			Mux0Message{Event: "finished", At: 1794706811.9962163, ExitCode: &zero, Summary: "flat shape works", TerminalID: terminal, Agent: "claude"}},
		{`{"event":"finished","at":1,"exitCode":1,"terminalId":"` + terminal + `","agent":"codex"}`,
			Mux0Message{Event: "finished", At: 1, ExitCode: &one, TerminalID: terminal, Agent: "codex"}},
		{`{"event":"idle","at":2,"terminalId":"ABCDEF01-2345-6789-abcd-ef0123456789","agent":"opencode","exitCode":null,"somethingNew":{"a":[1]}}`,
			Mux0Message{Event: "idle", At: 2, TerminalID: "ABCDEF01-2345-6789-abcd-ef0123456789", Agent: "opencode"}},
		{`{"event":"needsInput","at":3,"terminalId":"` + terminal + `","agent":"pi","toolDetail":"Waiting on confirm"}`,
			Mux0Message{Event: "needsInput", At: 3, TerminalID: terminal, Agent: "pi", ToolDetail: "Waiting on confirm"}},
	} {
		got, err := ParseMux0([]byte(c.line))
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(c.want)
		if err != nil || string(a) != string(b) {
			t.Errorf("%s\n got %s, %v\nwant %s", c.line, a, err, b)
		}
	}
	for line, named := range map[string]string{
		`{"event":"finished","terminalId":"` + terminal + `","agent":"claude"}`:                 "exitCode",
		`{"event":"finished","exitCode":"0","terminalId":"` + terminal + `","agent":"claude"}`:  "exitCode",
		`{"event":"running","terminalId":"pane-1","agent":"claude"}`:                            `"pane-1" is no UUID`,
		`{"event":"running","agent":"claude"}`:                                                  "terminalId",
		`{"event":"running","terminalId":"` + terminal[:35] + `g","agent":"claude"}`:            "no UUID",
		`{"event":"running","terminalId":"000000000000-0000-0000-0000-00000001","agent":"cla"}`: "no UUID",
		`{"event":"running","terminalId":"` + terminal[:34] + `é","agent":"claude"}`:            "no UUID",
		`{"event":"running","terminalId":"` + terminal + `"}`:                                   "agent is missing",
		`{"event":"resting","terminalId":"` + terminal + `","agent":"claude"}`:                  `"resting"`,
		`{"event":"Running","terminalId":"` + terminal + `","agent":"claude"}`:                  `"Running"`,
		`{"terminalId":"` + terminal + `","agent":"claude"}`:                                    `event ""`,
		`{"event":"running","at":"now","terminalId":"` + terminal + `","agent":"claude"}`:       "at",
		`{"event":"running","terminalId":"` + terminal + `","agent":"claude"} {"event":"idle"}`: "mux0 line",
		`[]`:   "mux0 line",
		`{"ev`: "mux0 line",
		``:     "mux0 line",
	} {
		if _, err := ParseMux0([]byte(line)); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: %v, want %s", line, err, named)
		}
	}
}

func TestMux0Time(t *testing.T) {
	for at, want := range map[float64]time.Time{
		1794706809.5: time.Date(2026, 11, 15, 1, 40, 9, 500_000_000, time.UTC),
		0:            {},
		-1:           {},
		1e12:         {}, // milliseconds by mistake
	} {
		m := Mux0Message{At: at}
		if got := m.Time(); !got.Equal(want) {
			t.Errorf("%g: got.UTC() = %s, want got.Equal(want)", at, got.UTC())
		}
	}
}

func FuzzParseMux0(f *testing.F) {
	f.Add([]byte(`{"event":"finished","at":1,"exitCode":1,"terminalId":"` + terminal + `","agent":"codex"}`))
	f.Add([]byte(`{"event":"idle","at":-1e9,"terminalId":"` + terminal + `","agent":"x"}`))
	f.Add([]byte(`{"event":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := ParseMux0(line)
		m.Time()
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n") {
				t.Fatalf("more than a line: %q", err)
			}
			return
		}
		if !isUUID(m.TerminalID) || m.Agent == "" || m.Event == "finished" && m.ExitCode == nil ||
			!utf8.ValidString(m.Summary) {
			t.Fatalf(`m = %+v, want isUUID(m.TerminalID), m.Agent not empty, not m.Event == "finished" && `+
				`m.ExitCode == nil and utf8.ValidString(m.Summary)`, m)
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseMux0(again); err != nil || back.Event != m.Event || back.TerminalID != m.TerminalID ||
			back.At != m.At {
			t.Fatalf("%s does not come back: %v", again, err)
		}
	})
}

func TestCmuxCode(t *testing.T) {
	for code, want := range map[int]string{
		CodeNoMethod: "method_not_found", CodeParams: "invalid_params", CodeInvalid: "invalid_params", CodeParse: "invalid_params",
		CodeRefused: "access_denied", CodeGone: "not_found", CodeConflict: "conflict", CodeWithdrawn: "unavailable",
		CodeInternal: "internal_error", 0: "internal_error",
	} {
		if got := CmuxCode(code); got != want {
			t.Errorf("%d: CmuxCode(code) = %s, want %q", code, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	got, err := Line([]byte("before\n"), Response{Version: "2.0", Result: json.RawMessage("{\n\"a\": \"<&>\"}")})
	if err != nil || string(got) != "before\n"+`{"jsonrpc":"2.0","id":null,"result":{"a":"<&>"}}`+"\n" {
		t.Errorf(`got %s, error %v; want no error and string(got) = `+
			`"before\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"a\":\"<&>\"}}\n"`, got, err)
	}
	if got, err := Line([]byte("before"), Response{Result: json.RawMessage("{")}); err == nil ||
		string(got) != "before" {
		t.Errorf(`got %s, error %v; want an error and string(got) = "before"`, got, err)
	}
}

func TestErrors(t *testing.T) {
	err := Errorf(CodeGone, "hook %q is gone", "x")
	if err.Error() != `hook "x" is gone` || err.Code != CodeGone {
		t.Errorf(`err = %+v, want err.Error() = hook "x" is gone and err.Code = CodeGone`, err)
	}
	b, _ := json.Marshal(Response{Version: "2.0", ID: json.RawMessage(`"a"`), Error: err})
	if string(b) != `{"jsonrpc":"2.0","id":"a","error":{"code":-32002,"message":"hook \"x\" is gone"}}` {
		t.Errorf(`b = %s, want {"jsonrpc":"2.0","id":"a","error":{"code":-32002,"message":"hook \"x\" is gone"}}`, b)
	}
}

// The filter's times are left out when nobody set them: a zero time would
// exclude nothing and confuse other programs.
func TestFilterIsQuietAboutWhatIsNotSet(t *testing.T) {
	b, _ := json.Marshal(QueryParams{Limit: 5})
	if string(b) != `{"limit":5}` {
		t.Errorf(`b = %s, want {"limit":5}`, b)
	}
}
