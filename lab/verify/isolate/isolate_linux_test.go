package isolate

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

const interruptHelper = "HOOKMUX_TEST_INTERRUPT_HELPER"

// TestInterruptHelper is no test: it is the program that the next one starts,
// and that starts itself again in a namespace.
func TestInterruptHelper(t *testing.T) {
	if os.Getenv(interruptHelper) == "" {
		t.Skip("only of use to the next test")
	}
	if !Inside(os.Getenv) {
		second := StartAgain([]string{"-test.run=^TestInterruptHelper$"}, os.Environ())
		if !second.Ran {
			fmt.Println("cannot:", second.Why)
		}
		os.Exit(second.Code)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	fmt.Println("ready")
	select {
	case <-signals:
		os.Exit(42)
	case <-time.After(30 * time.Second):
		os.Exit(43)
	}
}

// An interrupt that only the outer process gets reaches the inner one, which
// tidies up; its code is that of the whole.
func TestInterruptIsHandedOn(t *testing.T) {
	if !canIsolate() {
		t.Skip("no namespaces here")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestInterruptHelper$")
	cmd.Env = append(Outside(os.Environ()), interruptHelper+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf(`line = %q, error %v; want line = "ready\n"`, line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code says it
	if code := cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("code %d, want that of the inner process", code)
	}
}
