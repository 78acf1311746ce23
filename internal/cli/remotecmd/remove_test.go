//go:build unix

package remotecmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A machine that is removed leaves its fleet first; where it serves one, nothing is taken
// away, so that no server is left without its folder.
func TestRemovalOfAMachineInAFleet(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		want   string // what is run, in this order
		gone   bool
	}{
		"without a fleet":     {`{"joined": false}`, "uninstall --yes; daemon stop", true},
		"without a daemon":    {``, "uninstall --yes; daemon stop", true},
		"a member":            {`{ "joined": true, "serves": false }`, "fleet leave; uninstall --yes; daemon stop", true},
		"one that serves one": {`{ "joined": true, "serves": true }`, "", false},
		"a refused stop":      {`{"joined": false, "refuses": true}`, "uninstall --yes; daemon stop", false},
	} {
		home := t.TempDir()
		put := func(path, text string, mode os.FileMode) {
			path = filepath.Join(home, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), mode); err != nil {
				t.Fatal(err)
			}
		}
		put("state/hookmux/journal.db", "", 0o600)
		put("status", c.status, 0o600)
		put("data/hookmux/bin/hookmux", "#!/bin/sh\n"+`case "$*" in "fleet status --json") cat "$HOME/status";; *) echo "$*" >> "$HOME/ran";; esac
case "$*" in "daemon stop") [ ! -e "$HOME/data/hookmux/bin/hookmux" ] || echo "an agent may start it again" >> "$HOME/ran"
	! grep -q refuses "$HOME/status";; esac`+"\n", 0o700)
		cmd := exec.Command("sh", "-c", cleanScript(filepath.Join(home, "data/hookmux/bin/hookmux")))
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "XDG_DATA_HOME=" + home + "/data",
			"XDG_STATE_HOME=" + home + "/state", "XDG_CONFIG_HOME=" + home + "/config"}
		out, err := cmd.CombinedOutput()
		ran, _ := os.ReadFile(filepath.Join(home, "ran"))
		if got := strings.Join(strings.Split(strings.TrimSpace(string(ran)), "\n"), "; "); got != c.want {
			t.Errorf("%s: it runs %q, want %q\n%s", name, got, c.want, out)
		}
		if _, there := os.Stat(filepath.Join(home, "state/hookmux")); (err == nil) != c.gone || (there != nil) != c.gone {
			t.Errorf("%s: ended with %v, its state is gone: %v; want %v\n%s", name, err, there != nil, c.gone, out)
		}
		if _, err := os.Stat(filepath.Join(home, "data/hookmux/bin/hookmux")); (err != nil) != c.gone {
			t.Errorf("%s: the program is gone: %v, want %v", name, err != nil, c.gone)
		}
	}
}
