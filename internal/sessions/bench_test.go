package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// What sessions cost a hook call, and the goroutine behind it.
func BenchmarkSessions(b *testing.B) {
	env := []byte(strings.Repeat("SOME_VARIABLE=with some value in it\x00", 60) +
		"TMUX=/tmp/tmux-0/default,1,0\x00TMUX_PANE=%1\x00")
	all := state.NewSessions()
	ev := event.Event{Agent: "claude", Session: "s1", Kind: event.TurnStart, Native: "UserPromptSubmit",
		Time: time.Now(), Prompt: "go", Cwd: "/p"}
	all.ApplyNumbered(&ev, 0, state.Rules{})
	tool := func(i int) *event.Event {
		kind := event.ToolBefore
		if i%2 == 1 {
			kind = event.ToolAfter
		}
		return &event.Event{Agent: "claude", Session: "s1", Kind: kind, Native: "PreToolUse", Time: time.Now(),
			Cwd: "/p",
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, CallID: fmt.Sprint(i / 2),
				Commands: []string{"go test ./..."}, Input: json.RawMessage(`{"command":"go test ./..."}`),
				Output: json.RawMessage(`{"stdout":"ok"}`)}}
	}
	b.Run("apply", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			all.ApplyNumbered(tool(i), 0, state.Rules{})
		}
	})
	b.Run("where", func(b *testing.B) {
		panes := newPaneFinder(context.Background(), services.Deps{}, nil, nil)
		for range b.N {
			panes.locateProcess(Process{PID: 7, Start: 8}, event.Place{}, env)
		}
	})
	one, _ := all.Get(state.Key{Agent: "claude", ID: "s1"})
	b.Run("stored", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			storedForm(one, nil)
		}
	})
	b.Logf("a stored session has %d bytes", len(storedForm(one, nil)))
}
