//go:build linux

// Command hookmux-start starts a user's daemon, or has one call decided, with what the
// keeper keeps for that user. It is set-gid to the keeper's group: that is the proof which
// the keeper believes (package internal/keeper). It isn't typed by users; hookmux-hook and
// hookmux run it.
//
//	hookmux-start daemon
//	hookmux-start evaluate …
//	hookmux-start read …
//
// The program that runs it may have prepared its process. So it takes over nothing except
// the standard streams, the arguments of a call, the folder and the variables that say how
// to print; and it gives up the group before it becomes hookmux-daemon.
package main

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

func main() {
	runtime.LockOSThread() // signal masks belong to threads, and exec keeps this one's
	os.Exit(start(os.Args[1:]))
}

func start(args []string) int {
	// Marked and not closed: the runtime has some of its own.
	if err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fail(keeper.ExitRefused, "can't close inherited files: "+err.Error())
	}
	mode := ""
	if len(args) > 0 {
		mode = args[0]
	}
	request := keeper.Use
	switch mode {
	case keeper.StartDaemon:
		request = keeper.Serve
		args = []string{"daemon"}
	case keeper.StartEvaluate:
	case keeper.StartRead:
		if args = args[1:]; !keeper.Shows(args) {
			return fail(64, "this command isn't one that only shows something")
		}
	default:
		return fail(64, "hookmux runs this; you never need to")
	}
	home, name, ok := account(os.Getuid())
	if !ok {
		return fail(keeper.ExitRefused, "you have no line in /etc/passwd, which the system service needs")
	}
	if what := setLimits(); what != "" {
		return fail(keeper.ExitRefused, "the limit on "+what+" is too low; raise it with ulimit")
	}
	c, reply, err := keeper.Send(paths.KeeperSocket, request)
	if err != nil {
		return fail(keeper.ExitUnreachable, err.Error()+"; run: "+paths.Repair)
	}
	if reply.Status != keeper.Granted {
		return fail(keeper.ExitOf(reply.Status), keeper.Explain(reply.Status))
	}
	if err := giveUpGroup(); err != nil {
		return fail(keeper.ExitRefused, err.Error())
	}
	resetSignals()
	unix.Umask(0o077)
	if request == keeper.Serve {
		if err := detach(); err != nil {
			return fail(keeper.ExitRefused, err.Error())
		}
	}
	env := environment(os.Environ(), home, name, request == keeper.Serve)
	keep := []int{c.Folder, c.Inner}
	if request == keeper.Serve {
		keep = append(keep, c.Socket, c.Conn)
	}
	given := ""
	for _, fd := range keep {
		given += strconv.Itoa(fd) + " "
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fail(keeper.ExitRefused, err.Error())
		}
	}
	program := paths.SystemProgram("hookmux-daemon")
	err = unix.Exec(program, append([]string{program}, args...), append(env, keeper.GivenVariable+"="+given))
	return fail(keeper.ExitRefused, program+": "+err.Error())
}

func fail(code int, text string) int {
	_, _ = os.Stderr.WriteString("hookmux-start: " + text + "\n")
	return code
}

// account returns a user's home and name. Names and homes that aren't in /etc/passwd could
// only be looked up with programs that the user chooses.
func account(uid int) (home, name string, ok bool) {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return "", "", false
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) >= 7 && f[2] == strconv.Itoa(uid) && strings.HasPrefix(f[5], "/") {
			return f[5], f[0], true
		}
	}
	return "", "", false
}

// limits are those that could make a program read less than there is.
var limits = []struct {
	what     string
	resource int
	least    uint64
}{
	{"open files", unix.RLIMIT_NOFILE, 256},
	{"the size of files", unix.RLIMIT_FSIZE, 1 << 30},
	{"memory", unix.RLIMIT_AS, 4 << 30},
	{"data", unix.RLIMIT_DATA, 4 << 30},
	{"the stack", unix.RLIMIT_STACK, 1 << 20},
	{"processor time", unix.RLIMIT_CPU, 1 << 30},
}

// setLimits raises limits as far as they go and says which is too low then.
func setLimits() string {
	for _, l := range limits {
		var have unix.Rlimit
		if unix.Getrlimit(l.resource, &have) != nil || have.Max < l.least {
			return l.what
		}
		if l.resource != unix.RLIMIT_STACK { // an unlimited stack changes where memory is
			have.Cur = have.Max
			if unix.Setrlimit(l.resource, &have) != nil {
				return l.what
			}
		}
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // no picture of what it knows
	return ""
}

// giveUpGroup goes back to the user's own group for good.
func giveUpGroup() error {
	gid := unix.Getgid()
	if err := unix.Setresgid(gid, gid, gid); err != nil {
		return err
	}
	if real, effective, saved := unix.Getresgid(); real != gid || effective != gid || saved != gid {
		return unix.EPERM
	}
	return nil
}

// resetSignals has every signal do what it does by default, and none blocked.
func resetSignals() {
	var none [4]uint64 // handler, flags, restorer, mask
	for signal := uintptr(1); signal <= 64; signal++ {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil)
}

// detach separates a daemon from the process that started it.
func detach() error {
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	_, _ = unix.Setsid() // it may lead a session already
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup3(null, fd, 0); err != nil {
			return err
		}
	}
	return nil
}

// printing are the variables that say how to print. No program is found by them.
var printing = []string{"LANG", "LANGUAGE", "TERM", "COLUMNS", "LINES", "NO_COLOR", "COLORTERM"}

// steering are variables of the caller's that would change what a program of Go does.
var steering = []string{"TZ", "TMPDIR", "SHELL", "GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "GOCOVERDIR"}

// environment returns the program's environment. Of what starts it, a daemon only gets the
// variables that say how to print. A call is decided with the agent's variables, without
// those by which programs and files are found.
func environment(environ []string, home, name string, daemon bool) []string {
	out := []string{"HOME=" + home, "USER=" + name, "LOGNAME=" + name, "PATH=" + paths.DefaultPath}
	for _, entry := range environ {
		key, _, ok := strings.Cut(entry, "=")
		switch {
		case !ok || key == "" || slices.ContainsFunc(out, func(o string) bool { return strings.HasPrefix(o, key+"=") }):
		case slices.Contains(printing, key), strings.HasPrefix(key, "LC_"):
			out = append(out, entry)
		case daemon:
		case slices.Contains(steering, key), slices.ContainsFunc([]string{"HOOKMUX_", "XDG_", "LD_"},
			func(p string) bool { return strings.HasPrefix(key, p) }):
		default:
			out = append(out, entry)
		}
	}
	return out
}
