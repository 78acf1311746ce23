//go:build unix

package cli

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// offered returns the words a shell would offer.
func offered(t *testing.T, args ...string) []string {
	t.Helper()
	code, out, _ := call(append([]string{"__complete"}, args...)...)
	if code != 0 {
		t.Fatalf("%v: exit code %d, want 0", args, code)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1] // the last is a word to the shell
}

func TestCompletion(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, c := range []struct {
		args     string // what stands on the line, the last word being begun
		has, not string
	}{
		{"install ", "claude", ""},
		{"install claude ", "codex", "claude"},
		{"uninstall ", "grok", ""},
		{"run ", "claude", "gemini"}, // takes no hooks at launch
		{"doctor ", "claude", ""},
		{"doctor claude ", "codex", "claude"},
		{"why claude ", "PreToolUse", ""},
		{"config get ", "journal.keep", ""},
		{"config set guard.secrets ", "ask", ""},
		{"guard on ", "destructive", "allow"},
		{"shell-init ", "fish", ""},
		{"hooks claude ", "add", ""},
		{"hooks claude add ", "PreToolUse", ""},
		{"log --agent ", "claude", ""},
		{"log --kind ", "tool.before", ""},
		{"install --on-unavailable ", "deny", ""},
		{"status ", "", "claude"},
	} {
		got := offered(t, strings.Split(c.args, " ")...)
		if c.has != "" && !slices.Contains(got, c.has) || c.not != "" && slices.Contains(got, c.not) {
			t.Errorf(`%q offers %v; want c.has == "" or c.has in got and c.not == "" or no c.not in got`, c.args, got)
		}
	}
}

// TestShellsTakeTheCompletions has each shell that is here read its script.
func TestShellsTakeTheCompletions(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		code, out, errs := call("completion", shell)
		if code != 0 || !strings.Contains(out, "__complete") {
			t.Errorf(`%s: exit code %d, %s; want code == 0 and "__complete" in out`, shell, code, errs)
		}
		program, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.Command(program, append(check, "/dev/stdin")...)
		cmd.Stdin = strings.NewReader(out)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s does not take it: %v %s", shell, err, said)
		}
	}
}

// There is one for each command that is no secret, and groff,
// where it is here, has nothing to say about any.
func TestManPages(t *testing.T) {
	root := newRoot(&cmdutil.App{})
	pages := Pages(root, "1.2.3")
	var names []string
	for _, p := range pages {
		names = append(names, p.Name)
	}
	for _, want := range []string{"hookmux.1", "hookmux-hook.1", "hookmux-install.1", "hookmux-guard-exception-add.1",
		"hookmux-daemon-stop.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %v; want want in names", want, names)
		}
	}
	if slices.Contains(names, "hookmux-man-pages.1") {
		t.Error("a hidden command has a page")
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	var all strings.Builder
	for _, p := range pages {
		all.Write(p.Text)
	}
	cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(all.String())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("error %v, out = %s; want no error and no out", err, out)
	}
}
