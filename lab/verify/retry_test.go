//go:build unix

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What failed, and nothing else, is asked a second time by .ci/verify; what
// fails again fails the run.
func TestOnlyWhatFailedIsAskedAgain(t *testing.T) {
	// In place of go: the first call tells of failures, later ones of what it is
	// told to.
	const fake = `#!/bin/sh
dir=$(dirname "$0")
echo "$@" >>"$dir/calls"
if [ ! -e "$dir/second" ]; then
	: >"$dir/second"
	printf '%s\n' '=== RUN   TestRealA' '--- FAIL: TestRealA (1.00s)' '    --- FAIL: TestRealA/codex (0.50s)' '        --- FAIL: TestRealA/codex/deep (0.50s)' '    --- PASS: TestRealA/grok (0.50s)' '--- FAIL: TestRealB (0.1s)' '    --- PASS: TestRealChecks/grok (0.50s)' 'FAIL'
	printf 'FAIL\texample/one\t1.0s\nok  \texample/two\t2.0s\npanic: oh\nFAIL\texample/three\t2.0s\n'
	exit 1
fi
echo "    --- PASS: TestRealChecks/codex (0.50s)"
exit $(cat "$dir/code")
`
	for code, want := range map[string]string{"0": "", "1": "exit status 1"} {
		dir := t.TempDir()
		for name, text := range map[string]string{"go": fake, "code": code} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("sh", "../../.ci/verify", "codex", "grok")
		cmd.Env = append(os.Environ(), "GO="+filepath.Join(dir, "go"), "RETRY=1")
		out, err := cmd.CombinedOutput()
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("code %s: %v\n%s; want (err == nil) == (want == \"\") and no error or err.Error() == want",
				code, err, out)
		}
		told, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		calls := strings.Split(strings.TrimSpace(string(told)), "\n")
		var asked []string
		for _, c := range calls {
			_, what, _ := strings.Cut(c, "-run ")
			asked = append(asked, what)
		}
		if !strings.HasPrefix(asked[0], "^TestReal ./") || !strings.Contains(asked[0], "./lab/verify") ||
			strings.Contains(asked[0], "authority") {
			t.Errorf(`first: %s; want asked[0] to begin with "^TestReal ./", "./lab/verify" in asked[0] `+
				`and no "authority" in asked[0]`, asked[0])
		}
		if got := strings.Join(asked[1:], "\n"); got != "^TestRealA$/^codex$ example/one\n^TestRealB$ "+
			"example/one\n^TestReal example/three" {
			t.Errorf("again:\n%s; want got == \"^TestRealA$/^codex$ example/one\\n^TestRealB$ \"+ "+
				"\"example/one\\n^TestReal example/three\"", got)
		}
		if want := "every claim asked: 2 agents: codex grok\n"; !strings.Contains(string(out), want) {
			t.Errorf("it says %s, want %q in it", out, want)
		}
		if !strings.Contains(string(out), "asked: codex grok") {
			t.Errorf(`out = %s, want "asked: codex grok" in it`, out)
		}
	}
}
