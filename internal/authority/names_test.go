package authority

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

func TestNamesAsTheKernelCutsThem(t *testing.T) {
	for _, c := range []struct {
		name, want string
		limit      int
		same       bool
	}{
		{"acme", "acme", 0, true}, {"acme", "acme", 15, true}, {"acme", "acmes", 15, false}, {"", "acme", 0, false},
		{"", "acme", 15, false}, {"", "", 0, false}, {"", "*", 0, false}, {"acme-1", "acme-*", 0, true},
		{"gnome-terminal-", "gnome-terminal-server", 15, true}, {"gnome-terminal-", "gnome-terminal-server", 0, false},
		{"gnome-terminal-server", "gnome-terminal-server", 15, true}, {"gnome-terminal", "gnome-terminal-server", 15, false},
		{"fifteen-letters", "fifteen-letters", 15, true},
	} {
		if got := nameIs(c.name, c.want, c.limit); got != c.same {
			t.Errorf("nameIs(%q, %q, %d) = %v, want %v", c.name, c.want, c.limit, got, c.same)
		}
	}
}

// macOS lets a user in as themselves without a question.
func TestLoginProgramsOfSystems(t *testing.T) {
	for system, want := range map[string]bool{"linux": true, "freebsd": true, "darwin": false} {
		if got := slices.Contains(loginPrograms(system), "login"); got != want {
			t.Errorf("login lets people in on %s: got %v, want %v", system, got, want)
		}
	}
}

func TestScriptsOfArguments(t *testing.T) {
	for line, want := range map[string]string{
		"python3": "", "python3 -m": "", "python3 -m tool": "tool", "java -jar x.jar a": "x.jar", "python3 - tool": "-",
		"node a.js b.js": "a.js", "node -e code a.js": "", "node --title x a.js b.js": "x a.js", "bun run a.ts": "a.ts",
		"node a=b c": "a=b", "node --x=1 a.js b.js": "a.js", "node -- a.js b.js": "a.js",
	} {
		if got := strings.Join(scriptsOf(strings.Fields(line)), " "); got != want {
			t.Errorf("scripts of %q: got %q, want %q", line, got, want)
		}
	}
}

// A refusal shows the way up, shortened in the middle where it is long.
func TestChainsInWords(t *testing.T) {
	for length, want := range map[int]string{
		0: "", 1: "p0", 6: "p0 < p1 < p2 < p3 < p4 < p5", 7: "p0 < p1 < p2 < … < p4 < p5 < p6",
		9: "p0 < p1 < p2 < … < p6 < p7 < p8",
	} {
		var chain []Process
		for i := range length {
			chain = append(chain, Process{Process: proc.Process{Name: fmt.Sprint("p", i)}})
		}
		if got := describeChain(chain); got != want {
			t.Errorf("%d processes: got %q, want %q", length, got, want)
		}
	}
}

// One evaluation reads at most maxReads facts, and nothing about processes that cannot be.
func TestReadsAreBounded(t *testing.T) {
	table := proctest.New()
	f := NewFacts(tableOnly{table}, time.Now())
	for _, pid := range []int{0, -1} {
		if _, ok := f.process(pid); ok || table.Looked() != 0 {
			t.Errorf("process %d was looked up %d times, want never", pid, table.Looked())
		}
	}
	for pid := range 2 * maxReads {
		f.process(pid + 1)
	}
	if table.Looked() != maxReads {
		t.Errorf("%d processes were looked up, want %d", table.Looked(), maxReads)
	}
}

// Only what root alone can write may trust from outside of the usual places.
func TestOnlyRootWrites(t *testing.T) {
	info, err := os.Lstat("/etc/passwd")
	if err != nil || !ownedByRoot(info) {
		t.Skip("/etc/passwd is not root's here")
	}
	own := filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(own, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/": true, "/etc/passwd": true, "/dev/null": false, "/tmp": false, own: false, "/etc/nothing-of-this-name": false,
	} {
		if got := onlyRootWrites(path); got != want {
			t.Errorf("only root writes %s: got %v, want %v", path, got, want)
		}
	}
}

// startSleep runs a program that does nothing and returns the file it runs.
func startSleep(t *testing.T, program string) (proc.Process, string) {
	t.Helper()
	command := exec.Command(program, "600")
	command.Args[0] = "sleep"
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	file, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", command.Process.Pid))
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	return proc.Process{PID: command.Process.Pid}, file
}

// An installed program is believed under its own clean path and under no other, and a
// program that was replaced by an upgrade is believed only if it is root's.
func TestSoundOfRunningPrograms(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	p, file := startSleep(t, sleep)
	installed := slices.ContainsFunc(installPlaces, func(place string) bool { return strings.HasPrefix(file, place) })
	for path, want := range map[string]bool{
		file: installed, filepath.Dir(file) + "/./" + filepath.Base(file): false, "/usr/bin/tmux": false,
	} {
		for _, uid := range []int{0, 1000} {
			if uid != 0 && !installed {
				continue
			}
			if got := Sound(uid, p, path); got != want {
				t.Errorf("%s as %s for the daemon of %d: got %v, want %v", file, path, uid, got, want)
			}
		}
	}
	copied := filepath.Join(t.TempDir(), "sleep")
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, program, 0o755); err != nil {
		t.Fatal(err)
	}
	p, _ = startSleep(t, copied)
	if !runsFile(p.PID, copied) {
		t.Errorf("%s runs and is not recognised", copied)
	}
	if err := os.Remove(copied); err != nil {
		t.Fatal(err)
	}
	if got, want := runsFile(p.PID, copied), os.Geteuid() == 0; got != want {
		t.Errorf("a deleted program of user %d: got %v, want %v", os.Geteuid(), got, want)
	}
	if runsFile(p.PID, copied+"er") {
		t.Error("a deleted program passes for another")
	}
}
