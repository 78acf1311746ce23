//go:build unix

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// .ci/verify asks only packages that start agents, once, shows everything if a test fails, and fails then.
func TestVerifyAsksOnce(t *testing.T) {
	// In place of go: it notes how it's called and reports what a test run reports.
	const fake = `#!/bin/sh
dir=$(dirname "$0")
echo "$@" >>"$dir/calls"
printf '%s\n' '    --- PASS: TestRealChecks/grok (0.50s)' '    --- FAIL: TestRealA/codex (0.50s)' 'the reason' 'ok  	example/two	2.0s'
exit $(cat "$dir/code")
`
	for code, fails := range map[string]bool{"0": false, "1": true} {
		dir := t.TempDir()
		for name, text := range map[string]string{"go": fake, "code": code,
			"id": "#!/bin/sh\necho 1000\n", // only root installs what's missing
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("sh", "../../.ci/verify", "codex", "grok")
		cmd.Env = append(os.Environ(), "GO="+filepath.Join(dir, "go"), "RUN=", "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if (err != nil) != fails {
			t.Errorf("tests end with %s: got error %v, want one: %v\n%s", code, err, fails, out)
		}
		if got := strings.Contains(string(out), "the reason"); got != fails {
			t.Errorf("tests end with %s: shows what they print: %v, want %v:\n%s", code, got, fails, out)
		}
		calls, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(calls), "\n"); n != 1 {
			t.Errorf("tests end with %s: they ran %d times, want once:\n%s", code, n, calls)
		}
		if _, asked, _ := strings.Cut(string(calls), "-run "); !strings.HasPrefix(asked, "^TestReal ./") ||
			!strings.Contains(asked, "./lab/verify") || strings.Contains(asked, "authority") {
			t.Errorf("asked: got %s, want ^TestReal of the packages that start agents", asked)
		}
		for _, want := range []string{"every claim asked: 1 agents: grok\n", "asked: codex grok; 1 held, 1 failed"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("it says %s, want %q in it", out, want)
			}
		}
	}
}
