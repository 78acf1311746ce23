package ahp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

// Messages of an agent, one file each, as the daemon is told of them and as the catalogue
// reads that.
func TestIncomingFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/incoming/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d messages, %v; want those of testdata/incoming", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			message, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, refused := ReadIncoming(message)
			var out bytes.Buffer
			if refused != nil {
				out.WriteString("refused: " + refused.Text + "\n")
				out.Write(refused.Line())
			} else {
				ev := agent.Builtin().Decode(agent.Input{ID: "h1", Agent: "ahp-x", Event: in.Event, Payload: in.Payload})
				if ev.Malformed != "" || ev.Agent != "ahp-x" {
					t.Errorf("agent %q, malformed %q; want an event of ahp-x that can be read", ev.Agent, ev.Malformed)
				}
				describeEvent(&out, in, &ev)
			}
			golden.Match(t, strings.Replace(file, ".json", ".golden", 1), out.String())
		})
	}
}

func describeEvent(out *bytes.Buffer, in *Incoming, ev *event.Event) {
	tool := "none"
	if t := ev.Tool; t != nil {
		tool = string(t.Kind) + " " + t.Name + " call " + t.CallID + " commands " + strings.Join(t.Commands, ";") +
			" paths " + strings.Join(t.Paths(), ";") + " output " + string(t.Output)
		if t.Failed {
			tool += " failed"
		}
	}
	carries, _ := json.Marshal(agent.Builtin().CarriesFor(ev))
	for _, line := range [][2]string{{"event", in.Event + " = " + string(ev.Kind)}, {"asks", in.ID}, {"harness", in.Harness},
		{"session", ev.Session}, {"turn", ev.Turn}, {"cwd", ev.Cwd}, {"model", ev.Model}, {"prompt", ev.Prompt},
		{"message", ev.Message}, {"detail", ev.Detail}, {"error", ev.Error}, {"tool", tool}, {"carries", string(carries)}} {
		out.WriteString(strings.TrimRight(line[0]+": "+line[1], " ") + "\n")
	}
}

const wholeQuestion = `{"jsonrpc":"2.0","id":"q1","method":"hooks/intercept","params":{"protocolVersion":"0.1","event":` +
	`{"id":"q1","source":"urn:x:y","type":"tool.before","time":"2026-11-17T12:00:00Z","session":{"id":"s1"},"tool":` +
	`{"callId":"c1","name":"run","kind":"shell","input":{"command":"ls"}}},"capabilities":{"effects":["deny"]}}}`

// What a hook of hookmux sends is not taken in again: it would go round without end.
func TestIncomingFromHookmuxItself(t *testing.T) {
	ev := &event.Event{ID: "q1", Kind: event.ToolBefore, Session: "s1", Time: time.Unix(1, 0),
		Tool: &event.Tool{Name: "run", Kind: event.Shell, Input: []byte(`{"command":"ls"}`)}}
	for _, offer := range []Offer{{}, {Deny: true}} {
		message, _ := Question{Version: "draft", Source: "urn:x:y", Offer: offer}.Message(ev)
		if in, refused := ReadIncoming(message); refused == nil || refused.Code != CodeUnavailable {
			t.Errorf("%s was taken as %+v, want it refused with %d", message, in, CodeUnavailable)
		}
	}
}

