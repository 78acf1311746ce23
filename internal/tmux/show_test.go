package tmux

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
)

func (s *Server) windowNow(t *testing.T, id string) (name, auto string) {
	t.Helper()
	return s.ask(t, "display-message", "-p", "-t", id, "#{window_name}"),
		s.ask(t, "show-options", "-wqv", "-t", id, "automatic-rename")
}

func TestNamesComeBack(t *testing.T) {
	for _, c := range []struct{ what, name, auto string }{
		{"tmux names it", "", ""},
		{"the user's name", "mine", "off"},
		{"a name of signs", "a ##1 #{x} 100% ;", "off"},
		{"a name with a style", "#[fg=red]x", "off"},
		{"a name with a backslash", `a\\b`, "off"},
		{"on by the user", "mine", "on"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, ctx := private(t), context.Background()
			p := must[[]Pane](t)(s.Panes(ctx))[0]
			s.ask(t, "set-option", "-g", "automatic-rename-format", "auto")
			if c.name != "" {
				s.ask(t, "rename-window", "-t", p.Window, "--", strings.ReplaceAll(doubleHashes(c.name), `\\`, `\`))
				s.ask(t, "set-option", "-w", "-t", p.Window, "automatic-rename-format",
					strings.ReplaceAll(doubleHashes(c.name), `\\`, `\`))
				s.ask(t, "set-option", "-w", "-t", p.Window, "automatic-rename", c.auto)
			} else {
				await.Until(t, "tmux named it", func() bool { name, _ := s.windowNow(t, p.Window); return name == "auto" })
			}
			before, auto := s.windowNow(t, p.Window)
			if c.name != "" && before != c.name {
				t.Fatalf("the test's own name is %q", before)
			}
			for _, name := range []string{"Fix it", "Fix it", "Then test it"} {
				if ok := must[bool](t)(s.NameWindow(ctx, p.Window, name)); !ok {
					t.Fatal("not named; want ok")
				}
				if now, auto := s.windowNow(t, p.Window); now != name || auto != "off" {
					t.Errorf("named %q, automatic-rename %s", now, auto)
				}
			}
			if err := s.RestoreName(ctx, p.Window); err != nil {
				t.Fatal(err)
			}
			if name, now := s.windowNow(t, p.Window); name != before || now != auto {
				t.Errorf("back is %q %q, was %q %q", name, now, before, auto)
			}
			if left := s.ask(t, "show-options", "-w", "-t", p.Window); strings.Contains(left, "@hookmux") {
				t.Errorf(`left behind: %s; want no "@hookmux" in left`, left)
			}
		})
	}
}

func TestTheUsersNameWins(t *testing.T) {
	s, ctx := private(t), context.Background()
	p := must[[]Pane](t)(s.Panes(ctx))[0]
	must[bool](t)(s.NameWindow(ctx, p.Window, "Ours"))
	s.ask(t, "rename-window", "-t", p.Window, "theirs")
	if ok := must[bool](t)(s.NameWindow(ctx, p.Window, "Ours again")); ok {
		t.Error("named over the user")
	}
	if err := s.RestoreName(ctx, p.Window); err != nil {
		t.Fatal(err)
	}
	if name, auto := s.windowNow(t, p.Window); name != "theirs" || auto != "off" {
		t.Errorf(`name = %q, auto = %q; want name = "theirs" and auto = "off"`, name, auto)
	}
}

func TestHostileTitlesAreOnlyShown(t *testing.T) {
	s, ctx := private(t), context.Background()
	dir := t.TempDir()
	p := must[[]Pane](t)(s.Panes(ctx))[0]
	see := draw(t, s)
	// The worst a status line can do: expand what it shows a second time.
	s.ask(t, "set-option", "-g", "status-interval", "1")
	s.ask(t, "set-option", "-g", "status-right-length", "200")
	s.ask(t, "set-option", "-g", "status-right", "<#{@hookmux_title}|#{E:@hookmux_title}|#{@hookmux_pane_agent}>")
	s.ask(t, "set-option", "-g", "window-status-current-format", "[#{@hookmux_icon} #W]")
	for title, shown := range map[string]string{
		"#(touch " + dir + "/1)":     "#(touch ",
		"#{pane_id}x":                "#{pane_id}x",
		"#[fg=red]loud":              "#[fg=red]loud",
		"##(touch " + dir + "/2)":    "##(touch ",
		"###{pane_id}y":              "###{pane_id}y",
		"one\ntwo":                   "one⏎two",
		"\x1b]0;pwned\aesc":          `\x1b]0;pwned\x07esc`,
		"bidi \u202eevil":            `bidi \u202eevil`,
		"end;":                       "end;",
		";kill-server":               ";kill-server",
		"--":                         "--",
		"-t %0":                      "-t %0",
		"%H:%M #12":                  "%H:%M #12",
		"tab\there":                  "tab here",
		"\xff\xfe broken":            `\xff\xfe broken`,
		"`touch " + dir + "/3` $(x)": "`touch ",
	} {
		if err := s.SetIcons(ctx, []Mark{{Pane: p.ID, Session: title, Agent: title, Title: title,
			Status: wire.StatusWaiting}}); err != nil {
			t.Fatalf("%q: error %v, want no error", title, err)
		}
		if ok := must[bool](t)(s.NameWindow(ctx, p.Window, title)); !ok {
			t.Errorf("%q: named by somebody else?", title)
		}
		wide := strings.NewReplacer("###{", "#＃{" /* drawn halved */, "#(", "＃(", "#{", "＃{", "#[", "＃[").Replace(shown)
		wide = strings.ReplaceAll(wide, `\`, `\\`) // tmux's way with backslashes in names
		all := ""
		await.Until(t, title+" is shown as "+shown, func() bool {
			all = strings.Join(strings.Fields(see()), " ")
			return strings.Contains(all, "<"+shown) && strings.Contains(all, "[▲ "+wide)
		})
		// A session saver hands the stored name back, expanded once more.
		name, _ := s.windowNow(t, p.Window)
		s.ask(t, "rename-window", "-t", p.Window, "--", name)
		must[bool](t)(false, s.RestoreName(ctx, p.Window))
	}
	if got, _ := os.ReadDir(dir); len(got) != 0 {
		t.Errorf("text was run: %v", got)
	}
	if !s.Running(ctx) {
		t.Error("the server is gone")
	}
}

func TestIconsOfAWindowAndOfAll(t *testing.T) {
	s, ctx := private(t), context.Background()
	one := must[[]Pane](t)(s.Panes(ctx))[0]
	s.ask(t, "split-window", "-d", "-t", one.ID, "sleep 600")
	two := must[[]Pane](t)(s.Panes(ctx))[1]
	read := func(target, format string) string { return s.ask(t, "display-message", "-p", "-t", target, format) }
	marks := []Mark{
		{Pane: one.ID, Session: "a", Status: wire.StatusRunning, Title: "A"},
		{Pane: two.ID, Session: "b", Status: wire.StatusWaiting, Title: "B"},
		{Pane: "%77", Session: "c", Status: wire.StatusWaiting, Title: "gone"},
		{Pane: "%0;kill-server", Session: "d", Status: wire.StatusWaiting},
	}
	if err := s.SetIcons(ctx, marks); err != nil {
		t.Fatal(err)
	}
	if got := read(one.ID, "#{@hookmux_icon} #{@hookmux_title} #{@hookmux_pane_icon} #{@hookmux_pane_session} "+
		"#{@hookmux_waiting} #{@hookmux_summary}"); got != "▲ B ● a 1 ▲1 ●1" {
		t.Errorf(`got %q, want "▲ B ● a 1 ▲1 ●1"`, got)
	}
	if err := s.SetIcons(ctx, marks[:1]); err != nil {
		t.Fatal(err)
	}
	if got := read(two.ID, "#{@hookmux_icon}|#{@hookmux_pane_icon}|#{@hookmux_waiting}"); got != "●||0" {
		t.Errorf(`got %q, want "●||0"`, got)
	}
	if err := s.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	for _, scope := range []string{"-g", "-w", "-p"} {
		if got := s.ask(t, "show-options", scope); strings.Contains(got, "@hookmux") {
			t.Errorf(`%s: left behind: %s; want no "@hookmux" in got`, scope, got)
		}
	}
}

func TestFollow(t *testing.T) {
	s, ctx := private(t), context.Background()
	s.ask(t, "set-option", "-g", "automatic-rename", "off")
	p := must[[]Pane](t)(s.Panes(ctx))[0]
	mine := must[Pane](t)(s.Open(ctx, "", "mine", "", []string{"sleep", "600"}))
	before, auto := s.windowNow(t, p.Window)
	// What a killed follower left.
	must[bool](t)(s.NameWindow(ctx, p.Window, "left over"))

	changes := make(chan Change)
	over := make(chan struct{})
	go func() {
		defer close(over)
		Follow(ctx, changes, Options{Settle: time.Millisecond, Program: s.Program, Log: func(err error) { t.Log(err) }})
	}()
	name := func(id string) string { n, _ := s.windowNow(t, id); return n }
	icon := func(id string) string { return s.ask(t, "display-message", "-p", "-t", id, "#{@hookmux_icon}") }
	changes <- Change{Session: "a", Pane: p.ID, Socket: s.Socket, Agent: "claude", Status: wire.StatusRunning}
	await.Until(t, "named after the agent", func() bool { return name(p.Window) == "claude" && icon(p.Window) == "●" })
	changes <- Change{Session: "a", Pane: p.ID, Socket: s.Socket, Agent: "claude", Title: "Fix #(it)",
		Status: wire.StatusWaiting}
	changes <- Change{Session: "b", Pane: mine.ID, Socket: s.Socket, Agent: "codex", Title: "Other",
		Status: wire.StatusDone}
	changes <- Change{Session: "c", Agent: "pi", Title: "nowhere", Status: wire.StatusDone}
	await.Until(t, "title and icon", func() bool {
		return name(p.Window) == "Fix ＃(it)" && icon(p.Window) == "▲" && icon(mine.Window) == "✓"
	})
	if got := name(mine.Window); got != "mine" {
		t.Errorf("the user's own name became %q", got)
	}
	changes <- Change{Session: "b", Gone: true}
	await.Until(t, "its mark is gone", func() bool { return icon(mine.Window) == "" })
	close(changes)
	<-over
	if n, a := s.windowNow(t, p.Window); n != before || a != auto {
		t.Errorf("back is %q %q, was %q %q", n, a, before, auto)
	}
	if icon(p.Window) != "" {
		t.Error("an icon is left")
	}
}

// The default server has a path as well: sessions that know it and sessions that don't are
// shown side by side.
func TestFollowKnowsTheDefaultServer(t *testing.T) {
	dir := sandbox.TempDir(t)
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("TMUX", "")
	program := private(t).Program
	cmd := exec.Command(program, "-f", "/dev/null", "new-session", "-d", "-s", "main", "sleep", "600")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s, ctx := &Server{Program: program}, t.Context()
	t.Cleanup(func() { _ = exec.Command(program, "kill-server").Run() })
	first := must[[]Pane](t)(s.Panes(ctx))[0]
	second := must[Pane](t)(s.Open(ctx, "", "other", "", []string{"sleep", "600"}))
	socket := s.ask(t, "display-message", "-p", "#{socket_path}")
	changes := make(chan Change)
	over := make(chan struct{})
	go func() {
		defer close(over)
		Follow(ctx, changes, Options{Settle: time.Millisecond, Program: program, Log: func(err error) { t.Log(err) }})
	}()
	icon := func(id string) string { return s.ask(t, "display-message", "-p", "-t", id, "#{@hookmux_icon}") }
	changes <- Change{Session: "a", Pane: first.ID, Socket: socket, Agent: "claude", Status: wire.StatusRunning}
	await.Until(t, "the first is shown", func() bool { return icon(first.Window) == "●" })
	changes <- Change{Session: "b", Pane: second.ID, Agent: "opencode", Status: wire.StatusDone}
	await.Until(t, "the second is shown", func() bool { return icon(second.Window) == "✓" })
	if got := icon(first.Window); got != "●" {
		t.Errorf("the first window's icon became %q", got)
	}
	close(changes)
	<-over
}

func TestFollowOutlivesItsServers(t *testing.T) {
	changes := make(chan Change, 4)
	changes <- Change{Session: "a", Pane: "%0", Socket: filepath.Join(t.TempDir(), "none"), Status: wire.StatusRunning}
	changes <- Change{Session: "a", Gone: true}
	close(changes)
	Follow(context.Background(), changes, Options{Settle: time.Millisecond})
}
