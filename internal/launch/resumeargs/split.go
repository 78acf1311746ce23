package resumeargs

import (
	"strings"
	"unicode"

	"github.com/hookmux/hookmux/agent"
)

// part is a flag with all it takes, or a word of its own.
type part struct {
	args  []string // as they stood there
	word  bool
	flags []string // its name; several for joined short flags
	value string   // of the last flag
}

// split parses a command line up to "--"; the words after it are a prompt that was given once.
func split(valueFlags, args []string) []part {
	takes := agent.Arities(valueFlags)
	var parts []part
	for i := 0; i < len(args); {
		arg := args[i]
		if arg == "--" {
			break
		}
		if !isFlag(arg) {
			parts = append(parts, part{args: args[i : i+1], word: true})
			i++
			continue
		}
		p, width := flagAt(takes, args[i:])
		parts = append(parts, p)
		i += width
	}
	return parts
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// flagAt reads the flag that args begin with.
func flagAt(takes map[string]agent.Arity, args []string) (part, int) {
	arg := args[0]
	if _, known := takes[arg]; known || strings.HasPrefix(arg, "--") {
		name, value, attached := strings.Cut(arg, "=")
		if attached {
			return part{args: args[:1], flags: []string{name}, value: value}, 1
		}
		return takeArguments(takes[arg], args, []string{arg})
	}
	var names []string
	for at := 1; at < len(arg); at++ {
		name := "-" + arg[at:at+1]
		names = append(names, name)
		n := takes[name]
		if n == agent.TakesNone {
			continue
		}
		if rest := strings.TrimPrefix(arg[at+1:], "="); arg[at+1:] != "" {
			return part{args: args[:1], flags: names, value: rest}, 1
		}
		return takeArguments(n, args, names)
	}
	return part{args: args[:1], flags: names}, 1
}

// takeArguments assigns the arguments after a flag to it.
func takeArguments(n agent.Arity, args, names []string) (part, int) {
	width := 1
	switch n {
	case agent.TakesOne:
		width = min(2, len(args))
	case agent.TakesMaybe:
		// What may be a value or the prompt is taken for a value only when it
		// looks like one: a prompt must never be asked twice.
		if len(args) > 1 && !isFlag(args[1]) && !strings.ContainsFunc(args[1], unicode.IsSpace) {
			width = 2
		}
	case agent.TakesMany:
		for width < len(args) && (width == 1 || !isFlag(args[width])) {
			width++
		}
	}
	p := part{args: args[:width], flags: names}
	if width > 1 {
		p.value = args[1]
	}
	return p, width
}
