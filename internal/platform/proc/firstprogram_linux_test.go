package proc

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const tellVariable = "FIRSTPROGRAM_TEST_TELL"

// TestHelperNoteFirstProgram plays a hookmux that waits.
func TestHelperNoteFirstProgram(t *testing.T) {
	switch os.Getenv(tellVariable) {
	case "":
		t.Skip("runs only as the child of another test")
	case "tell":
		NoteFirstProgram()
	}
	_, _ = os.Stdout.WriteString("\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// A process that ran a script before it became this program has read that script, too.
func TestRanBefore(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := " -test.run=^TestHelperNoteFirstProgram$"
	script := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, tc := range []struct {
		name, word string
		args       []string
		before     bool
		known      bool
	}{
		{"run directly", "tell", []string{self, "-test.run=^TestHelperNoteFirstProgram$"}, false, true},
		{"run by a shell", "tell", []string{"/bin/sh", "-c", self + run + "; :"}, false, true},
		{"a script that becomes it", "tell", []string{script("x.sh", "#!/bin/sh\nexec "+self+run+"\n")}, true, true},
		{"env that becomes it", "tell", []string{"/usr/bin/env", self, "-test.run=^TestHelperNoteFirstProgram$"}, true, true},
		{"a program that does not tell", "silent", []string{self, "-test.run=^TestHelperNoteFirstProgram$"}, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command(tc.args[0], tc.args[1:]...)
			cmd.Env = []string{tellVariable + "=" + tc.word, "PATH=/usr/bin:/bin"}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close(); _ = cmd.Wait() }()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			pid := cmd.Process.Pid
			if tc.name == "run by a shell" {
				pid = childOf(t, pid)
			}
			before, err := RanBefore(pid)
			if before != tc.before || (err == nil) != tc.known {
				t.Errorf("RanBefore = %v, %v; want %v, known %v", before, err, tc.before, tc.known)
			}
		})
	}
}

func childOf(t *testing.T, pid int) int {
	t.Helper()
	below := Descendants(pid)
	if len(below) != 1 {
		t.Fatalf("%d processes run below the shell, want 1", len(below))
	}
	return below[0]
}

// The name of the first thread is the name of the process, by which it is known elsewhere.
func TestTellKeepsTheNameOfTheProcess(t *testing.T) {
	name := func() string {
		b, err := os.ReadFile("/proc/self/comm")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := name()
	for range 50 {
		NoteFirstProgram()
	}
	if got := name(); got != before {
		t.Errorf("the process is called %q, want %q as before", got, before)
	}
}
