package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func notified(t *testing.T, config string, args ...string) (argv []string, words []string) {
	t.Helper()
	r := Request{Agent: catalogued(t, "codex"), Args: args, Program: "/bin/codex", Hook: "/h o/hookmux-hook",
		Untrusted: true, Config: "/c/config.toml",
		ReadFile: func(path string) ([]byte, error) {
			if path != "/c/config.toml" || config == "" {
				return nil, errors.New("none")
			}
			return []byte(config), nil
		}}
	argv, injected, notes, err := Plan(r)
	if err != nil || !injected || len(notes) != 1 || !strings.Contains(notes[0], "only the ends of turns") {
		t.Fatalf(`injected = %v, notes = %q, error %v; want no error, injected, len(notes) = 1 and "only the ends `+
			`of turns" in notes[0]`, injected, notes, err)
	}
	for i, arg := range argv {
		if text, ok := strings.CutPrefix(arg, "notify="); ok && argv[i-1] == "-c" {
			value, err := overrideValue(text)
			if err != nil {
				t.Fatal(err)
			}
			words = nil
			for _, w := range value.([]any) {
				words = append(words, w.(string))
			}
		}
		if strings.HasPrefix(arg, "hooks.") {
			t.Errorf("hooks are given, and trust: %s", arg)
		}
	}
	again, _, _, err := Plan(Request{Agent: r.Agent, Args: argv[1:], Program: "/bin/codex", Hook: r.Hook,
		Untrusted: true, Config: r.Config, ReadFile: r.ReadFile})
	if err != nil || !slices.Equal(argv, again) {
		t.Errorf("planned again it is %q, %v", again, err)
	}
	return argv, words
}

func TestWithoutTrustTheEndsOfTurnsAreSeen(t *testing.T) {
	argv, words := notified(t, "", "exec", "hi")
	if !slices.Equal(argv[3:], []string{"exec", "hi"}) || len(words) != 7 {
		t.Errorf(`argv = %q, want argv[3:] = []string{"exec", "hi"} and len(words) = 7`, argv)
	}
	// The user's own program: from the config, and from a flag, which counts
	// more.
	_, words = notified(t, "notify = [\"mine\", \"a b\"]\n", "hi")
	if !slices.Equal(words[7:], []string{"mine", "a b"}) {
		t.Errorf(`words = %q, want words[7:] = []string{"mine", "a b"}`, words)
	}
	_, words = notified(t, "notify = [\"mine\"]\n", "-c", `notify=["other"]`, "hi")
	if !slices.Equal(words[7:], []string{"other"}) {
		t.Errorf(`words = %q, want words[7:] = []string{"other"}`, words)
	}
	if _, _, _, err := Plan(Request{Agent: catalogued(t, "codex"), Args: []string{"-c", "notify=[1]"}, Hook: "/h",
		Untrusted: true}); err == nil {
		t.Error("a number is a program")
	}
}

// What Codex would do with it: the hook gets the event on stdin, the user's
// program its own arguments, also where the hook fails or is gone.
func TestTheNotifyScriptChains(t *testing.T) {
	dir := t.TempDir()
	tool := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	hook := tool("it's a hook", `{ printf '%s|' "$@"; cat; } > `+dir+`/hook.log; exit 3`)
	own := tool("own", `printf '%s|' "$@" > `+dir+`/own.log; exit 7`)
	event := `{"type":"agent-turn-complete","x":"it's \"$HOME\" %s"}`
	for _, c := range []struct {
		name, hook string
		own        []string
		exit       int
		seen       string
	}{
		{"chained", hook, []string{own, "a b", ""}, 7, "a b||" + event + "|"},
		{"alone", hook, nil, 0, ""},
		{"gone", filepath.Join(dir, "none"), []string{own}, 7, event + "|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_ = os.Remove(filepath.Join(dir, "hook.log"))
			_ = os.Remove(filepath.Join(dir, "own.log"))
			argv := slices.Concat([]string{"-c", notifyScript, notifyName, c.hook, "codex", "10"}, c.own,
				[]string{event})
			cmd := exec.Command("/bin/sh", argv...)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != c.exit || len(out) > 0 {
				t.Fatalf("error %v, out = %s; want cmd.ProcessState.ExitCode() = %v and no out", err, out, c.exit)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "own.log")); string(text) != c.seen {
				t.Errorf("text = %q, want %q", text, c.seen)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "hook.log")); c.hook == hook &&
				string(text) != "codex|agent-turn-complete|10|"+event {
				t.Errorf(`text = %q, want not c.hook == hook && string(text) != "codex|agent-turn-complete|10|"+event`,
					text)
			}
		})
	}
}
