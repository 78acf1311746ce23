package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// inner returns an event inside pi, of session s.
func inner(name, cwd, fields string) frame.Request {
	payload := `{"event":{"type":"` + name + `",` + fields + `},"ctx":{"sessionId":"s","cwd":"` + cwd +
		`","mode":"tui","hasUI":true},"plugin":{"inner":true}}`
	return frame.Request{Agent: "pi", Event: name, Cwd: cwd, Payload: []byte(payload), Deadline: daemontest.Patience,
		Inner: true}
}

// listensTo returns a hook that adds its word to what the files before it left.
func listensTo(word string) string {
	return `export default (pi) => {
  pi.on("context", (event) => ({ messages: [...event.messages, "` + word + `"] }));
  pi.on("before_provider_request", (event) => { event.payload.list.push("` + word + `"); return event.payload; });
  pi.on("before_agent_start", (event) => ({ systemPrompt: event.systemPrompt + "+` + word + `", message: { content: "` + word + `" } }));
  pi.on("session_before_tree", () => ({ label: "` + word + `" }));
  pi.on("user_bash", (event) => { if (event.command === "` + word + `") throw new Error("not ` + word + `"); });
};`
}

// What fails closed does so at the
// end of its time, too.
func TestACommandNotEvaluatedInTimeIsStopped(t *testing.T) {
	w := newFixture(t)
	w.tsHook("never.ts", `export default (pi) => { pi.on("user_bash", () => new Promise(() => {})); pi.on("context", () => new Promise(() => {})); };`)
	w.Up()
	for name, want := range map[string]string{"user_bash": `{"threw":"never.ts: gave no answer`, "context": ""} {
		r := inner(name, w.Base, `"command":"ls"`)
		r.Deadline = 300 * time.Millisecond
		if got := string(w.Send(r).Stdout); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf(`%s: got %q, want one that begins with %q and (got == "") = (want == "")`, name, got, want)
		}
	}
}

// Files are asked one after the other by pi's own rules, and
// nothing else hears of it.
func TestInnerEvents(t *testing.T) {
	w := newFixture(t)
	w.tsHook("a.ts", listensTo("a"))
	w.tsHook("b.ts", listensTo("b"))
	w.Up()
	for _, c := range []struct{ name, fields, want string }{
		{"context", `"messages":["x"]`, `{"messages":["x","a","b"]}`},
		{"before_provider_request", `"payload":{"list":[]}`, `{"payload":{"list":["a","b"]}}`},
		{"before_agent_start", `"prompt":"p","systemPrompt":"s"`, `{"messages":[{"content":"a"},{"content":"b"}],"systemPrompt":"s+a+b"}`},
		{"session_before_tree", `"preparation":{}`, `{"label":"b"}`},
		{"user_bash", `"command":"ls"`, ``},
		{"user_bash", `"command":"b"`, `{"threw":"b.ts: not b"}`},
		{"model_select", `"model":{}`, ``},
	} {
		if got := w.Send(inner(c.name, w.Base, c.fields)); string(got.Stdout) != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.Stdout, c.want)
		}
	}
	var list []any
	w.MustCall(wire.MethodSessions, wire.SessionsParams{}, &list)
	if len(list) != 0 {
		t.Errorf("a session was made of inner events: %+v", list)
	}
	if files, _ := os.ReadDir(w.Dirs.Intake()); len(files) > 0 {
		for _, f := range files {
			if b, _ := os.ReadFile(filepath.Join(w.Dirs.Intake(), f.Name())); strings.Contains(string(b),
				"before_provider_request") {
				t.Error("an inner event was written down")
			}
		}
	}
}

// A plugin learns what files listen to, at once when
// that changes, and in a project only what counts there.
func TestInnerEventsAreWanted(t *testing.T) {
	w := newFixture(t)
	w.tsHook("a.ts", `export default (pi) => { pi.on("context", () => {}); pi.on("tool_call", () => {}); };`)
	w.Up()
	ask := func(known []string, wait float64) []string {
		t.Helper()
		var got wire.WantedResult
		w.MustCall(wire.MethodWanted, wire.WantedParams{Agent: "pi", Session: "s", Cwd: w.Base, Known: known,
			Wait: wait}, &got)
		return got.Events
	}
	if got := ask(nil, 60); !slices.Equal(got, []string{"context"}) { // as soon as it is loaded
		t.Fatalf("wanted: %v", got)
	}
	answer := make(chan []string, 1)
	go func() { answer <- ask([]string{"context"}, 60) }()
	select {
	case got := <-answer:
		t.Errorf("answered without a change: %v", got)
	case <-time.After(300 * time.Millisecond):
	}
	w.tsHook("a.ts", `export default (pi) => { pi.on("context", () => {}); pi.on("turn_start", () => {}); };`)
	select {
	case got := <-answer:
		if !slices.Equal(got, []string{"context", "turn_start"}) {
			t.Errorf("wanted: %v", got)
		}
	case <-time.After(daemontest.Patience):
		t.Fatal("no word of the change")
	}
	w.MustCall(wire.MethodOff, wire.OffParams{}, nil)
	if got := ask(nil, 0); len(got) != 0 {
		t.Errorf("wanted while everything is off: %v", got)
	}
	if got := w.Send(inner("context", w.Base, `"messages":[]`)); len(got.Stdout) != 0 {
		t.Errorf("answered while everything is off: %s", got.Stdout)
	}
	if err := w.Call(wire.MethodWanted, wire.WantedParams{Agent: "nobody"}, nil); err == nil {
		t.Error("an agent nobody knows was answered")
	}
}

