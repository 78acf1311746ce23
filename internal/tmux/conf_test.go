package tmux

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/wire"
)

const own = "/home/a b/.local/share/hookmux/tmux.conf"

func TestTheSameBytesAgain(t *testing.T) {
	for _, text := range [][]byte{
		nil, {}, []byte("set -g mouse on\n"), []byte("set -g mouse on"), []byte("a\r\nb\r\n"), []byte("\n\n"), []byte("# hookmux\n"),
		[]byte("\xff\x00\n"), []byte("run '~/.tmux/plugins/tpm/tpm'"),
	} {
		in := AddLine(text, own)
		if !HasLine(in) || bytes.Equal(in, text) {
			t.Errorf("%q became %q; want HasLine(in) and !bytes.Equal(in, text)", text, in)
		}
		if again := AddLine(in, own); !bytes.Equal(again, in) {
			t.Errorf("a second time: %q", again)
		}
		out, gone, found := DropLine(in)
		if !found || gone != (text == nil) || !bytes.Equal(out, text) && !gone {
			t.Errorf("%q came back as %q, %v %v", text, out, gone, found)
		}
		if _, _, found := DropLine(out); found {
			t.Error("there was a second one")
		}
	}
}

func TestAnyTextComesBack(t *testing.T) {
	line := rapid.SampledFrom([]string{"set -g x y", "", "# c", "bind N next", "source-file ~/.x", wordStart, "\r",
		"if {"})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOf(line).Draw(t, "lines"), "\n"))
		if out, _, _ := DropLine(AddLine(text, own)); !bytes.Equal(out, text) {
			t.Fatalf("%q came back as %q", text, out)
		}
		before, after := rapid.SliceOf(line).Draw(t, "before"), rapid.SliceOf(line).Draw(t, "after")
		// The user's own lines around it stay as they are.
		edited := strings.Join(before, "\n") + "\n" + string(AddLine([]byte("mine\n"), own)) + strings.Join(after, "\n")
		want := strings.Join(before, "\n") + "\nmine\n" + strings.Join(after, "\n")
		if out, _, _ := DropLine([]byte(edited)); string(out) != want {
			t.Fatalf("%q came back as %q", edited, out)
		}
	})
}

func TestALineOfAnotherHomeIsOurs(t *testing.T) {
	text := AddLine([]byte("x\n"), "/elsewhere/hookmux/tmux.conf")
	now := AddLine(text, own)
	if bytes.Contains(now, []byte("elsewhere")) || strings.Count(string(now), sourceWord) != 1 {
		t.Errorf(`got %q; want no []byte("elsewhere") in now and strings.Count(string(now), sourceWord) == 1`, now)
	}
	if out, _, _ := DropLine(now); string(out) != "x\n" {
		t.Errorf("left %q, want \"x\\n\"", out)
	}
	// A word that was deleted by hand, and a file that is the user's.
	if out, gone, _ := DropLine([]byte("x\n" + sourceWord + "'/a/hookmux/tmux.conf'\ny\n")); string(out) != "x\ny\n" ||
		gone {
		t.Errorf("left %q; want string(out) == \"x\\ny\\n\" and !gone", out)
	}
	if _, _, found := DropLine([]byte("source-file ~/hookmux-notes/tmux.conf\n")); found {
		t.Error("that is the user's")
	}
}

