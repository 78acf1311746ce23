package keeper

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// What hookmux-start is asked for.
const (
	StartDaemon   = "daemon"
	StartEvaluate = "evaluate"
	StartRead     = "read" // a command that only shows something
)

// shows lists the commands that only show what is kept, by their second word; "" is none.
var shows = map[string][]string{
	"status": {""}, "guard": {"", "list", "show"}, "rules": {"", "list", "show"}, "hooks": {"", "list"},
	"config": {"", "get", "list"}, "trust": {"list", "show"}, "audit": {"", "verify"},
}

// Shows reports whether a command only shows what is kept, so that any program may have it
// run with that.
func Shows(args []string) bool {
	if len(args) == 0 {
		return false
	}
	second := ""
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") {
		second = args[1]
	} else if slices.ContainsFunc(args[1:], func(arg string) bool { return !strings.HasPrefix(arg, "-") }) {
		return false // after a flag, any word may be the second
	}
	return slices.Contains(shows[args[0]], second)
}

// GivenVariable names the descriptors that hookmux-start passes on: both folders, and for a
// daemon its socket and the connection to the keeper.
const GivenVariable = "HOOKMUX_GIVEN"

// The exit codes of hookmux-start.
const (
	ExitUnreachable = 70 + iota
	ExitRefused
	ExitBusy
	ExitLater
	ExitFailed
)

// ExitOf returns the exit code for an answer of the keeper.
func ExitOf(s Status) int {
	switch s {
	case Busy:
		return ExitBusy
	case Later, Overload:
		return ExitLater
	case Refused:
		return ExitRefused
	}
	return ExitFailed
}

// Explain says what an answer means and what to do.
func Explain(s Status) string {
	switch s {
	case Busy:
		return "the daemon is running"
	case Later:
		return "the daemon died several times within half a minute; the next one waits"
	case Overload:
		return "too many programs of yours ask hookmux's system service at once"
	case Refused:
		return "this program is being debugged or runs in a sandbox or container, where hookmux's system service " +
			"can't know it"
	}
	return "hookmux's system service can't serve you: journalctl -u hookmux-keeper says why; then run: " + paths.Repair
}
