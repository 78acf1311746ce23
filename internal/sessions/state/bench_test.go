package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// One event must cost the same with ten sessions and with ten thousand.
func BenchmarkEventAmong10(b *testing.B)    { benchEvent(b, 10) }
func BenchmarkEventAmong10000(b *testing.B) { benchEvent(b, 10000) }

func benchEvent(b *testing.B, sessions int) {
	claude, _ := agent.Builtin().Agent("claude")
	rules := Rules{Spec: &claude.Status}
	book := NewBook()
	now := t0
	send := func(id string, kind event.Kind, tool *event.Tool) {
		now = now.Add(time.Millisecond)
		ev := event.Event{Agent: "claude", Session: id, Native: natives[kind], Kind: kind, Time: now, Turn: "p1",
			Cwd: "/src/app", Tool: tool, Where: event.Place{PID: 100, Start: 1}}
		book.Apply(&ev, rules)
	}
	ids := make([]string, sessions)
	for i := range ids {
		ids[i] = fmt.Sprintf("session-%d", i)
		send(ids[i], event.SessionStart, nil)
		send(ids[i], event.TurnStart, nil)
		for n := range 30 {
			call := &event.Tool{Name: "Edit", Kind: event.FileEdit, CallID: fmt.Sprint("c", n),
				Writes: []string{fmt.Sprint("/src/app/f", n)}, Input: []byte(`{"file_path":"x"}`)}
			send(ids[i], event.ToolBefore, call)
			send(ids[i], event.ToolAfter, call)
		}
	}
	call := &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "x", Commands: []string{"go test ./..."},
		Input: []byte(`{"command":"go test ./..."}`)}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		id := ids[i%len(ids)]
		if i/len(ids)%2 == 0 {
			send(id, event.ToolBefore, call)
		} else {
			send(id, event.ToolAfter, call)
		}
		i++
	}
}

func BenchmarkSnapshotOf10000(b *testing.B) {
	book := NewBook()
	for i := range 10000 {
		ev := event.Event{Agent: "claude", Session: fmt.Sprint(i), Kind: event.TurnStart,
			Time: t0.Add(time.Duration(i))}
		book.Apply(&ev, Rules{})
	}
	for b.Loop() {
		if len(book.Snapshot()) != 10000 {
			b.Fatal()
		}
	}
}
