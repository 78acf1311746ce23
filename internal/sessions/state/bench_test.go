package state

import (
	"fmt"
	"runtime"
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
	all := NewSessions()
	now := t0
	send := func(id string, kind event.Kind, tool *event.Tool) {
		now = now.Add(time.Millisecond)
		ev := event.Event{Agent: "claude", Session: id, Native: natives[kind], Kind: kind, Time: now, Turn: "p1",
			Cwd: "/src/app", Tool: tool, Where: event.Place{PID: 100, Start: 1}}
		all.Apply(&ev, rules)
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
	all := NewSessions()
	for i := range 10000 {
		ev := event.Event{Agent: "claude", Session: fmt.Sprint(i), Kind: event.TurnStart,
			Time: t0.Add(time.Duration(i))}
		all.Apply(&ev, Rules{})
	}
	for b.Loop() {
		if len(all.Snapshot()) != 10000 {
			b.Fatal()
		}
	}
}

// BenchmarkIdleSessions measures what 500 sessions hold in memory that nothing
// happens in any more, in KiB.
func BenchmarkIdleSessions(b *testing.B) {
	for _, events := range []int{40, 600} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			var held uint64
			for b.Loop() {
				before := heapInUse()
				all := fillSessions(500, events)
				held = heapInUse() - before
				if all.Len() != 500 {
					b.Fatalf("got %d sessions, want 500", all.Len())
				}
			}
			b.ReportMetric(float64(held)/1024, "KiB")
		})
	}
}

// fillSessions makes sessions one event after another, amid garbage, as a daemon does.
func fillSessions(count, events int) *Sessions {
	claude, _ := agent.Builtin().Agent("claude")
	rules := Rules{Spec: &claude.Status}
	all, now := NewSessions(), t0
	var garbage [][]byte
	for step := range events {
		for i := range count {
			now = now.Add(time.Millisecond)
			ev := event.Event{Agent: "claude", Session: fmt.Sprintf("session-%d", i), Kind: event.ToolBefore, Time: now,
				Turn: fmt.Sprint("p", step/10), Cwd: "/src/app", Where: event.Place{PID: 100 + i, Start: 1}}
			switch step % 10 {
			case 0:
				ev.Kind, ev.Prompt = event.TurnStart, "mend the tests of the parser"
			case 9:
				ev.Kind, ev.Message = event.TurnEnd, "All tests pass."
			default:
				ev.Tool = &event.Tool{Name: "Edit", Kind: event.FileEdit, CallID: fmt.Sprint("c", step/2),
					Writes: []string{fmt.Sprint("/src/app/f", step/2)}, Input: []byte(`{"file_path":"x"}`)}
				if step%2 == 0 {
					ev.Kind = event.ToolAfter
				}
			}
			ev.Native = natives[ev.Kind]
			all.Apply(&ev, rules)
			if garbage = append(garbage, make([]byte, 2048)); len(garbage) > 2000 {
				garbage = nil
			}
		}
	}
	return all
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