// With an extension that passes inner events, files see each
// of pi's events once, under its own name.
func TestPiEventsOnce(t *testing.T) {
	w := newFixture(t)
	heard := filepath.Join(w.Base, "heard")
	w.tsHook("all.ts", `import { appendFileSync } from "node:fs";
export default (pi) => { for (const name of ["input", "before_agent_start", "agent_start", "turn_start", "tool_call", "tool_result", "turn_end", "agent_end", "agent_before_settle", "agent_settled"])
  pi.on(name, () => appendFileSync("`+heard+`", name + " ")); };`)
	w.Up()
	sendOuter := func(name, fields string) {
		t.Helper()
		r := inner(name, w.Base, fields)
		r.Inner = false
		w.Send(r)
	}
	sendOuter("input", `"text":"hello"`)
	for _, name := range []string{"before_agent_start", "agent_start", "turn_start"} {
		w.Send(inner(name, w.Base, `"turnIndex":0`))
	}
	sendOuter("tool_call", `"toolName":"bash","toolCallId":"c","input":{"command":"ls"}`)
	sendOuter("tool_result", `"toolName":"bash","toolCallId":"c","input":{"command":"ls"},"content":[]`)
	w.Send(inner("turn_end", w.Base, `"turnIndex":0`))
	w.Send(inner("agent_end", w.Base, `"messages":[]`))
	sendOuter("agent_before_settle", `"outcome":"completed"`)
	w.Send(inner("agent_settled", w.Base, `"aborted":false`))
	sendOuter("agent_settled", `"aborted":false`) // what a version says that has no agent_before_settle
	want := "input before_agent_start agent_start turn_start tool_call tool_result turn_end agent_end " +
		"agent_before_settle agent_settled "
	w.Eventually("everything was shown", func() bool {
		b, _ := os.ReadFile(heard)
		return len(b) >= len(want)
	})
	if b, _ := os.ReadFile(heard); string(b) != want {
		t.Errorf("shown: %s, want %s", b, want)
	}
}

// Tools and commands that files offer run in the
// daemon, so nobody but the agent itself may have them run, and a command nobody
// but a person.
func TestInnerActsAreTheAgentsOwn(t *testing.T) {
	type node = proctest.Node
	me := func(name string) node {
		return node{PID: os.Getpid(), Name: name, Program: "/opt/" + name + "/bin/" + name}
	}
	under := func(agent string, below node) *proctest.Table {
		return daemontest.AtTerminal(node{PID: daemontest.AgentPID, Name: agent, Program: "/opt/" + agent + "/bin/" + agent,
			Below: []node{
				{PID: daemontest.ToolPID, Name: "sh", Program: "/usr/bin/sh", Below: []node{below}},
			}})
	}
	const done, result = `"done":true`, `"text":"made"`
	for _, c := range []struct {
		name          string
		table         *proctest.Table
		command, tool bool
	}{
		{"pi itself", daemontest.AtTerminal(me("pi")), true, true},
		{"a child of pi", under("pi", me("python3")), false, false},
		{"our own client below pi", daemontest.BelowAgent("pi"), false, false},
		{"a child of pi that is called pi", under("pi", me("pi")), false, true},
		{"a pi that another agent started", under("claude", me("pi")), false, true},
		{"another agent", daemontest.AtTerminal(me("claude")), false, false},
		{"no agent at all", daemontest.AtTerminal(me("python3")), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			heard := filepath.Join(w.Base, "heard")
			w.tsHook("a.ts", `import { appendFileSync } from "node:fs";
export default (pi) => {
  pi.registerCommand("ship", { handler: async (args) => appendFileSync("`+heard+`", "command ") });
  pi.registerTool({ name: "make", description: "m", parameters: {}, execute: async () => { appendFileSync("`+heard+`", "tool "); return { content: [{ type: "text", text: "made" }] }; } });
};`)
			w.Up()
			w.SetProcesses(c.table)
			for _, one := range []struct {
				event, fields, want string
				may                 bool
			}{
				{"hookmux_command", `"name":"ship","args":""`, done, c.command},
				{"hookmux_tool", `"name":"make","toolCallId":"c","params":{}`, result, c.tool},
			} {
				got := string(w.Send(inner(one.event, w.Base, one.fields)).Stdout)
				if one.may && !strings.Contains(got, one.want) || !one.may && got != "" {
					t.Errorf(`%s: answered %q; want !one.may or one.want in got and one.may or got == ""`,
						one.event, got)
				}
			}
			said, _ := os.ReadFile(heard)
			if strings.Contains(string(said), "command") != c.command ||
				strings.Contains(string(said), "tool") != c.tool {
				t.Errorf("the file was made to do: %q", said)
			}
		})
	}
}
