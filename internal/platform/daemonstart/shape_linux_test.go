package daemonstart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/programs"
)

// The kernel's numbers about a real process are those of its file.
func TestShapeOfARunningProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	running, known := readShape(string(text))
	code, libraries, readable := programCode(self)
	if !known || !readable {
		t.Skipf("the system does not tell enough: status %v, program %v", known, readable)
	}
	if running.code != code {
		t.Errorf("the process has %d KiB of code, its file %d", running.code, code)
	}
	if !libraries && running.shared > mostShared {
		t.Errorf("a program without libraries has %d KiB of them", running.shared)
	}
	if running.tracer == 0 {
		if err := checkShape("/proc/self", self); err != nil {
			t.Errorf("the program itself: %v", err)
		}
	}
}

// A program in the daemon's place that hides what it is: an interpreter, something
// small, something that is debugged.
func TestOtherProgramsInTheDaemonsPlaceAreNotBelieved(t *testing.T) {
	hookmux := program(t) // without libraries, as it is shipped
	code, libraries, readable := programCode(hookmux)
	if !readable || libraries {
		t.Fatalf("the program that was built is unlike the one that is shipped: readable %v, libraries %v", readable,
			libraries)
	}
	folder := t.TempDir()
	status := func(name string, code, shared, tracer int) string {
		dir := filepath.Join(folder, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("Name:\thookmux\nTracerPid:\t%d\nVmExe:\t   %d kB\nVmLib:\t    %d kB\n", tracer, code,
			shared)
		if err := os.WriteFile(filepath.Join(dir, "status"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sameNamespace(t, dir)
		return dir // without exe, as of a process that hides it
	}
	for process, good := range map[string]bool{
		status("daemon", code, 8, 0): true, status("an earlier version", code*3/4, 8, 0): true,
		status("a script", code, 4000, 0): false, status("a small program", code/10, 8, 0): false,
		status("a huge program", code*10, 8, 0): false, status("a debugged daemon", code, 8, 77): false,
		filepath.Join(folder, "gone"): false,
	} {
		if err := Check(process, hookmux); (err == nil) != good {
			t.Errorf("%s: %v, want it to be believed: %v", filepath.Base(process), err, good)
		}
	}
	if err := Check(status("no program to compare with", 1, 8, 0), filepath.Join(folder, "none")); err == nil {
		t.Error("somebody is believed although the installed program is gone")
	}
}

// What stands in the place of a program file is read as nothing.
func TestBrokenProgramsHaveNoShape(t *testing.T) {
	whole, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		if _, _, readable := elfCode(whole[:n]); readable {
			t.Errorf("the first %d bytes of a program were read as a whole one", n)
		}
	}
	if _, _, readable := elfCode([]byte("#!/bin/sh\n" + string(make([]byte, 4000)))); readable {
		t.Error("a script was read as a program")
	}
}

// A real interpreter in the daemon's place, which hides itself as the daemon does.
func TestInterpreterThatHides(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	cmd := exec.Command(python, "-c",
		"import ctypes,sys\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nprint('hidden', flush=True)\nsys.stdin.read()")
	in, err := cmd.StdinPipe() // it ends with us
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
	if n, err := out.Read(make([]byte, 16)); n == 0 {
		t.Fatalf("python does not hide: %v", err)
	}
	// Root reads the program of a process that hides; everybody else its shape.
	process := fmt.Sprintf("/proc/%d", cmd.Process.Pid)
	if err := Check(process, program(t)); err == nil {
		t.Error("an interpreter in the daemon's place was believed")
	}
	if err := checkShape(process, program(t)); err == nil {
		t.Error("an interpreter has the shape of hookmux")
	}
}

func BenchmarkShape(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = checkShape("/proc/self", self)
	}
}

// program is hookmux-hook as it is shipped.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := programs.Build(dir, programs.Options{Names: []string{"hookmux-hook"}, Released: true}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "hookmux-hook")
}
