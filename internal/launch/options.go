package launch

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
)

// How many arguments a flag takes. The catalogue's value_flags say it by their
// ending: "--model" takes the next argument whatever it looks like,
// "--resume?" the next one unless that is a flag, "--add-dir..." one and then
// everything up to the next flag.
// option is a flag as it was found.
type option struct {
	name  string
	value string
	has   bool // it has a value
	at    int  // index of the flag
	// valueAt is the index of the argument that holds the value: at itself
	// when it is attached. The value starts offset bytes in.
	valueAt int
	offset  int
}

// scanned is a command line taken apart.
type scanned struct {
	args    []string
	options []option
	word    string // the first argument that is neither a flag nor a flag's value
	hasWord bool
}

// scanOptions parses a command line the way the common option parsers do: flags may be
// anywhere up to "--", values are attached with "=" or follow, short flags may be joined.
func scanOptions(l agent.Launch, args []string) *scanned {
	takes := agent.Arities(l.ValueFlags)
	s := &scanned{args: args}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			if !s.hasWord {
				s.word, s.hasWord = arg, true
			}
			continue
		}
		if strings.HasPrefix(arg, "--") {
			name, value, attached := strings.Cut(arg, "=")
			o := option{name: name, at: i, valueAt: i}
			if attached {
				o.value, o.has, o.offset = value, true, len(name)+1
				s.options = append(s.options, o)
				continue
			}
			i = s.takeValues(o, takes[name], i)
			continue
		}
		i = s.readShortFlags(takes, i)
	}
	return s
}

// readShortFlags reads an argument of joined short flags: all without a value, but the
// last, whose value is the rest or follows.
func (s *scanned) readShortFlags(takes map[string]agent.Arity, i int) int {
	arg := s.args[i]
	for at := 1; at < len(arg); at++ {
		o := option{name: "-" + arg[at:at+1], at: i, valueAt: i}
		n := takes[o.name]
		if n == agent.TakesNone {
			s.options = append(s.options, o)
			continue
		}
		if rest := arg[at+1:]; rest != "" {
			o.has, o.offset = true, at+1
			if rest[0] == '=' {
				o.offset++
			}
			o.value = arg[o.offset:]
			s.options = append(s.options, o)
			return i
		}
		return s.takeValues(o, n, i)
	}
	return i
}

// takeValues assigns the arguments after a flag to it and returns the last index used.
func (s *scanned) takeValues(o option, n agent.Arity, i int) int {
	next := i + 1
	there := next < len(s.args)
	switch {
	case n == agent.TakesNone, !there, n == agent.TakesMaybe && isFlag(s.args[next]):
		s.options = append(s.options, o)
		return i
	}
	o.value, o.has, o.valueAt = s.args[next], true, next
	s.options = append(s.options, o)
	for n == agent.TakesMany && next+1 < len(s.args) && !isFlag(s.args[next+1]) {
		next++
	}
	return next
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// RunsSession reports whether an agent's command line, without the program, runs a
// session: daemons, updaters and logins do not.
func RunsSession(a *agent.Agent, args []string) bool {
	return !scanOptions(a.Launch, args).runsNoSession(a.Launch)
}

// runsNoSession reports whether a command line runs no session. Flags that make every word a
// prompt are among the catalogue's sessions.
func (s *scanned) runsNoSession(l agent.Launch) bool {
	session := false
	for _, o := range s.options {
		if slices.Contains(l.PassFlags, o.name) {
			return true
		}
		session = session || slices.Contains(l.Sessions, o.name)
	}
	return !session && s.hasWord && slices.Contains(l.Passthrough, s.word)
}

// hasFlag reports whether the command line has a flag.
func (s *scanned) hasFlag(name string) bool {
	return slices.ContainsFunc(s.options, func(o option) bool { return o.name == name })
}
