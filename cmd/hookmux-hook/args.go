package main

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

const usage = `usage: hookmux-hook [--on-unavailable=neutral|deny] AGENT EVENT [DEADLINE]

Agents run this at their hooks, with the event on stdin. To see what it would
say, use: hookmux why AGENT EVENT < payload.json

  DEADLINE   how long the agent waits: seconds or a duration such as 90s
  --on-unavailable=deny
             refuse, where the agent can be refused, while no daemon answers

  HOOKMUX_DISABLED=1, HOOKMUX_<AGENT>_DISABLED=1   change nothing
  HOOKMUX_DEBUG=1                                  say on stderr what went wrong
`

// options is the command line together with the variables that can replace it.
type options struct {
	agent, event  string
	id            string        // of an event that a plugin tried to send already; "" makes one
	limit         time.Duration // how long the agent waits; 0 is unknown
	deny          bool          // answer deny while no daemon can be reached
	disabled      bool
	debug         bool
	help, version bool
}

func parseArgs(args []string, getenv func(string) string) (opt options, err error) {
	opt.deny = getenv("HOOKMUX_ON_UNAVAILABLE") == "deny"
	opt.debug = getenv("HOOKMUX_DEBUG") != ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flag, value, inline := strings.Cut(args[0], "=")
		args = args[1:]
		if !inline && flag == "--on-unavailable" && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case flag == "--help" || flag == "-h":
			opt.help = true
			return opt, nil
		case flag == "--version":
			opt.version = true
			return opt, nil
		case flag == "--on-unavailable" && (value == "deny" || value == "neutral"):
			opt.deny = value == "deny"
		case flag == "--on-unavailable":
			return opt, errors.New("hookmux-hook: --on-unavailable takes neutral or deny")
		default:
			return opt, errors.New("hookmux-hook: unknown option " + flag)
		}
	}
	if len(args) < 2 || args[0] == "" || args[1] == "" {
		return opt, errors.New("hookmux-hook: needs the name of an agent and of an event")
	}
	opt.agent, opt.event = args[0], args[1]
	if len(args) > 2 {
		// A deadline that can't be read is treated as none: the hook still has to do its
		// work. Further arguments are from a later installer.
		opt.limit = parseLimit(args[2])
		for _, more := range args[3:] {
			if id, ok := strings.CutPrefix(more, "id="); ok {
				opt.id = id
			}
		}
	}
	opt.disabled = isOn(getenv("HOOKMUX_DISABLED")) || isOn(getenv(disabledVariable(opt.agent)))
	return opt, nil
}

// longest is the longest deadline that makes sense; above it is a mistake.
const longest = 7 * 24 * time.Hour

// parseLimit reads seconds ("600", "0.5") or a duration ("10m"); 0 is
// unknown.
func parseLimit(text string) time.Duration {
	limit, err := time.ParseDuration(text)
	if seconds, errFloat := strconv.ParseFloat(text, 64); errFloat == nil {
		if !(seconds > 0) { // not a number, too
			return 0
		}
		return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
	}
	if err != nil || limit < 0 {
		return 0
	}
	return min(limit, longest)
}

func isOn(value string) bool {
	switch strings.ToLower(value) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// disabledVariable is HOOKMUX_<AGENT>_DISABLED in the letters a variable may
// have.
func disabledVariable(agent string) string {
	name := []byte("HOOKMUX_" + agent + "_DISABLED")
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z':
			name[i] = c - 'a' + 'A'
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		default:
			name[i] = '_'
		}
	}
	return string(name)
}
