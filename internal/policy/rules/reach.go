package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// A rule that allows a program allows what the program does by itself. Options that make it
// run another program, write to a given file, or work in another folder or with other settings
// have to be named by the rule.

// doesMore reports whether a command does more than its program does by itself.
func doesMore(c *facts.Command) bool {
	for _, flag := range c.Flags {
		for _, list := range [][]string{programs.CommonReach(), programs.Of(c.Program).Reach} {
			if slices.ContainsFunc(list, func(option string) bool { return isOption(flag, option) }) {
				return true
			}
		}
	}
	switch c.Program {
	case "sed", "gsed":
		return sedReaches.MatchString(strings.Join(c.Argv[1:], "\n"))
	case "awk", "gawk", "mawk", "nawk", "busybox":
		return awkReaches.MatchString(strings.Join(c.Argv[1:], "\n"))
	case "uniq": // its second operand is written
		return len(c.Operands()) > 1
	}
	return false
}

// isOption reports whether a flag is an option, which may be shortened.
func isOption(flag, option string) bool {
	if flag == option {
		return true
	}
	return strings.HasPrefix(option, "--") && strings.HasPrefix(flag, "--") && len(flag) > 4 &&
		strings.HasPrefix(option, flag)
}

var (
	// sedReaches finds commands of sed that write a file or run a program: w, W, e, and
	// the flags w and e of s///.
	sedReaches = lazyregexp.New(`(?m)(^|[;{}/$!0-9,\s])[wW]\s*[^\s;}=]|(^|[;{}/$!0-9,])\s*e(\s|$|;)|` +
		`[/|,#@:%!][gpiImM0-9]*[we][gpiImM0-9]*(\s|$|;|})`)
	// awkReaches finds what awk runs or writes.
	awkReaches = lazyregexp.New(`system\s*\(|getline|[^|]\|[^|]|print[^;}\n]*>|@load|@include|printf[^;}\n]*>|close\s*\(`)
)

// talksElsewhere reports whether a command talks to another machine than its addresses
// name, or sends more than a request.
func talksElsewhere(c *facts.Command) bool {
	return slices.ContainsFunc(c.Flags, func(flag string) bool {
		return slices.ContainsFunc(programs.ElsewhereOptions(), func(option string) bool { return isOption(flag, option) })
	})
}

// systemFolders contain programs that an agent normally can't replace.
var systemFolders = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"}

// isOwnProgram reports whether a command names its program by a path that doesn't lead to the
// system's programs: its base name means nothing then.
func isOwnProgram(c *facts.Command) bool {
	return len(c.Argv) > 0 && strings.Contains(c.Argv[0], "/") && !slices.Contains(systemFolders, path.Dir(c.Argv[0]))
}
