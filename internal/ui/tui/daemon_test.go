package tui_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/ui/tui"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// terminal is the terminal that the view writes to.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *terminal) holds(word string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Contains(t.text.String(), word)
}

// The view holds an agent at a real daemon, answers it by key, and goes on when the
// daemon was started anew.
func TestViewAnswersAgents(t *testing.T) {
	w := daemontest.New(t, func(s daemontest.Setup) (daemontest.Daemon, error) {
		return daemon.New(daemon.Options{Dirs: s.Dirs, Table: s.Processes, Facts: s.Facts, Asker: s.Asker, Version: s.Version,
			PID: s.PID, Extra: s.Extra, Log: s.Log, LiveSettings: s.LiveSettings, Person: s.ByUser})
	})
	w.Up()
	keys, typed := io.Pipe()
	screen := &terminal{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- tui.Run(ctx, tui.Options{Daemon: w.Client}, tea.WithInput(keys), tea.WithOutput(screen),
			tea.WithWindowSize(100, 30), tea.WithoutSignals(), tea.WithEnvironment([]string{"TERM=xterm"}))
	}()
	defer func() {
		stop()
		_ = typed.Close()
		<-done
	}()
	for _, c := range []struct{ command, key, want string }{
		{"echo first-command", "a", `"allow"`},
		{"echo second-command", "d\r", `"deny"`},
	} {
		ask := daemontest.ToolBefore("claude", "s1", "/home/dev/shop", c.command)
		ask.Event = "PermissionRequest"
		ask.Payload = []byte(strings.Replace(string(ask.Payload), `"PreToolUse"`, `"PermissionRequest"`, 1))
		word := strings.Fields(c.command)[1]
		answer := askUntilShown(w, ask, func() bool {
			waiting, err := w.Client.Requests(ctx, false)
			return err == nil && len(waiting) > 0 && screen.holds(word)
		})
		answered, pause := false, time.Second
		for until := time.Now().Add(daemontest.Patience); !answered && time.Now().Before(until); {
			_, _ = typed.Write([]byte(c.key)) // too early at first: it must have been shown for a while
			select {
			case reply := <-answer:
				answered = true
				if !strings.Contains(string(reply.Stdout), c.want) {
					t.Errorf("%s: the agent hears %s, want %s in it", c.command, reply.Stdout, c.want)
				}
			case <-time.After(pause): // pressed sooner, it would be a key that is held
				pause += time.Second // a slow machine shows keys late, and then close together
			}
		}
		if !answered {
			t.Fatalf("%s: no answer reached the agent", c.command)
		}
		w.Down()
		w.Up()
	}
}

// askUntilShown sends a request as an agent does and waits until the view shows it: such
// a request waits even if nobody looks yet.
func askUntilShown(w *daemontest.Bench, ask frame.Request, shown func() bool) <-chan frame.Reply {
	answer := make(chan frame.Reply, 1)
	go func() {
		if reply, err := w.TrySend(ask); err == nil {
			answer <- reply
		}
	}()
	w.Eventually("the view shows the request", shown)
	return answer
}
