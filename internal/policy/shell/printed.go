package shell

import (
	"path"
	"strings"
)

// mktempName represents the name mktemp invents: unknown, but a fresh place below /tmp and
// never empty.
const mktempName = "/tmp/mktemp.XXXXXX/"

// pathText returns what a program prints for a path that is written out.
func pathText(name string, args []Word) (string, bool) {
	operands := 0
	var last Word
	for _, a := range args {
		if len(a.Text) > 1 && a.Text[0] == '-' {
			continue
		}
		operands++
		last = a
	}
	t := last.Text
	if last.Tilde {
		t = "$HOME" + strings.TrimPrefix(t, "~")
	}
	known := !last.Dynamic ||
		(strings.HasPrefix(t, "$HOME") || strings.HasPrefix(t, "$PWD")) && strings.Count(t, "$") == 1
	if operands != 1 || !known || t == "" || last.Glob {
		return "", false
	}
	switch name {
	case "dirname":
		t = strings.TrimRight(t, "/")
		switch {
		case t == "":
			return "/", true
		case t == "$HOME" || t == "$PWD" || strings.HasPrefix(t, "$") && path.Base(t) == "..":
			return t + "/..", true
		}
		return path.Dir(t), true
	case "basename":
		return path.Base(t), true
	}
	return t, true
}

func echoText(args []Word) (string, bool) {
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' &&
		strings.Trim(args[0].Text[1:], "neE") == "" {
		args = args[1:]
	}
	parts := make([]string, len(args))
	for i, a := range args {
		if a.Dynamic && a.Text != a.Bare {
			return "", false
		}
		parts[i] = a.Text
		if a.Tilde {
			parts[i] = "$HOME" + strings.TrimPrefix(a.Text, "~")
		}
	}
	s := strings.Join(parts, " ")
	if strings.Contains(s, `\`) {
		s = echoEscapes(s) // echo -e, and plain echo in some shells
	}
	return s + "\n", true
}

// echoEscapes decodes backslashes as echo -e and %b do, where octal numbers begin with a zero that
// isn't counted as a digit.
func echoEscapes(s string) string {
	if !strings.Contains(s, `\0`) {
		return ANSIC(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		switch {
		case s[i] != '\\' || i+1 == len(s):
		case s[i+1] == '0' && i+2 < len(s) && s[i+2] >= '0' && s[i+2] <= '7':
			i++
		default:
			i++
			b.WriteByte(s[i])
		}
	}
	return ANSIC(b.String())
}

func printfText(args []Word) (string, bool) {
	if len(args) == 0 || args[0].Dynamic {
		return "", false
	}
	format := ANSIC(args[0].Text)
	rest := args[1:]
	var b strings.Builder
	for round := 0; round == 0 || len(rest) > 0 && round < 64; round++ {
		used := false
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			switch format[i] {
			case '%':
				b.WriteByte('%')
			case 's', 'b', 'd', 'q':
				if len(rest) > 0 {
					if rest[0].Dynamic && rest[0].Text != rest[0].Bare {
						return "", false
					}
					text := rest[0].Text
					if rest[0].Tilde {
						text = "$HOME" + strings.TrimPrefix(text, "~")
					}
					if format[i] == 'b' {
						text = echoEscapes(text)
					}
					b.WriteString(text)
					rest = rest[1:]
				}
				used = true
			default:
				return "", false
			}
		}
		if !used {
			break
		}
	}
	return b.String(), true
}

// copyTargets returns the files into which a program copies its standard input: dd of=x,
// cp /dev/stdin x, install /dev/stdin x.
func copyTargets(name string, args []Word) []string {
	switch name {
	case "dd":
		for _, a := range args {
			if file, ok := strings.CutPrefix(a.Text, "of="); ok {
				return []string{file}
			}
		}
	case "cp", "install":
		if n := len(args); n > 1 && args[n-2].Text == "/dev/stdin" {
			return []string{args[n-1].Text}
		}
	}
	return nil
}

// movedFile returns the file to which cp, mv or ln gives another name, and that name; "" for
// anything else.
func movedFile(name string, args []Word) (from, to string) {
	switch name {
	case "cp", "mv", "ln", "install", "link":
	default:
		return "", ""
	}
	var operands []string
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			operands = append(operands, a.Text)
		}
	}
	if len(operands) != 2 || operands[0] == "/dev/stdin" {
		return "", ""
	}
	return operands[0], operands[1]
}
