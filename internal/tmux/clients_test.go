package tmux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
)

// Who looks at which pane is asked of tmux, and of the terminal where it tells.
func TestClientsLook(t *testing.T) {
	s, ctx := private(t), context.Background()
	if list := must[[]Client](t)(s.Clients(ctx)); len(list) != 0 {
		t.Errorf("%+v are attached, want nobody", list)
	}
	draw(t, s)
	pane := must[[]Pane](t)(s.Panes(ctx))[0]
	one := func() Client {
		t.Helper()
		list := must[[]Client](t)(s.Clients(ctx))
		if len(list) != 1 {
			t.Fatalf("%d clients, want one: %+v", len(list), list)
		}
		return list[0]
	}
	if c := one(); c.Pane != pane.ID || !strings.HasPrefix(c.TTY, "/dev/") || c.Reports {
		t.Errorf("client %+v, want it at %s on a terminal that does not report", c, pane.ID)
	}
	// Without reports, a key of a moment ago counts.
	if c := one(); !c.IsWatching(c.Used.Add(time.Second)) || c.IsWatching(c.Used.Add(time.Minute)) {
		t.Errorf("client %+v: want it to look after a second, and no more after a minute", c)
	}
	s.ask(t, "set-option", "-g", "focus-events", "on")
	if c := one(); !c.Reports || !c.IsWatching(c.Used.Add(time.Minute)) {
		t.Errorf("client %+v, want one that reports and has the keyboard", c)
	}
	viewers[s].ask(t, "send-keys", "-t", "main", "-H", "1b", "5b", "4f") // the terminal loses the keyboard
	await.Until(t, "the client looks no more", func() bool { c := one(); return !c.IsWatching(c.Used) })
	other := must[Pane](t)(s.Open(ctx, "", "other", "", []string{"sleep", "600"}))
	s.ask(t, "select-window", "-t", other.Window)
	await.Until(t, "the client shows the other pane", func() bool { return one().Pane == other.ID })
}

// A message is text and nothing else.
func TestMessageIsOnlyText(t *testing.T) {
	s, ctx := private(t), context.Background()
	seen := draw(t, s)
	trap := filepath.Join(t.TempDir(), "trap")
	list := must[[]Client](t)(s.Clients(ctx))
	s.ask(t, "set-option", "-g", "display-time", "0") // until a key
	text := "plain #(touch " + trap + ") #{pane_id} %H:%M \x1b[31m end;"
	if err := s.Message(ctx, list[0].Name, text); err != nil {
		t.Fatalf("the message is not shown: %v", err)
	}
	await.Until(t, "the message is drawn", func() bool { return strings.Contains(seen(), "end;") })
	if drawn := seen(); !strings.Contains(drawn, "#{pane_id} %H:%M") || !strings.Contains(drawn, "(touch "+trap) {
		t.Errorf("drawn %q, want the text as it is", drawn)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("tmux ran what stands in a message")
	}
}
