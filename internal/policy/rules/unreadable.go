package rules

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
)

// unreadable is the name of the check that every family has: a command that can't be read in
// full.
const unreadable = "unreadable"

// reportUnreadable adds the finding for a command that could not be read in full. Text that is
// too long, too deep or not text at all hides what it does, and no agent sends that in ordinary
// work: that is a finding by itself. If a shell can't read the command either, it is one only
// if its text names what the checks watch.
func reportUnreadable(report *facts.Report, line *facts.Line, checks Checks) {
	cmd, s := line.Text, line.Script
	if s.Readable() && !strings.ContainsRune(cmd, 0) {
		return
	}
	const advice = "put it into a script file, or divide it into several calls"
	switch {
	case s.TooLong:
		report.Add(unreadable, firstWords(cmd),
			fmt.Sprintf("the command is too long to be checked (%d KiB); %s", len(cmd)>>10, advice))
		return
	case strings.ContainsRune(cmd, 0):
		report.Add(unreadable, firstWords(cmd), "the command contains a NUL byte, so that it is not clear what "+
			"would run")
		return
	case s.Truncated || s.TooDeep():
		report.Add(unreadable, firstWords(cmd),
			"the command is nested too deeply, or does too much, to be checked; "+advice)
		return
	}
	text := strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(cmd)
	if hit := namedIn(checks, text); hit != "" {
		report.Add(unreadable, hit, fmt.Sprintf("the command is not valid shell, and its text names %s", hit))
	}
}

func firstWords(cmd string) string { return cmd[:min(len(cmd), 80)] }

func namedIn(checks Checks, text string) string {
	if checks == nil {
		return ""
	}
	return checks.NamedIn(text)
}
