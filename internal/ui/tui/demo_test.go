package tui_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/demo"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/ui/tui"
)

// driver is a person at a running view: they look at frames and press keys.
type driver struct {
	*tui.Model
	t       *testing.T
	program *tea.Program

	mu    sync.Mutex
	frame string
}

func (d *driver) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := d.Model.Update(msg)
	return d, cmd
}

func (d *driver) View() tea.View {
	v := d.Model.View()
	d.mu.Lock()
	d.frame = ansi.Strip(v.Content)
	d.mu.Unlock()
	return v
}

func (d *driver) screen() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.frame
}

// sees waits until the frame has all these words, and presses a key until it does:
// the first may come too early.
func (d *driver) sees(key string, words ...string) {
	d.t.Helper()
	missing := func(word string) bool { return !strings.Contains(d.screen(), word) }
	next := time.Now().Add(500 * time.Millisecond)
	for until := time.Now().Add(daemontest.Patience); slices.ContainsFunc(words, missing); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			d.t.Fatalf("never on the screen: %q, after %q; there is\n%s", words, key, d.screen())
		}
		if key != "" && time.Now().After(next) {
			d.press(key)
			next = time.Now().Add(500 * time.Millisecond)
		}
	}
}

func (d *driver) press(keys ...string) {
	for _, key := range keys {
		msg := tea.KeyPressMsg{}
		switch key {
		case "enter":
			msg.Code = tea.KeyEnter
		case "esc":
			msg.Code = tea.KeyEscape
		case "home":
			msg.Code = tea.KeyHome
		default:
			msg.Code, msg.Text = []rune(key)[0], key
		}
		d.program.Send(msg)
	}
}

func (d *driver) typeText(text string) {
	for _, r := range text {
		d.press(string(r))
	}
}

// A whole day at the running view with the recorded agents: approve, deny with a
// reason, answer, accept a plan, filter, resize. Each agent goes on as it was told.
func TestDayWithRecordedAgents(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	err := demo.Run(ctx, func(ctx context.Context, h *demo.Daemon) error {
		d := &driver{Model: tui.New(ctx, tui.Options{Daemon: h}), t: t}
		d.program = tea.NewProgram(d, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard),
			tea.WithWindowSize(120, 40), tea.WithoutSignals())
		tui.Follow(ctx, h, d.program.Send)
		ended := make(chan error, 1)
		go func() {
			_, err := d.program.Run()
			ended <- err
		}()
		defer func() {
			d.program.Kill()
			<-ended
		}()
		d.sees("", "4 waiting")
		// By the filter each is alone on the screen, whatever the order they came in.
		find := func(words string) {
			d.press("esc", "/")
			d.typeText(words)
			d.press("enter", "home")
			d.sees("", "/"+words)
		}
		find("payment")
		d.sees("a", "✓ Approved · claude · npm test")
		find("parser")
		d.sees("d", "The agent reads it")
		d.typeText("not now")
		d.press("enter")
		d.sees("", "✗ Denied (not now) · codex · rm -rf build")
		find("cache")
		d.sees("enter", "1–2 answer", "Enter send")
		d.program.Send(tea.WindowSizeMsg{Width: 60, Height: 30})
		d.sees("2", "✓ Answered (Redis) · claude · Where should")
		d.program.Send(tea.WindowSizeMsg{Width: 160, Height: 40})
		find("database")
		d.sees("a", "✓ Plan accepted · claude · Move to the new database")
		d.press("esc")
		d.sees("", "5 done")
		d.press("h")
		d.sees("", "answered", "approved: $", "denied: $")
		list, err := h.Sessions(ctx, client.SessionsParams{})
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.Title == "Upgrade the parser" && (s.Turn == nil ||
				s.Turn.Summary != "Without a clean build I cannot check the upgrade.") {
				t.Errorf("the agent that heard no said last: %+v", s.Turn)
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("the demo ended with %v", err)
	}
}
