package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, which Linux fixes at 100 for user space on every
// architecture Go supports.
const ticksPerSecond = 100

// maxText limits arguments and environments; markers are in the first kilobytes of any real
// environment, and a hostile one must not cost memory.
const maxText = 256 << 10

func (system) Lookup(pid int) (Process, error) {
	p, _, err := lookupProcess(pid)
	return p, err
}

// LookupWithoutOwner is Lookup without the owner, at half the cost: for callers, if the owner
// doesn't matter.
func (system) LookupWithoutOwner(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, ErrGone
	}
	var buf [1024]byte
	n, err := readOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return Process{}, err
	}
	p, _, err := parseStat(buf[:n])
	if err != nil {
		return p, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	p.StartTime = wallClock(p.Start)
	return p, nil
}

// lookupProcess also reports whether the process has ended but wasn't reaped yet.
func lookupProcess(pid int) (p Process, ended bool, err error) {
	if pid <= 0 {
		return p, false, ErrGone
	}
	var buf [1024]byte
	dir := "/proc/" + strconv.Itoa(pid)
	n, err := readOnce(dir+"/stat", buf[:])
	if err != nil {
		return p, false, err
	}
	p, state, err := parseStat(buf[:n])
	if err != nil {
		return p, false, fmt.Errorf("%s/stat: %w", dir, err)
	}
	// The owner of /proc/<pid> would be cheaper, but any process can make it look
	// like root's by disabling core dumps; the status file can't be faked.
	n, err = readOnce(dir+"/status", buf[:])
	if err != nil {
		return p, false, err
	}
	if p.UID, p.EUID, err = parseUID(buf[:n]); err != nil {
		return p, false, fmt.Errorf("%s/status: %w", dir, err)
	}
	p.StartTime = wallClock(p.Start)
	return p, state == 'Z' || state == 'X', nil
}

// readOnce fills buf with a single read, which the kernel answers atomically
// for these files, without the cost of an os.File.
func readOnce(path string, buf []byte) (int, error) {
	fd, err := openOnce(path)
	if err != nil {
		return 0, goneOr(path, err)
	}
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, buf) })
	unix.Close(fd)
	if err != nil {
		return 0, goneOr(path, err)
	}
	if n == 0 {
		return 0, ErrGone
	}
	return n, nil
}

// openOnce opens a file without an os.File, which costs four more system calls.
func openOnce(path string) (int, error) {
	return ignoringEINTR(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func goneOr(path string, err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}

var errMalformed = errors.New("not in the format of the kernel")

// parseStat reads one line of /proc/<pid>/stat. The name may itself hold
// spaces and parentheses, so it ends at the last closing one.
func parseStat(b []byte) (p Process, state byte, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return p, 0, errMalformed
	}
	p.PID, err = strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	if err != nil {
		return p, 0, errMalformed
	}
	p.Name = string(b[open+1 : end])

	// After the name: state ppid pgrp session tty tpgid … the 20th is the start.
	rest := b[end+1:]
	var tty int
	for i := 0; i < 20; i++ {
		rest = bytes.TrimLeft(rest, " ")
		stop := bytes.IndexByte(rest, ' ')
		if stop <= 0 {
			return p, 0, errMalformed
		}
		word := rest[:stop]
		rest = rest[stop:]
		switch i {
		case 0:
			state = word[0]
		case 1:
			p.PPID, err = strconv.Atoi(string(word))
		case 2:
			p.PGID, err = strconv.Atoi(string(word))
		case 3:
			p.SID, err = strconv.Atoi(string(word))
		case 4:
			tty, err = strconv.Atoi(string(word))
		case 5:
			p.Foreground, err = strconv.Atoi(string(word))
		case 19:
			p.Start, err = strconv.ParseUint(string(word), 10, 64)
		}
		if err != nil {
			return p, 0, errMalformed
		}
	}
	p.TTY = ttyPath(uint32(tty))
	return p, state, nil
}

// parseUID finds the real and effective user in /proc/<pid>/status. The line
// is searched at a line start, and the kernel escapes line ends in names, so
// a name cannot fake it.
func parseUID(b []byte) (uid, effective int, err error) {
	i := bytes.Index(b, []byte("\nUid:"))
	if i < 0 {
		return 0, 0, errMalformed
	}
	line := b[i+len("\nUid:"):]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	words := bytes.Fields(line)
	if len(words) < 2 {
		return 0, 0, errMalformed
	}
	if uid, err = strconv.Atoi(string(words[0])); err != nil {
		return 0, 0, errMalformed
	}
	if effective, err = strconv.Atoi(string(words[1])); err != nil {
		return 0, 0, errMalformed
	}
	return uid, effective, nil
}

// ttyPath turns the kernel's device number into the usual path.
func ttyPath(dev uint32) string {
	if dev == 0 {
		return ""
	}
	major := (dev >> 8) & 0xfff
	minor := dev&0xff | (dev>>12)&0xfff00
	number := func(prefix string, n uint32) string { return prefix + strconv.FormatUint(uint64(n), 10) }
	switch {
	case major >= 136 && major <= 143:
		return number("/dev/pts/", (major-136)<<8|minor)
	case major == 4 && minor < 64:
		return number("/dev/tty", minor)
	case major == 4:
		return number("/dev/ttyS", minor-64)
	case major == 5 && minor == 1:
		return "/dev/console"
	}
	// Rare drivers (hvc0, ttyAMA0, ttyUSB0): sysfs knows the name.
	var buf [512]byte
	where := fmt.Sprintf("/sys/dev/char/%d:%d/uevent", major, minor)
	if n, err := readOnce(where, buf[:]); err == nil {
		for _, line := range strings.Split(string(buf[:n]), "\n") {
			if name, ok := strings.CutPrefix(line, "DEVNAME="); ok {
				return "/dev/" + name
			}
		}
	}
	return fmt.Sprintf("/dev/char/%d:%d", major, minor)
}

// Now returns the present in the unit of Process.Start.
func Now() uint64 {
	return uint64(sinceBoot() / (time.Second / ticksPerSecond))
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

func wallClock(start uint64) time.Time {
	age := sinceBoot() - time.Duration(start)*(time.Second/ticksPerSecond)
	return time.Now().Add(-age).Round(0)
}

func (system) Program(pid int) (string, error) {
	if pid <= 0 {
		return "", ErrGone
	}
	path := "/proc/" + strconv.Itoa(pid) + "/exe"
	target, err := os.Readlink(path)
	if err != nil {
		return "", goneOr(path, err)
	}
	return target, nil
}

func (system) Args(pid int) ([]string, error)    { return readList(pid, "cmdline") }
func (system) Environ(pid int) ([]string, error) { return readList(pid, "environ") }

func readList(pid int, file string) ([]string, error) {
	if pid <= 0 {
		return nil, ErrGone
	}
	path := "/proc/" + strconv.Itoa(pid) + "/" + file
	fd, err := openOnce(path)
	if err != nil {
		return nil, goneOr(path, err)
	}
	defer unix.Close(fd)
	buf := make([]byte, 0, 8<<10)
	for len(buf) < maxText {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil || n == 0 {
			break
		}
		buf = buf[:len(buf)+n]
	}
	return splitNUL(buf), nil
}