// What is not a whole question is refused with a code, under the id it came with.
func TestIncomingRefused(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(wholeQuestion, from, to, 1) }
	for name, c := range map[string]struct {
		message string
		code    int
		id      string
	}{
		"no JSON":          {`x`, CodeNoJSON, "null"},
		"nothing":          {``, CodeNoJSON, "null"},
		"batch":            {`[` + wholeQuestion + `]`, CodeNoJSON, "null"},
		"behind it":        {wholeQuestion + `{}`, CodeNoJSON, "null"},
		"id is a list":     {change(`"id":"q1"`, `"id":[]`), CodeNoMessage, "null"},
		"not 2.0":          {change(`"2.0"`, `"1.0"`), CodeNoMessage, `"q1"`},
		"other method":     {change(`hooks/intercept`, `hooks/approve`), CodeNoMethod, `"q1"`},
		"capabilities":     {change(`hooks/intercept`, `hooks/capabilities`), CodeNoMethod, `"q1"`},
		"asked to observe": {change(`hooks/intercept`, `hooks/observe`), CodeNoMessage, `"q1"`},
		"other version":    {change(`"0.1"`, `"9"`), CodeUnsupportedVersion, `"q1"`},
		"other event":      {change(`tool.before`, `tool.melted`), CodeUnsupportedEvent, `"q1"`},
		"not in 0.1":       {change(`tool.before`, `tool.permission.request`), CodeUnsupportedEvent, `"q1"`},
		"another id":       {change(`"id":"q1","method"`, `"id":"q2","method"`), CodeParams, `"q2"`},
		"a number for id":  {change(`"id":"q1","method"`, `"id":7,"method"`), CodeParams, `7`},
		"no params":        {change(`"params"`, `"parms"`), CodeParams, `"q1"`},
		"no tool":          {change(`"tool"`, `"tol"`), CodeParams, `"q1"`},
		"no session":       {change(`"session"`, `"sesion"`), CodeParams, `"q1"`},
		"no time":          {change(`2026-11-17T12:00:00Z`, `noon`), CodeParams, `"q1"`},
		"input is a text":  {change(`{"command":"ls"}`, `"ls"`), CodeParams, `"q1"`},
		"input twice":      {change(`"input"`, `"input":{"command":"rm"},"input"`), CodeParams, `"q1"`},
		"command twice":    {change(`{"command":"ls"}`, `{"command":"ls","command":"rm"}`), CodeParams, `"q1"`},
		"no call":          {change(`"callId":"c1",`, ``), CodeParams, `"q1"`},
		"deny not offered": {change(`["deny"]`, `["allow"]`), CodeParams, `"q1"`},
		"nothing offered":  {change(`"capabilities"`, `"x"`), CodeParams, `"q1"`},
	} {
		in, refused := ReadIncoming([]byte(c.message))
		if refused == nil {
			t.Errorf("%s: taken as %+v, want it refused with %d", name, in, c.code)
			continue
		}
		var line struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		if err := json.Unmarshal(refused.Line(), &line); err != nil || line.Error.Code != c.code || string(line.ID) != c.id {
			t.Errorf("%s: answered %s (%v), want the code %d under %s", name, refused.Line(), err, c.code, c.id)
		}
	}
	if in, refused := ReadIncoming([]byte(wholeQuestion)); refused != nil || in.ID != "q1" || in.Event != "ahp:tool.before" {
		t.Errorf("the whole question is %+v, %v; want it taken", in, refused)
	}
	// A notification that cannot be taken is not answered.
	told := strings.Replace(change(`hooks/intercept`, `hooks/observe`), `"id":"q1","method"`, `"method"`, 1)
	if _, refused := ReadIncoming([]byte(strings.Replace(told, "tool.before", "x", 1))); refused == nil || refused.Line() != nil {
		t.Errorf("an unknown notification: %v, want it refused in silence", refused)
	}
}

func FuzzReadIncoming(f *testing.F) {
	f.Add([]byte(wholeQuestion))
	f.Add([]byte(strings.ReplaceAll(wholeQuestion, "0.1", "draft")))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"hooks/observe","params":{"protocolVersion":"draft","event":{}}}`))
	catalogue := agent.Builtin()
	f.Fuzz(func(t *testing.T, message []byte) {
		in, refused := ReadIncoming(message)
		if (in == nil) == (refused == nil) {
			t.Fatalf("%q is %+v and %v, want it taken or refused", message, in, refused)
		}
		if refused != nil {
			if line := refused.Line(); line != nil && !json.Valid(line) {
				t.Errorf("%q is refused by %q, want JSON", message, line)
			}
			return
		}
		ev := catalogue.Decode(agent.Input{ID: "h1", Agent: "claude", Event: in.Event, Payload: in.Payload})
		if ev.Agent != "ahp-claude" {
			t.Errorf("%q counts as %s, want an agent of its own", message, ev.Agent)
		}
		if in.Asks() && (ev.Tool == nil || !catalogue.CarriesFor(&ev).Deny) {
			t.Errorf("%q is asked with the tool %+v, want a call that can be refused", message, ev.Tool)
		}
		if _, err := in.ResultLine(nil); err != nil {
			t.Errorf("%q cannot be answered: %v", message, err)
		}
	})
}
