package isolate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartAgain starts this program again, with the same arguments, in a user and a network namespace of
// its own: model and agents then share a loopback that leads nowhere else. It needs no privilege if the
// kernel lets users create namespaces. The second start calls Enter first.
func StartAgain(args, env []string) Outcome {
	if !canIsolate() {
		return Outcome{Why: "the kernel does not let this user make a network namespace"}
	}
	self, err := os.Executable()
	if err != nil {
		return Outcome{Why: err.Error()}
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(Outside(env), insideVariable+"=1")
	files := stdio()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	cmd.SysProcAttr = namespaceAttributes()
	// Signals come to this process alone, for the inner one has a group of its
	// own: each is handed on once, whether from a terminal or from kill. The
	// inner one tidies up, and this one waits for it.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return Outcome{Why: err.Error()}
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // it may just have ended
			case <-done:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Outcome{Why: err.Error()}
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		code = 1
	}
	return Outcome{Ran: true, Code: code}
}

// namespaceAttributes keeps the user who they are; the one capability is there to bring
// loopback up, and is given back right after.
func namespaceAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:                 syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		GidMappingsEnableSetgroups: false,
		AmbientCaps:                []uintptr{unix.CAP_NET_ADMIN},
		Pdeathsig:                  syscall.SIGTERM,
		Setpgid:                    true,
	}
}

// canIsolate tries with a program that does nothing.
func canIsolate() bool {
	runtime.LockOSThread() // Pdeathsig goes by thread
	defer runtime.UnlockOSThread()
	for _, program := range []string{"/bin/true", "/usr/bin/true"} {
		if _, err := os.Stat(program); err != nil {
			continue
		}
		cmd := exec.Command(program)
		cmd.SysProcAttr = namespaceAttributes()
		return cmd.Run() == nil
	}
	return false
}

// Enter makes the namespace usable, in the process that StartAgain started.
func Enter() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("loopback does not come up: %w", err)
	}
	// Agents get none of it.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0,
		0, 0, 0); errno != 0 && errno != syscall.ENOTSUP {
		return fmt.Errorf("capability cannot be given back: %w", errno)
	}
	return nil
}

// stdio are this process's own streams, handed on.
func stdio() []*os.File { return []*os.File{os.Stdin, os.Stdout, os.Stderr} }
