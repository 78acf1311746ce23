package authority

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

func TestSound(t *testing.T) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		t.Skip("/proc belongs to another pid namespace or is missing")
	}
	self := proc.Process{PID: os.Getpid()}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if !runsFile(self.PID, program) {
		t.Errorf("this test does not run %s", program)
	}
	if runsFile(self.PID, "/bin/sh") || Sound(1000, self, "/usr/bin/tmux") {
		t.Error("this test passes for another program")
	}
	for _, path := range []string{"", "tmux", "/usr/../tmp/tmux", "/home/u/tmux", filepath.Join(t.TempDir(), "tmux")} {
		if Sound(0, self, path) {
			t.Errorf("%q is sound; want !Sound(0, self, path)", path)
		}
	}
	open := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(open, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if onlyRootWrites(open) {
		t.Error("a file everybody may write passes as root's")
	}
}

func TestConsoles(t *testing.T) {
	for tty, want := range map[string]bool{
		"/dev/tty1": true, "/dev/ttyS0": true, "/dev/hvc0": true, "/dev/console": true, "/dev/ttyAMA0": true,
		"": false, "/dev/pts/0": false, "/dev/tty": false, "/dev/ttyp0": false, "/dev/ttys001": false,
		"tty1": false, "/dev/char/9:9": false,
	} {
		if got := isConsole(tty); got != (want && runtime.GOOS != "darwin" || tty == "/dev/console") {
			t.Errorf(`%q: isConsole(tty) = %v, want (want && runtime.GOOS != "darwin" || tty == "/dev/console")`,
				tty, got)
		}
	}
}

func TestMarksAreReadBack(t *testing.T) {
	marks := AgentMarks{{Agent: "one"}, {Agent: "two"}}
	began := proc.Process{}.StartTime.AddDate(2030, 0, 0)
	for _, agent := range []string{"one", "two"} {
		if got, at, ours := marks.readMark(MarkFor(agent, began)); got != agent || !ours || at.Unix() != began.Unix() {
			t.Errorf("%s at %v came back as %q at %v, ours %v", agent, began, got, at, ours)
		}
	}
	if got, _, ours := marks.readMark(MarkFor("another", began)); got != "" || !ours {
		t.Errorf("an agent outside of the catalogue came back as %q, ours %v", got, ours)
	}
	for _, limit := range []uint64{0, 1, 1024, 1 << 32, Unlimited, 1 << 60, 1 << 57} {
		if _, _, ours := marks.readMark(limit); ours || IsMark(limit) {
			t.Errorf("%d passes for a mark", limit)
		}
	}
	if !IsMark(1<<57 - 1) {
		t.Error("the largest mark is not taken for one")
	}
}
