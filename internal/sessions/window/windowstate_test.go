package window

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

func TestStateFileTellsOfTheWindow(t *testing.T) {
	t.Parallel()
	claude, _ := agent.Builtin().Agent("claude")
	spec := claude.Inbox.State
	dir := t.TempDir()
	for _, d := range []string{"projects/p", "sessions"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "sessions/77.json")
	say := func(session, status string) {
		t.Helper()
		temp := file + ".tmp"
		if err := os.WriteFile(temp, []byte(`{"pid":77,"sessionId":"`+session+`","status":"`+status+`"}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, file); err != nil {
			t.Fatal(err)
		}
	}
	ev := &event.Event{Session: "s", Transcript: filepath.Join(dir, "projects/p/s.jsonl"), Where: event.Place{PID: 77}}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	say("s", "busy") // as it stands when the request comes
	done := Answered(ctx, running.Go, spec, ev)
	open := func(why string) {
		t.Helper()
		select {
		case <-done:
			t.Fatal("decided " + why + ", want it to wait")
		case <-time.After(SettleTime + 3*PollInterval):
		}
	}
	open("before it waited")
	say("s", "waiting")
	open("while it waits")
	say("other", "busy")
	open("by another session")
	if err := os.WriteFile(file, []byte(`{"pid":77,"sess`), 0o600); err != nil {
		t.Fatal(err)
	}
	open("by half a file")
	say("s", "busy")
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("an answer in the window was not seen")
	}
	for name, one := range map[string]event.Event{
		"no transcript": {Session: "s", Where: event.Place{PID: 77}}, "no process": {Session: "s", Transcript: "/x/y"}, "no session": {Transcript: "/x/y", Where: event.Place{PID: 77}},
	} {
		if Answered(ctx, nil, spec, &one) != nil {
			t.Errorf("name = %q, want Answered(ctx, nil, spec, &one) = nil", name)
		}
	}
	if Answered(ctx, nil, nil, ev) != nil {
		t.Error("an agent without such a file")
	}
}

func TestIdleSince(t *testing.T) {
	dir := t.TempDir()
	transcript := filepath.Join(dir, "projects", "p", "s1.jsonl")
	file := filepath.Join(dir, "sessions", "7.json")
	spec := &agent.StateFile{
		Path: "../../sessions/{pid}.json", Session: "sessionId", Status: "status", Waiting: "waiting", Idle: "idle",
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{"sessionId":"s1","status":"idle"}`: true, `{"sessionId":"s1","status":"busy"}`: false,
		`{"sessionId":"s2","status":"idle"}`: false, `{"sessionId":"s1","sta`: false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1700000000, 0)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		if since, ok := IdleSince(spec, transcript, "s1", 7); ok != want || ok && !since.Equal(at) {
			t.Errorf("%s: idle %v since %s, expected %v since %s", text, ok, since, want, at)
		}
	}
	if _, ok := IdleSince(spec, transcript, "s1", 8); ok {
		t.Error("a process without a file is idle")
	}
	spec.Idle = ""
	if _, ok := IdleSince(spec, transcript, "s1", 7); ok {
		t.Error("idle although nobody knows what the agent writes then")
	}
}
