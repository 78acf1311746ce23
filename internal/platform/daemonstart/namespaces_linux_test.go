package daemonstart

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A real process in namespaces of its own that runs the installed program: a user
// namespace in which the user has any number, with and without a mount namespace, and a
// mount namespace alone.
func TestDaemonInAnotherNamespaceIsNotBelieved(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare")
	}
	program, err := filepath.EvalSymlinks("/bin/cat")
	if err != nil {
		t.Skip(err)
	}
	if err := Check(startIn(t, "cat"), program); err != nil {
		t.Fatalf("a process in the same namespaces: %v", err)
	}
	tried := 0
	for _, flags := range []string{"-Ur", "-Urm", "-U", "-Um", "-UrmC", "-m"} {
		process := tryStart(t, "unshare", flags, "cat")
		if process == "" {
			continue // the system does not let this user do it
		}
		tried++
		if err := Check(process, program); err == nil {
			t.Errorf("unshare %s: believed, want it refused", flags)
		}
		// As of a daemon, which hides its links.
		hidden := t.TempDir()
		for _, name := range []string{"uid_map", "status"} {
			text, err := os.ReadFile(filepath.Join(process, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(hidden, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkNamespaces(hidden); err == nil && strings.HasPrefix(flags, "-U") {
			t.Errorf("unshare %s: believed by its users alone, want it refused", flags)
		}
	}
	if tried == 0 {
		t.Skip("this user may make no namespaces")
	}
	if err := checkNamespaces(t.TempDir()); err == nil {
		t.Error("a process whose namespaces cannot be looked at is believed")
	}
}

func startIn(t *testing.T, command ...string) string {
	t.Helper()
	process := tryStart(t, command...)
	if process == "" {
		t.Fatalf("%q does not start", command)
	}
	return process
}

// tryStart starts a command that repeats what it reads, and gives its folder in /proc;
// "" where it does not come up.
func tryStart(t *testing.T, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
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
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	_, _ = in.Write([]byte("there\n")) // one that did not come up says nothing
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
		return ""
	}
	return fmt.Sprintf("/proc/%d", cmd.Process.Pid)
}
