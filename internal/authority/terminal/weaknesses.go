package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Weakness is something about this machine that makes it easier for a program
// of the user to pass for them.
type Weakness struct {
	Check string
	What  string
	Fix   string
}

// Weaknesses looks for them on this machine.
func Weaknesses() []Weakness {
	return findWeaknesses(readSysctl, kernelRelease(), tmuxVersion(), os.Getuid(), CanMark())
}

func findWeaknesses(sysctl func(string) string, kernel, tmux string, uid int, marks bool) []Weakness {
	var list []Weakness
	if uid == 0 {
		list = append(list, Weakness{
			"root", "hookmux and your agents run as root, so hookmux can't stop an agent from approving its own requests",
			"run agents as an ordinary user",
		})
	}
	if !marks {
		list = append(list, Weakness{
			"mark", "every process here has a limit on file locks, so what agents start cannot be marked; " +
				"a terminal that an agent opens in the background is recognised by other signs only",
			"start the container or the session without that limit (ulimits: locks)",
		})
	}
	switch {
	case !letsProgramsType(sysctl, kernel):
	case sysctl(tiocstiSwitch) != "":
		list = append(list, Weakness{
			"tiocsti", "programs may type into the terminal they were started from (dev.tty.legacy_tiocsti is 1)",
			"sudo sysctl -w dev.tty.legacy_tiocsti=0",
		})
	default:
		list = append(list, Weakness{
			"tiocsti", "programs may type into the terminal they were started from: Linux " + kernel + " cannot " +
				"forbid it",
			"use Linux 6.2 or later, with dev.tty.legacy_tiocsti=0",
		})
	}
	if scope := sysctl("kernel/yama/ptrace_scope"); scope == "" || scope == "0" {
		list = append(list, Weakness{
			"ptrace", "any of your programs can read another's memory and take over its terminal (kernel.yama.ptrace_scope is " +
				"not set)",
			"sudo sysctl -w kernel.yama.ptrace_scope=1, on a kernel with Yama",
		})
	}
	switch {
	case tmux == "":
	case isOlder(tmux, 3, 2):
		list = append(list, Weakness{
			"tmux", "tmux " + tmux + " has no popups, so no code can be shown there: what needs one is refused",
			"use tmux 3.2 or later, or answer outside of tmux",
		})
	case !isOlder(tmux, 3, 4):
		list = append(list, Weakness{
			"tmux", "tmux " + tmux + " lets programs press keys for a client (send-keys -K); hookmux " +
				"never takes one for yours, but they can spoil a code that you type",
			"",
		})
	}
	return list
}

// tiocstiSwitch says whether programs may type into the terminal that they run at.
const tiocstiSwitch = "dev/tty/legacy_tiocsti"

// letsProgramsType reports whether they may: where the switch allows it, and on
// kernels that are too old to have one.
func letsProgramsType(sysctl func(string) string, kernel string) bool {
	switch sysctl(tiocstiSwitch) {
	case "":
		return isOlder(kernel, 6, 2)
	case "0":
		return false
	}
	return true
}

func readSysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func kernelRelease() string { return readSysctl("kernel/osrelease") }

// tmuxVersion is "3.4", "" without tmux.
func tmuxVersion() string {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tmux", "-V").Output()
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "tmux ")
}

// isOlder compares the first two numbers of a version such as 6.18.4-x, next-3.8
// or 3.3a. What cannot be read is not older.
func isOlder(version string, major, minor int) bool {
	version = strings.TrimLeft(version, "abcdefghijklmnopqrstuvwxyz-")
	var a, b int
	if n, err := fmt.Sscanf(leadingNumbers(version), "%d.%d", &a, &b); n < 2 || err != nil {
		return false
	}
	return a < major || a == major && b < minor
}

// leadingNumbers is "3.3" of "3.3a".
func leadingNumbers(version string) string {
	first, rest, _ := strings.Cut(version, ".")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	if _, err := strconv.Atoi(first); err != nil {
		return ""
	}
	return first + "." + rest[:end]
}
