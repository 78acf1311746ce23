//go:build unix

package hookentry

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent/neutral"
)

// shells returns those of this machine.
func shells() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"sh", "bash", "dash", "zsh", "fish", "busybox"} {
		if file, err := exec.LookPath(name); err == nil {
			out[name] = file
		}
	}
	return out
}

func inShell(t *testing.T, name, file, line string) (string, error) {
	t.Helper()
	args := []string{"-c", line}
	if name == "busybox" {
		args = append([]string{"sh"}, args...)
	}
	out, err := exec.Command(file, args...).CombinedOutput()
	return string(out), err
}

func TestLinesWorkInEveryShell(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"plain", "with space", "it's", `back\slash`, `two\\of`, "$HOME `x` \"q\"", "ü*?[a]~",
		"a;b&c|d", "new\nline"} {
		program := filepath.Join(base, dir, HookName)
		if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"got $*\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		c := Command{Program: program, Agent: "claude", Event: "PreToolUse", Seconds: 60, Deny: true}
		gone := c
		gone.Program = filepath.Join(base, dir, "gone", HookName)
		for name, file := range shells() {
			if out, err := inShell(t, name, file, c.Line()); err != nil ||
				out != "got "+DenyFlag+" claude PreToolUse 60\n" {
				t.Errorf(`%s: %s: out = %q, error %v; want no error and out = "got --on-unavailable=deny claude `+
					`PreToolUse 60\n"`, name, c.Line(), out, err)
			}
			gone.Deny = false
			if out, err := inShell(t, name, file, gone.Line()); err != nil || out != "" {
				t.Errorf("%s: without the program: %s: %q %v", name, gone.Line(), out, err)
			}
			gone.Deny = true
			row, _ := neutral.Lookup("claude", "PreToolUse")
			if out, err := inShell(t, name, file, gone.Line()); err != nil || out != row.Deny.Stdout {
				t.Errorf("%s: refusing without the program: %s: %q %v", name, gone.Line(), out, err)
			}
		}
		if got, ok := ReadLine(c.Line()); !ok || got != c {
			t.Errorf("%s: read back as %+v %v", c.Line(), got, ok)
		}
	}
}

func TestAnswersAreSaidInEveryShell(t *testing.T) {
	for _, a := range []neutral.Answer{{Exit: 3}, {Stdout: `{"a":"it's %d \\n"}`},
		{Stdout: "o'", Stderr: "e'\\", Exit: 2}} {
		for name, file := range shells() {
			cmd := exec.Command(file, "-c", answerCommand(a))
			if name == "busybox" {
				cmd = exec.Command(file, "sh", "-c", answerCommand(a))
			}
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // its code is looked at below
			if got := (neutral.Answer{Stdout: out.String(), Stderr: errs.String(),
				Exit: cmd.ProcessState.ExitCode()}); got != a {
				t.Errorf("%s: %s: got %+v, want %+v", name, answerCommand(a), got, a)
			}
		}
	}
}

func TestOnlyOursIsRecognised(t *testing.T) {
	for _, line := range []string{
		"", "hookmux-hook", "hookmux-hook claude", "mywrap && hookmux-hook claude Stop 60", "hookmux-hook claude Stop 60 | tee x",
		"hookmux-hook claude Stop 60 > log", "sh -c 'hookmux-hook claude Stop'", "hookmux-hook claude $EVENT", "hookmux-hook --debug claude Stop",
		"test -x /a/hookmux-hook || exit 0; exec /b/hookmux-hook claude Stop", "exec hookmux-hook claude Stop &", "X=1 hookmux-hook claude Stop",
		"hookmux-hook claude Stop soon", "my-hookmux-hook claude Stop", "test -x /a/hookmux-hook && exec /a/hookmux-hook claude Stop",
		"hookmux-hook claude Stop 1 2", "'unclosed hookmux-hook",
	} {
		if c, ok := ReadLine(line); ok {
			t.Errorf("%q is taken for ours: %+v", line, c)
		}
	}
	for _, line := range []string{
		"hookmux-hook claude Stop", "/usr/bin/hookmux-hook claude Stop 60", "'/a b/hookmux-hook' claude Stop 60",
		"test -x /a/hookmux-hook || exec printf %s '{}'; exec /a/hookmux-hook codex Stop 600",
	} {
		if _, ok := ReadLine(line); !ok {
			t.Errorf("%q is not taken for ours", line)
		}
	}
}

func TestLinesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			readBack(t)
		}
	})
}

func readBack(t *rapid.T) {
	c := Command{
		Program: "/" + rapid.StringOfN(rapid.RuneFrom([]rune("ab /'\\\"$`~*?[]{}=%#;&|<>()!^ü\n\t")), 0, 12, -1).Draw(t,
			"dir") + "/" + HookName,
		Agent:   rapid.StringMatching(`[a-z][a-z0-9-]{0,8}`).Draw(t, "agent"),
		Event:   rapid.StringMatching(`[A-Za-z][A-Za-z.:_]{0,12}`).Draw(t, "event"),
		Seconds: rapid.IntRange(0, 5000).Draw(t, "seconds"), Deny: rapid.Bool().Draw(t, "deny"),
	}
	if got, ok := ReadLine(c.Line()); !ok || got != c {
		t.Fatalf("%q: got %+v, want ok and %+v", c.Line(), got, c)
	}
	if got, ok := ReadWords(c.Program, c.Args()); !ok || got != c {
		t.Fatalf("%q: got %+v, want ok and %+v", c.Args(), got, c)
	}
}
