package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/server"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// otherPID is the agent whose session nobody else may read.
const otherPID = daemontest.AgentPID + 100

// foreignWord stands in everything that the other session says and does.
const foreignWord = "zanzibar"

// withAgents returns a machine with two agents; the test runs below one of them, or
// beside them.
func withAgents(below string) *proctest.Table {
	agent := func(name string, pid int) proctest.Node {
		// The same start in every table: a pid that started later is another process, and its sessions end.
		n := proctest.Node{PID: pid, Name: name, Program: "/opt/" + name + "/bin/" + name, Start: 1011}
		if name == below {
			n.Below = []proctest.Node{{PID: pid + 50, Name: "sh", Program: "/usr/bin/sh", Below: []proctest.Node{
				{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}}}
		}
		return n
	}
	nodes := []proctest.Node{agent("claude", daemontest.AgentPID), agent("codex", otherPID)}
	switch below {
	case "":
		nodes = append(nodes, proctest.Node{PID: os.Getpid(), Name: "hookmux"})
	case "left":
		nodes = append(nodes, proctest.Node{PID: os.Getpid(), Name: "sh", Session: true, TTY: proctest.None,
			Env: []string{"CLAUDECODE=1"}})
	}
	return daemontest.AtTerminal(nodes...)
}

// tellSession sends what an agent reports of a session in a folder, with a word
// in everything that is said.
func (w *daemonFixture) tellSession(agent, session, folder, word string) {
	w.T.Helper()
	send := func(name string, more map[string]any) {
		payload := map[string]any{"session_id": session, "cwd": folder, "hook_event_name": name}
		for key, value := range more {
			payload[key] = value
		}
		b, err := json.Marshal(payload)
		if err != nil {
			w.T.Fatal(err)
		}
		w.Send(frame.Request{ID: frame.NewID(), Agent: agent, Event: name, Cwd: folder, Payload: b,
			Deadline: daemontest.Patience})
	}
	send("SessionStart", map[string]any{"source": "startup"})
	send("UserPromptSubmit", map[string]any{"prompt": "tell me about " + word})
	send("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "echo " + word}})
	send("PostToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "echo " + word},
		"tool_response": map[string]any{"stdout": word}})
}

// twoSessions has an agent with a session of its own, and another one whose
// session it must not see: with events, a turn, a request that waits, a permission,
// a problem and an attempt that was refused.
func twoSessions(t *testing.T) (w *daemonFixture, foreign string) {
	t.Helper()
	w = open(t)
	foreign = w.Base + "/" + foreignWord
	own := w.Base + "/own"
	for _, dir := range []string{foreign, own} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.set("inbox.wait.codex", "1h")
	w.watchInbox()
	w.SetProcesses(withAgents("codex"))
	w.tellSession("codex", "session-"+foreignWord, foreign, foreignWord)
	request := permission("session-"+foreignWord, "make "+foreignWord)
	request.Agent, request.Cwd, request.Deadline = "codex", foreign, time.Hour
	call := w.startCall(request)
	t.Cleanup(func() { _ = call.conn.Close() })
	w.waiting()                                                       // before the processes change: the daemon looks at the caller
	_ = w.Call(wire.MethodTrust, wire.TrustParams{Cwd: foreign}, nil) // refused, and journalled with its words
	w.h.deps.Problems.Raise("reading", "something is wrong in "+foreign, "look there")
	w.SetProcesses(withAgents("claude"))
	w.tellSession("claude", "session-own", own, "hamster")
	w.SetProcesses(withAgents(""))
	w.Eventually("everything is stored", func() bool {
		foreignRows, ownRows := 0, 0
		for _, row := range w.Rows() {
			if strings.Contains(string(row.Raw), foreignWord) {
				foreignRows++
			} else if strings.Contains(string(row.Raw), "hamster") {
				ownRows++
			}
		}
		return foreignRows >= 5 && ownRows >= 3 // all that was told
	})
	return w, foreign
}

// The table of methods names exactly those that somebody answers.
func TestEveryMethodIsAnswered(t *testing.T) {
	w := open(t)
	answered := slices.Concat(slices.Collect(maps.Keys(w.h.server.Methods)),
		slices.Collect(maps.Keys(w.h.server.LongMethods)), slices.Collect(maps.Keys(w.h.server.Streams)))
	slices.Sort(answered)
	if want := slices.Sorted(maps.Keys(wire.Methods)); !slices.Equal(answered, want) {
		t.Errorf("want the methods %v, got %v", want, answered)
	}
}

// Every method that shows something has a word in the table of readings.
func TestEveryReadingIsLimited(t *testing.T) {
	for name, class := range wire.Methods {
		if limited := server.LimitsReading(name); limited != (class == authority.Read) {
			t.Errorf("%s has the class %s, and limits for agents: %v", name, class, limited)
		}
	}
}

// readingParams are parameters with which a method would show the other session.
func readingParams(request string) map[string][]any {
	session := "session-" + foreignWord
	return map[string][]any{
		wire.MethodQuery: {wire.QueryParams{}, wire.QueryParams{Newest: true},
			wire.QueryParams{Filter: wire.Filter{Session: session}}},
		wire.MethodSessions:      {wire.SessionsParams{All: true}},
		wire.MethodSession:       {wire.SessionParams{Session: session}, wire.SessionParams{Session: "session"}},
		wire.MethodSessionResume: {wire.SessionResumeParams{}, wire.SessionResumeParams{Session: session}},
		wire.MethodInboxItems:    {wire.InboxListParams{All: true}, wire.InboxListParams{ID: request}},
		wire.MethodCmuxList:      {map[string]any{}},
		wire.MethodCmuxJump:      {map[string]any{"workstream_id": "codex-" + session}},
	}
}

// An agent's answer to every reading method has nothing of a session that is not
// its own, and a person's has.
func TestAgentsReadTheirOwnSession(t *testing.T) {
	w, _ := twoSessions(t)
	request := w.waiting().ID
	ask := func(method string, params any) string {
		var answer json.RawMessage
		if err := w.Call(method, params, &answer); err != nil {
			return err.Error()
		}
		return string(answer)
	}
	shown := map[string]bool{}
	readers := map[string]*proctest.Table{
		"a person":     withAgents(""),
		"the agent":    withAgents("claude"),
		"what it left": withAgents("left"),
		"nobody known": withAgents("nobody"),
	}
	for reader, table := range readers {
		w.SetProcesses(table)
		for method, class := range wire.Methods {
			if class != authority.Read || method == wire.MethodStream || method == wire.MethodInboxStream {
				continue
			}
			list := readingParams(request)[method]
			for _, params := range append(list, nil) {
				answer := ask(method, params)
				// What was asked for by name may be repeated by its name.
				found := strings.Contains(strings.ReplaceAll(answer, "session-"+foreignWord+`"`, ""), foreignWord)
				if reader == "a person" {
					shown[method] = shown[method] || found
				} else if found {
					t.Errorf("%s reads of the other session by %s %v: %s", reader, method, params, answer)
				}
			}
		}
	}
	for _, method := range []string{wire.MethodInfo, wire.MethodQuery, wire.MethodSessions, wire.MethodSession,
		wire.MethodInboxItems, wire.MethodCmuxList} {
		if !shown[method] {
			t.Errorf("a person is not shown the other session by %s: the test proves nothing", method)
		}
	}
	w.SetProcesses(readers["the agent"])
	for _, method := range []string{wire.MethodQuery, wire.MethodSessions} {
		if answer := ask(method, readingParams(request)[method][0]); !strings.Contains(answer, "hamster") {
			t.Errorf("the agent does not see its own session by %s: %s", method, answer)
		}
	}
	if answer := ask(wire.MethodSession, wire.SessionParams{Session: "session-own"}); !strings.Contains(answer,
		"session-own") {
		t.Errorf("the agent does not see its own session: %s", answer)
	}
}

// The same on streams: what is stored, and what comes while they run.
func TestAgentsFollowTheirOwnSession(t *testing.T) {
	w, foreign := twoSessions(t)
	w.SetProcesses(withAgents("claude"))
	lines := make(chan string, 10_000)
	follow := func(method, params, ready string) {
		conn := w.Dial()
		if _, err := conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params +
			"}\n")); err != nil {
			t.Fatal(err)
		}
		began := make(chan struct{})
		go func() {
			reader := bufio.NewReader(conn)
			open := true
			for {
				line, err := reader.ReadString('\n')
				if err != nil {
					return
				}
				lines <- line
				if open && strings.Contains(line, ready) {
					open = false
					close(began)
				}
			}
		}()
		select {
		case <-began:
		case <-context.Background().Done():
		}
	}
	follow(wire.MethodStream, `{"after":"0","sessions":"also"}`, wire.NoteReady)
	follow(wire.MethodInboxStream, `{}`, wire.NoteInboxReady)
	// The streams go on as the agent's, whoever reports now.
	w.SetProcesses(withAgents("codex"))
	w.tellSession("codex", "session-"+foreignWord, foreign, foreignWord)
	w.SetProcesses(withAgents("claude"))
	w.tellSession("claude", "session-own", w.Base+"/own", "gerbil")
	heard := ""
	w.Eventually("the agent hears of its own session", func() bool {
		for {
			select {
			case line := <-lines:
				heard += line
				continue
			default:
			}
			return strings.Contains(heard, "gerbil") && strings.Contains(heard, "hamster")
		}
	})
	if strings.Contains(heard, foreignWord) {
		t.Errorf("the agent hears of the other session: %s", heard)
	}
}

func TestMethodsOfTwoServicesFail(t *testing.T) {
	defer func() {
		if got, want := recover(), "two services answer the method b"; got != want {
			t.Errorf("adding a method twice panics with %v, want %q", got, want)
		}
	}()
	addMethods(map[string]int{"a": 1, "b": 2}, map[string]int{"b": 3})
}
