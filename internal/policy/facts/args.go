package facts

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/shell"
)

// SplitFlags splits arguments into options and operands; "--" ends options.
func SplitFlags(args []shell.Word) (flags, rest []shell.Word) {
	options := 0
	for i := range args {
		if isFlag(args[i].Text) {
			options++
		}
	}
	if options == 0 { // most commands; a caller that appends gets a copy
		return nil, args[:len(args):len(args)]
	}
	flags, rest = make([]shell.Word, 0, options), make([]shell.Word, 0, len(args)-options)
	for i, a := range args {
		if a.Text == "--" {
			return flags, append(rest, args[i+1:]...)
		}
		if isFlag(a.Text) {
			flags = append(flags, a)
		} else {
			rest = append(rest, a)
		}
	}
	return flags, rest
}

func isFlag(t string) bool { return len(t) > 1 && t[0] == '-' }

// HasShort reports whether one of the letters is in a short option cluster.
func HasShort(flags []shell.Word, letters ...byte) bool {
	for _, f := range flags {
		if len(f.Text) < 2 || f.Text[0] != '-' || f.Text[1] == '-' {
			continue
		}
		for _, l := range letters {
			if strings.IndexByte(f.Text[1:], l) >= 0 {
				return true
			}
		}
	}
	return false
}

// HasLong reports whether one of the long options is given, with or without a value. Like
// getopt it accepts the beginning of a name as the name.
func HasLong(flags []shell.Word, names ...string) bool {
	for _, f := range flags {
		for _, n := range names {
			given, _, _ := strings.Cut(f.Text, "=")
			if given == n || len(given) > 2 && strings.HasPrefix(given, "--") && strings.HasPrefix(n, given) {
				return true
			}
		}
	}
	return false
}

func HasWord(args []shell.Word, texts ...string) bool {
	for _, a := range args {
		for _, t := range texts {
			if a.Text == t {
				return true
			}
		}
	}
	return false
}

func JoinArgs(args []shell.Word) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.Text
	}
	return strings.Join(parts, " ")
}

// HasPhrase reports whether phrase occurs in line as whole words.
func HasPhrase(line, phrase string) bool {
	return strings.Contains(" "+line+" ", " "+phrase+" ")
}

// CutWord returns w without its first n bytes: the value of a joined option.
func CutWord(w shell.Word, n int) shell.Word {
	w.Text = w.Text[n:]
	w.Bare = w.Text
	w.Tilde = strings.HasPrefix(w.Text, "~")
	return w
}

// SplitTarget splits operands into where they go and what goes there.
func SplitTarget(args, rest []shell.Word) (to shell.Word, sources []shell.Word, ok bool) {
	for i, a := range args {
		switch {
		case (a.Text == "-t" || a.Text == "--target-directory") && i+1 < len(args):
			to, ok = args[i+1], true
		case strings.HasPrefix(a.Text, "--target-directory="):
			to, ok = CutWord(a, len("--target-directory=")), true
		case strings.HasPrefix(a.Text, "-t") && len(a.Text) > 2 && a.Text[2] != '-':
			to, ok = CutWord(a, 2), true
		}
	}
	if ok {
		for _, w := range rest {
			if w.Text != to.Text {
				sources = append(sources, w)
			}
		}
		return to, sources, true
	}
	if len(rest) < 2 {
		return to, nil, false
	}
	return rest[len(rest)-1], rest[:len(rest)-1], true
}

func ViaXargs(r *shell.Run) bool {
	for _, v := range r.Via {
		if v == "xargs" || v == "gxargs" || v == "parallel" {
			return true
		}
	}
	return false
}

// OptionValues returns the values of options: the next word, or what is joined to the option.
func OptionValues(args []shell.Word, options ...string) []shell.Word {
	var out []shell.Word
	plain := slices.ContainsFunc(options, func(o string) bool { return !strings.HasPrefix(o, "-") })
	for i, a := range args {
		if !plain && !strings.HasPrefix(a.Text, "-") {
			continue
		}
		for _, o := range options {
			switch {
			case a.Text == o && i+1 < len(args):
				out = append(out, args[i+1])
			case len(a.Text) > len(o) && a.Text[len(o)] == '=' && a.Text[:len(o)] == o:
				out = append(out, CutWord(a, len(o)+1))
			case len(o) == 2 && strings.HasPrefix(a.Text, o) && len(a.Text) > 2:
				out = append(out, CutWord(a, 2))
			case strings.HasPrefix(o, "--") && len(a.Text) > 3 && strings.HasPrefix(o, a.Text) && i+1 < len(args):
				out = append(out, args[i+1]) // a shortened long option
			}
		}
	}
	return out
}

// ChangesInPlace reports whether one of the options is given. One without a dash
// is a verb among the operands.
func ChangesInPlace(flags, operands []shell.Word, options []string) bool {
	for _, o := range options {
		switch {
		case strings.HasPrefix(o, "--"):
			if HasLong(flags, o) {
				return true
			}
		case o[0] == '-':
			if HasShort(flags, o[1]) {
				return true
			}
		case HasWord(operands, o):
			return true
		}
	}
	return false
}
