//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test program stands in for hookmux: with this variable it becomes the
// program that its arguments name.
const becomeVariable = "LAUNCH_TEST_BECOME"

func TestMain(m *testing.M) {
	if os.Getenv(becomeVariable) == "1" {
		// As hookmux does, before it knows that it will hand over.
		_, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		err := Exec(os.Args[1], os.Args[1:], Environ(os.Environ(), "claude:1"))
		stop()
		fmt.Fprintln(os.Stderr, err)
		os.Exit(126)
	}
	os.Exit(m.Run())
}

func become(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "agent")
	writeProgram(t, file, "#!/bin/sh\n"+script+"\n")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, append([]string{file}, args...)...)
	cmd.Env = append(os.Environ(), becomeVariable+"=1")
	return cmd
}

func TestTheAgentTakesOurPlace(t *testing.T) {
	cmd := become(t, `echo $$; printf '[%s]' "$@"; echo; echo "$HOOKMUX_RUN_ACTIVE"; cat; exit 7`, "a b", "", "--",
		"ü\n'")
	cmd.Stdin = strings.NewReader("typed")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("exit: %v; want errors.As(err, &exit) and exit.ExitCode() == 7", err)
	}
	lines := strings.SplitN(out.String(), "\n", 2)
	// In a pid namespace of its own a shell may count differently; here both
	// see the same numbers.
	if lines[0] != fmt.Sprint(pid) || lines[1] != "[a b][][--][ü\n']\nclaude:1\ntyped" {
		t.Errorf("pid %d, output %q; want lines[0] == fmt.Sprint(pid) and lines[1] == \"[a "+
			"b][][--][ü\\n']\\nclaude:1\\ntyped\"", pid, out.String())
	}
}

func TestSignalsEndTheAgentItself(t *testing.T) {
	err := become(t, `kill -TERM $$`).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("error %v, want errors.As(err, &exit)", err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); !ok || !ws.Signaled() || ws.Signal() != syscall.SIGTERM {
		t.Errorf("ended with %v; want ok, ws.Signaled() and ws.Signal() == syscall.SIGTERM", err)
	}
}

// nohup hookmux run … must stay nohup for the agent.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	inner := become(t, `kill -HUP $$; kill -INT $$; exit 5`)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `trap '' HUP INT; exec "$@"`, "sh"}, inner.Args...)...)
	cmd.Env = inner.Env
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Errorf("ended with %v; want errors.As(err, &exit) and exit.ExitCode() == 5", err)
	}
}

func TestAProgramThatCannotRunIsSaid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(file, []byte("\x00\x01"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := become(t, "")
	cmd.Args[1] = file
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 126 || !strings.Contains(string(out), file) {
		t.Errorf("%v: out = %s, want errors.As(err, &exit), exit.ExitCode() = 126 and %q in it", err, out, file)
	}
}
