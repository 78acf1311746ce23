package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sysProcInfo      = 336 // proc_info(2), which proc_pidpath(3) wraps
	procInfoCallPID  = 2
	procPIDPathInfo  = 11
	procPIDPathSize  = 4 * 1024
	zombie           = 5 // SZOMB
	noTTY            = -1
	ptyMajor         = 16
	devicesDirectory = "/dev"
)

func (system) Lookup(pid int) (Process, error) {
	p, _, err := lookupProcess(pid)
	return p, err
}

// lookupProcess also reports whether the process has ended but wasn't reaped yet.
func lookupProcess(pid int) (Process, bool, error) {
	if pid <= 0 {
		return Process{}, false, ErrGone
	}
	// A pid without a process is answered with nothing, which x/sys reports as EIO.
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
		return Process{}, false, ErrGone
	}
	if err != nil {
		return Process{}, false, fmt.Errorf("process %d: %w", pid, err)
	}
	if int(k.Proc.P_pid) != pid {
		return Process{}, false, ErrGone
	}
	began := k.Proc.P_starttime
	p := Process{
		PID:        pid,
		PPID:       int(k.Eproc.Ppid),
		UID:        int(k.Eproc.Pcred.P_ruid),
		EUID:       int(k.Eproc.Ucred.Uid),
		PGID:       int(k.Eproc.Pgid),
		Foreground: int(k.Eproc.Tpgid),
		Start:      uint64(began.Sec)*1e6 + uint64(began.Usec),
		StartTime:  time.Unix(began.Sec, int64(began.Usec)*1000),
		Name:       unix.ByteSliceToString(k.Proc.P_comm[:]),
		TTY:        ttyPath(k.Eproc.Tdev),
	}
	if sid, err := unix.Getsid(pid); err == nil {
		p.SID = sid
	}
	return p, k.Proc.P_stat == zombie, nil
}

// Now returns the present in the unit of Process.Start.
func Now() uint64 { return uint64(time.Now().UnixMicro()) }

// ttyPath names the device; pseudo terminals by their number, others by search.
func ttyPath(dev int32) string {
	if dev == noTTY || dev == 0 {
		return ""
	}
	if unix.Major(uint64(uint32(dev))) == ptyMajor {
		return fmt.Sprintf("%s/ttys%03d", devicesDirectory, unix.Minor(uint64(uint32(dev))))
	}
	names, _ := filepath.Glob(devicesDirectory + "/*")
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&os.ModeCharDevice == 0 {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Rdev == dev {
			return name
		}
	}
	return fmt.Sprintf("%s/#%d", devicesDirectory, dev)
}

func (system) Program(pid int) (string, error) {
	if pid <= 0 {
		return "", ErrGone
	}
	buf := make([]byte, procPIDPathSize)
	_, _, errno := syscall.Syscall6(sysProcInfo, procInfoCallPID, uintptr(pid), procPIDPathInfo, 0,
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if errno == syscall.ESRCH {
		return "", ErrGone
	}
	if errno != 0 {
		return "", fmt.Errorf("program of process %d: %w", pid, errno)
	}
	if path := unix.ByteSliceToString(buf); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("program of process %d: not told by the kernel", pid)
}

func (system) Args(pid int) ([]string, error) {
	args, _, err := argsAndEnviron(pid)
	return args, err
}

func (system) Environ(pid int) ([]string, error) {
	_, env, err := argsAndEnviron(pid)
	return env, err
}

// argsAndEnviron reads the area the kernel filled at exec: the count, the
// program path, padding, the arguments, the environment.
func argsAndEnviron(pid int) (args, env []string, err error) {
	if pid <= 0 {
		return nil, nil, ErrGone
	}
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil, ErrGone
	}
	if err != nil {
		return nil, nil, fmt.Errorf("arguments of process %d: %w", pid, err)
	}
	if len(raw) < 4 {
		return nil, nil, fmt.Errorf("arguments of process %d: not told by the kernel", pid)
	}
	count := int(binary.NativeEndian.Uint32(raw))
	rest := raw[4:]
	if i := bytes.IndexByte(rest, 0); i >= 0 {
		rest = bytes.TrimLeft(rest[i:], "\x00")
	}
	words := splitNUL(rest)
	if count < 0 || count > len(words) {
		count = len(words)
	}
	args = words[:count]
	// The environment ends at the first empty string; the kernel's own notes follow.
	for _, w := range words[count:] {
		if w == "" {
			break
		}
		env = append(env, w)
	}
	return args, env, nil
}