func TestConfPath(t *testing.T) {
	home := t.TempDir()
	none := func(string) string { return "" }
	if got := ConfPath(home, none); got != filepath.Join(home, ".tmux.conf") {
		t.Errorf(`nothing there: %s; want got == filepath.Join(home, ".tmux.conf")`, got)
	}
	dir := filepath.Join(home, ".config", "tmux")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := ConfPath(home, none); got != filepath.Join(dir, "tmux.conf") {
		t.Errorf("the folder is there: %s", got)
	}
	if err := os.WriteFile(filepath.Join(home, ".tmux.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ConfPath(home, none); got != filepath.Join(home, ".tmux.conf") {
		t.Errorf("the file is there: %s", got)
	}
	xdg := filepath.Join(home, "x")
	if err := os.MkdirAll(filepath.Join(xdg, "tmux"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(xdg, "tmux", "tmux.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ConfPath(home, env("XDG_CONFIG_HOME", xdg)); got != filepath.Join(xdg, "tmux", "tmux.conf") {
		t.Errorf("both are there, tmux reads this one last: %s", got)
	}
}

func TestBound(t *testing.T) {
	for text, want := range map[string]string{
		"bind N next-window\n":                 "N",
		"bind-key -r A resize-pane -L\n":       "A",
		"  bind -N 'a note' N x\nbind 'A' y\n": "N A",
		"bind -n N x\nbind n x\nbind M-N x\n":  "",
		"bind -T copy-mode N x\n":              "",
		"bind -T prefix N x\n":                 "N",
		"set -g status-right N\n# bind N x\n":  "",
	} {
		if got := strings.Join(Bound([]byte(text), DefaultKeys), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for key, want := range map[string]bool{"N": true, "C-M-x": true, "F12": true, "Space": true, "": false,
		"N kill-server": false, ";": false, "\"": false, "#": false} {
		if ValidKey(key) != want {
			t.Errorf("key = %q, want ValidKey(key) = %v", key, want)
		}
	}
}

// Tmux itself takes the file, twice without doubling,
// shows icons, runs the program behind the keys, and forgets all of it again.
func TestRealServerReadsIt(t *testing.T) {
	s, ctx := private(t), context.Background()
	major, minor := s.Version(ctx)
	if major < 3 {
		t.Skip("this tmux is older than 3.0")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "it's #(a) $x hookmux")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$TMUX_PANE $*\" >> '"+dir+"/said'\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	// One value of the user's, one that is tmux's own.
	s.ask(t, "set-option", "-g", "window-status-format", "(#I)")
	formats := func() string {
		return s.ask(t, "show-options", "-gv", "window-status-format") +
			s.ask(t, "show-options", "-gv", "window-status-current-format")
	}
	before, keys := formats(), s.ask(t, "list-keys")
	file := filepath.Join(dir, "a [b]*", "hookmux", "tmux.conf")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, Conf(program, DefaultKeys, major, minor), 0o600); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(dir, "user.conf")
	if err := os.WriteFile(user, AddLine(nil, file), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.ask(t, "source-file", user)
	}
	if got := formats(); strings.Count(got, iconPart) != 2 || !s.ShowsIcons(ctx) {
		t.Errorf("formats are %s; want strings.Count(got, iconPart) == 2 and s.ShowsIcons(ctx)", got)
	}
	if taken := must[[]string](t)(s.Taken(ctx, DefaultKeys)); len(taken) > 0 {
		t.Errorf("our own keys are taken: %v", taken)
	}
	if taken := must[[]string](t)(s.Taken(ctx, Keys{Jump: "c", Popup: "%"})); len(taken) != 2 {
		t.Errorf("tmux's own keys: %v", taken)
	}
	see := draw(t, s)
	p := must[[]Pane](t)(s.Panes(ctx))[0]
	must[bool](t)(false, s.SetIcons(ctx, []Mark{{Pane: p.ID, Status: wire.StatusWaiting}}))
	await.Until(t, "the icon shows", func() bool { return strings.Contains(see(), "▲") })
	press := func(key string) {
		// As a client would: the prefix table by name.
		client := s.ask(t, "list-clients", "-F", "#{client_name}")
		s.ask(t, "switch-client", "-c", client, "-T", "prefix")
		viewerKeys(t, s, key)
	}
	said := func(what string) func() bool {
		return func() bool { b, _ := os.ReadFile(dir + "/said"); return strings.Contains(string(b), what) }
	}
	press("N")
	await.Until(t, "the jump key runs it", said(p.ID+" jump --next"))
	if major > 3 || minor >= 2 {
		press("A")
		await.Until(t, "the popup key runs it", said(" up"))
	}
	if err := s.Unload(ctx); err != nil {
		t.Fatal(err)
	}
	if got := formats(); got != before {
		t.Errorf("formats are %s, were %s", got, before)
	}
	if got := s.ask(t, "list-keys"); got != keys {
		t.Error("keys are not what they were")
	}
}
