package setup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/sources"
)

// help does one thing that a user's program may try and says what came of it.
func help(t *testing.T, args []string) string {
	switch args[0] {
	case "accept": // as a user at a trusted terminal did before the service was installed
		dirs, err := paths.FindByEnvironment(os.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		sources.New(sources.Options{Dirs: dirs, Catalogue: agent.Builtin(),
			Accepted: sources.OpenAccepted(dirs, false)}).Accepted.AcceptInitial(true)
		return "accepted"
	case "pid":
		_, reply, err := keeper.Send(paths.KeeperSocket, keeper.Ask)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(int(reply.PID))
	case "look":
		pid, _ := strconv.Atoi(args[2])
		return refused(look(args[1], pid))
	case "start":
		return startDisturbed(t, args[1])
	case "limit":
		pid, _ := strconv.Atoi(args[1])
		for resource, to := range map[int]uint64{unix.RLIMIT_NOFILE: 3, unix.RLIMIT_NPROC: 0, unix.RLIMIT_FSIZE: 0} {
			if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: to, Max: to}, nil); err != nil {
				return err.Error()
			}
		}
		return "limited"
	case "hold":
		hold()
		return ""
	case "use":
		cmd := exec.Command(paths.SystemProgram("hookmux-start"), "evaluate", "claude", "PreToolUse")
		cmd.Stdin = strings.NewReader(harmless)
		if err := cmd.Run(); err != nil {
			return err.Error()
		}
		return "0"
	case "say":
		text, err := hex.DecodeString(strings.Join(args[1:], ""))
		if err != nil {
			t.Fatal(err)
		}
		return say(t, text)
	case "connect":
		c, err := net.Dial("unix", args[1])
		if err == nil {
			_ = c.Close()
		}
		return refused(err)
	}
	t.Fatalf("unknown: %v", args)
	return ""
}

// refused says whether the kernel forbade something.
func refused(err error) string {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return "refused"
	}
	return fmt.Sprintf("not refused: %v", err)
}

// look tries one way into another process.
func look(way string, pid int) error {
	proc := "/proc/" + strconv.Itoa(pid) + "/"
	switch way {
	case "mem", "environ", "maps", "auxv":
		f, err := os.Open(proc + way)
		if err != nil {
			return err
		}
		_, err = f.Read(make([]byte, 1))
		return err
	case "fd":
		_, err := os.ReadDir(proc + "fd")
		return err
	case "cwd":
		_, err := os.Readlink(proc + "cwd")
		return err
	case "ptrace":
		return unix.PtraceAttach(pid)
	case "seize":
		return unix.PtraceSeize(pid)
	case "pidfd":
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	case "vm":
		var b [8]byte
		_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
		return err
	}
	return errors.New("unknown way")
}

// startDisturbed starts the launcher in a way that must not get what the keeper has.
func startDisturbed(t *testing.T, way string) string {
	program := paths.SystemProgram("hookmux-start")
	cmd := exec.Command(program, "evaluate", "claude", "PreToolUse")
	cmd.Stdin = strings.NewReader(harmless)
	attr := &syscall.SysProcAttr{}
	cmd.SysProcAttr = attr
	switch way {
	case "nnp":
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	case "userns":
		attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	case "fs": // somebody else can change its folder and root
		return startShared(program)
	case "traced":
		attr.Ptrace = true
	case "files":
		lower(t, unix.RLIMIT_FSIZE, 4096)
	case "nofile":
		lower(t, unix.RLIMIT_NOFILE, 64)
	case "cpu":
		lower(t, unix.RLIMIT_CPU, 60)
	}
	if err := cmd.Start(); err != nil {
		return "can't start: " + err.Error()
	}
	if way == "traced" {
		var status unix.WaitStatus
		for {
			if _, err := unix.Wait4(cmd.Process.Pid, &status, 0, nil); err != nil {
				t.Fatal(err)
			}
			if status.Exited() {
				return exited(status.ExitStatus())
			}
			signal := 0
			if s := status.StopSignal(); s != unix.SIGTRAP {
				signal = int(s)
			}
			if err := unix.PtraceCont(cmd.Process.Pid, signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	return exited(cmd.ProcessState.ExitCode())
}

func exited(code int) string {
	if code == keeper.ExitRefused {
		return "refused"
	}
	return "exit " + strconv.Itoa(code)
}

func lower(t *testing.T, resource int, to uint64) {
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: to, Max: to}); err != nil {
		t.Fatal(err)
	}
}

// startShared starts a program in a process that shares its folder with this one (CLONE_FS).
func startShared(program string) string {
	path, _ := unix.BytePtrFromString(program)
	arg0, _ := unix.BytePtrFromString("hookmux-start")
	arg1, _ := unix.BytePtrFromString("evaluate")
	argv := []*byte{arg0, arg1, nil}
	envv := []*byte{nil}
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_FS|int(unix.SIGCHLD)), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno.Error()
	}
	if pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])))
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 99, 0, 0)
		}
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(int(pid), &status, 0, nil); !errors.Is(err, unix.EINTR) {
			return exited(status.ExitStatus())
		}
	}
}

// hold keeps as many connections as it gets, for a minute at most.
func hold() {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		c, err := net.Dial("unix", paths.KeeperSocket)
		if err != nil {
			continue
		}
		go func() { _, _ = c.Read(make([]byte, 1)); _ = c.Close() }()
	}
}

// say says something to the keeper and returns what it answers.
func say(t *testing.T, text []byte) string {
	c, err := net.Dial("unix", paths.KeeperSocket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = c.Write(text) // it may hang up
	b := make([]byte, 64)
	n, oob := 0, make([]byte, 256)
	var rights int
	if n, rights, _, _, err = c.(*net.UnixConn).ReadMsgUnix(b, oob); err != nil {
		return "nothing"
	}
	if rights > 0 {
		return "given"
	}
	return string(b[:min(n, 1)])
}
