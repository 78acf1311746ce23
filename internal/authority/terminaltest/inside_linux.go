// Package terminaltest puts a real person's trusted terminal into a test: a login over ssh on
// this machine, by a client that runs as another user, in namespaces of their
// own with their own processes, network and terminals. The rules of authority
// see what they see on any machine; nothing tells them that this is a test.
//
// It needs root, sshd and ssh, and skips the test where one is missing, and with -short.
package terminaltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// The users inside: one whose daemon and terminals are looked at, and one who
// comes in over the network.
const (
	UserID    = 4242
	VisitorID = 4243
	UserName  = "trusted"
)

// insideVariable says where a test runs, nothing else: the rules do not see it.
const insideVariable = "SEATTEST_INSIDE"

// Inside makes a test run in namespaces of its own. Outside it starts the same
// test again there, takes over what came of it, and gives false; inside it
// prepares the machine and gives true.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		prepareMachine(t)
		return true
	}
	needPrograms(t)
	t.Parallel()                            // each has its own namespaces, and mostly waits
	base, err := os.MkdirTemp("/tmp", "st") // short: socket paths have little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(base, "test")
	if err := copyProgram(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	// Every wait inside has a limit of its own; all together have what this test has.
	limit := time.Duration(0)
	if end, ok := t.Deadline(); ok {
		limit = max(time.Until(end)-10*time.Second, time.Second) // what came of it is still shown
	}
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout="+limit.String())
	cmd.Env = append(os.Environ(), insideVariable+"="+base, "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		Setsid:     true, Pdeathsig: syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && cmd.Process == nil:
		t.Skipf("namespaces cannot be made here: %v", err)
	case err != nil:
		t.Errorf("inside: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()):
		t.Skipf("inside:\n%s", out)
	default:
		t.Logf("inside:\n%s", out)
	}
	return false
}

// Base returns a folder that everybody inside can read.
func Base() string { return os.Getenv(insideVariable) }

func needPrograms(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("no machine for a person is made with -short")
	}
	if os.Getuid() != 0 {
		t.Skip("a person at a terminal needs root, to make namespaces and users")
	}
	for _, program := range []string{"sshd", "ssh", "ssh-keygen"} {
		if _, err := findProgram(program); err != nil {
			t.Skipf("a person at a terminal needs %s (apt-get install openssh-server openssh-client)", program)
		}
	}
}

// findProgram looks where daemons are, too.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	path := "/usr/sbin/" + name
	_, err := os.Stat(path)
	return path, err
}

func copyProgram(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o755)
}

// prepareMachine gives the namespaces processes, terminals, a network and two
// users of their own. Nothing of it is seen outside.
func prepareMachine(t *testing.T) {
	t.Helper()
	must := func(what string, err error) {
		if err != nil {
			t.Helper()
			t.Skipf("%s cannot be prepared here: %v", what, err)
		}
	}
	// Tests may themselves run below an agent that a daemon has marked.
	must("limits", proc.LimitFileLocks(os.Getpid(), proc.Unlimited))
	must("mounts", unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must("/proc", unix.Mount("proc", "/proc", "proc", 0, ""))
	must("terminals", unix.Mount("devpts", "/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620"))
	must("/dev/ptmx", unix.Mount("/dev/pts/ptmx", "/dev/ptmx", "", unix.MS_BIND, ""))
	must("/run", unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"))
	must("/run/sshd", os.MkdirAll("/run/sshd", 0o755))
	must("utmp", os.WriteFile("/run/utmp", nil, 0o664))
	must("loopback", raiseLoopback())
	etc := filepath.Join(Base(), "etc")
	must("a copy of /etc", copyFolder("/etc", etc))
	for file, more := range map[string]string{
		"passwd": fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash\nvisitor:x:%d:%d::%s:/bin/sh\n", UserName, UserID,
			UserID, Home(), VisitorID, VisitorID, Base()+"/visitor"),
		"group":  fmt.Sprintf("%s:x:%d:\nvisitor:x:%d:\n", UserName, UserID, VisitorID),
		"shadow": UserName + ":*:19000:0:99999:7:::\nvisitor:*:19000:0:99999:7:::\n",
	} {
		must(file, appendTo(filepath.Join(etc, file), more))
	}
	// The whole folder: a file that is laid over another is gone as soon as somebody else on
	// the machine replaces the one below, as adduser does.
	must("/etc", unix.Mount(etc, "/etc", "", unix.MS_BIND, ""))
	for dir, owner := range map[string]int{Home(): UserID, Base() + "/visitor": VisitorID, Base() + "/keys": 0} {
		must(dir, os.MkdirAll(dir, 0o755))
		must(dir, os.Chown(dir, owner, owner))
	}
}

// Home returns the home of the user whose trusted terminal it is.
func Home() string { return Base() + "/home" }

// Extend adds lines to a file in /etc, inside, where /etc is a copy.
func Extend(t *testing.T, file, more string) {
	t.Helper()
	if err := appendTo(file, more); err != nil {
		t.Skipf("%s cannot be prepared here: %v", file, err)
	}
}

// copyFolder copies a folder with owners, modes and links.
func copyFolder(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}

func appendTo(file, more string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(more)
	return errors.Join(err, f.Close())
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // only used to ask
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// patience is how long a test waits for what must come.
const patience = 60 * time.Second
