package terminaltest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
)

// Installed programs always go to the daemon of
// their installation, and `hookmux verify` has a daemon of its own beside that one.
// The agent is a script that calls its hook and asks no model, so that the proof
// itself must fail.
func TestRealVerifyBesideInstallation(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	if err := os.MkdirAll(terminaltest.Base()+"/agents", 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("agents/claude", `#!/bin/sh
case "$*" in *--version*) echo '2.1.325 (Claude Code)'; exit 0 ;; esac
hook=$(echo "$*" | grep -o '/[^" ]*/hookmux-hook' | head -n 1)
echo '{"session_id":"s","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_input":{"command":"x"}}' |
	"$hook" claude PreToolUse 60
`)
	person := s.login(terminaltest.Login)
	person.Run("export PATH=" + terminaltest.Base() + "/agents:$PATH")
	if out := person.Run("hookmux install claude --yes"); !strings.Contains(out, "1 agent hooked") {
		t.Fatalf("install says %q, want 1 agent hooked", out)
	}
	out := person.Run("hookmux verify claude --check deny")
	for _, wrong := range []string{"another daemon is running", "no event arrived"} {
		if strings.Contains(out, wrong) {
			t.Errorf("verify beside an installation says %q:\n%s", wrong, out)
		}
	}
	if !strings.Contains(out, "Claude Code 2.1.325: 1 check failed (see ✗)") {
		t.Errorf("verify says\n%s\nwant a verdict about a claude that asks no model", out)
	}
}

// The demo of an installed hookmux has a daemon and
// settings of its own and leaves those of the installation alone.
func TestRealDemoBesideInstallation(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	person := s.login(terminaltest.Login)
	if out := person.Run("hookmux install claude --yes"); !strings.Contains(out, "1 agent hooked") {
		t.Fatalf("install says %q, want 1 agent hooked", out)
	}
	person.Run("hookmux config set inbox.wait.codex 7s")
	before := person.Run("cat ~/.config/hookmux/config.json")
	if !strings.Contains(before, "7s") {
		t.Fatalf("the settings are %q, want inbox.wait.codex 7s", before)
	}
	from := person.Mark()
	person.Type("hookmux up --demo\n")
	person.Await(from, "Fix the flaky payment test")
	from = person.Mark()
	person.Type("q")
	person.Await(from, "\x1b[?1049l") // the view gave the screen back
	if after := person.Run("cat ~/.config/hookmux/config.json"); after != before {
		t.Errorf("after the demo the settings are %q, want them as they were: %q", after, before)
	}
	if out := person.Run("hookmux ps"); strings.Contains(out, "payment") {
		t.Errorf("the installation's daemon knows the demo's sessions:\n%s", out)
	}
}
