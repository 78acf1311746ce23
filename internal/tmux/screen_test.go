package tmux

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// asker is a program that shows a dialog, shows another one when it is told to, and writes
// down each key it gets.
const asker = `stty -echo -icanon min 1 time 0
show() { printf '\033[2J\033[Hsome output\n╭───────╮\n│ %s │\n╰───────╯\nAllow it? [#{pane_id}], 100%%\n● 1. Allow once\n  2. No (esc)\n' "$1"; }
trap 'show "rm -rf /tmp/other"' USR1
show "touch /tmp/one; echo a,b}"
while :; do
	key=$(dd bs=1 count=1 2>/dev/null) && [ -n "$key" ] && printf '%s\n' "$key" >>keys
done
`

// Keys are pressed while the pane shows what was read, and not once something else was drawn
// after the screen was read.
func TestPressWhile(t *testing.T) {
	s, dir, ctx := private(t), sandbox.TempDir(t), context.Background()
	script := filepath.Join(dir, "asker")
	if err := os.WriteFile(script, []byte(asker), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := func() string {
		b, _ := os.ReadFile(filepath.Join(dir, "keys"))
		return string(b)
	}
	s.ask(t, "respawn-pane", "-k", "-t", "main", "-c", dir, "exec sh "+script)
	id := s.ask(t, "list-panes", "-F", "#{pane_id}")
	pid := s.ask(t, "list-panes", "-F", "#{pane_pid}")
	shows := func(text string) func() bool {
		return func() bool {
			screen, err := s.Screen(ctx, id)
			return err == nil && strings.Contains(strings.Join(screen.Lines, "\n"), text)
		}
	}
	await.Until(t, "the dialog is drawn", shows("2. No"))
	screen := must[Screen](t)(s.Screen(ctx, id))
	if screen.Columns != 120 || screen.Lines[2] != "│ touch /tmp/one; echo a,b} │" {
		t.Fatalf("Screen = %d columns, %q; want 120 and the command in a frame", screen.Columns, screen.Lines[:8])
	}
	pressed := must[bool](t)(s.PressWhile(ctx, id, screen, 1, 6, "1"))
	if !pressed {
		t.Fatal("the screen is as it was read, and nothing was pressed")
	}
	await.Until(t, "the key arrives", func() bool { return keys() == "1\n" })

	// It is replaced after it was read.
	s.ask(t, "run-shell", "kill -USR1 "+pid)
	s.ask(t, "send-keys", "-t", id, "x") // dd goes on until a key comes
	await.Until(t, "the other dialog is drawn", shows("rm -rf"))
	before := keys()
	if must[bool](t)(s.PressWhile(ctx, id, screen, 1, 6, "1")) || keys() != before {
		t.Errorf("a key was pressed in another dialog: %q", keys())
	}
	if _, err := s.PressWhile(ctx, id, screen, 1, 6, "1 ; kill-server"); err == nil {
		t.Error("what is no key was pressed")
	}
	// In copy mode keys would go elsewhere.
	now := must[Screen](t)(s.Screen(ctx, id))
	s.ask(t, "copy-mode", "-t", id)
	if must[bool](t)(s.PressWhile(ctx, id, now, 1, 6, "1")) {
		t.Error("a key was pressed in copy mode")
	}
}
