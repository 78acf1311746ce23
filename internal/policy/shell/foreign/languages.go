package foreign

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// MakeCalls returns the texts of $(shell text), up to most of them.
func MakeCalls(text string, most int) []string {
	const call = "$(shell "
	var out []string
	for len(out) < most {
		i := strings.Index(text, call)
		if i < 0 {
			break
		}
		text = text[i+len(call):]
		end := closingBracket(text)
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

// closingBracket returns where the bracket that was opened before the text is closed.
func closingBracket(text string) int {
	depth := 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

var (
	makeAssign = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)\s*[:?]?:?=\s*(.*)$`)
	// $(NAME) is make's variable, not a command.
	makeVariable = lazyregexp.New(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)
)

// MakeRecipes returns the commands of a makefile's recipes, up to most of them; whole says that
// these are all. Variables the text itself sets are replaced by their values; others stay as
// shell variables, unknown.
func MakeRecipes(text string, most int) (commands []string, whole bool) {
	pairs := []string{"$$", "$"}
	whole = true
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if len(commands) >= most {
			whole = false
			break
		}
		if rest, ok := strings.CutPrefix(line, "\t"); ok {
			commands = append(commands, rest)
			continue
		}
		if m := makeAssign.FindStringSubmatch(line); m != nil {
			if len(pairs) < 64 {
				pairs = append(pairs, "$("+m[1]+")", m[2], "${"+m[1]+"}", m[2])
			}
			continue
		}
		if head, recipe, ok := strings.Cut(line, ";"); ok && strings.Contains(head, ":") {
			commands = append(commands, recipe)
		}
	}
	known := strings.NewReplacer(pairs...)
	for i, command := range commands {
		command = strings.TrimLeft(strings.TrimSpace(command), "@-+ ")
		commands[i] = makeVariable.ReplaceAllString(known.Replace(command), "$${$1}")
	}
	return commands, whole
}

// CommandsIn returns the pieces of a settings file that may be command lines: what is in
// quotes, after a key, or on a line of its own. It returns no more than most of them.
func CommandsIn(text string, most int) []string {
	var out []string
	for line := range strings.Lines(text) {
		pieces := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("\"'`[]{},", r) })
		for _, piece := range append(pieces, line) {
			if key, value, ok := strings.Cut(piece, ": "); ok && !strings.ContainsAny(strings.TrimLeft(key, "- \t"), " \t") {
				piece = value
			}
			piece = strings.TrimLeft(strings.TrimSpace(piece), "-@;|> \t")
			if strings.Contains(piece, " ") && len(out) < most {
				out = append(out, piece)
			}
		}
	}
	return out
}

const sedAddress = `(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?)`

var (
	// e text: GNU sed runs the rest of the line.
	sedRun = lazyregexp.New(`(?m)(?:^|[;{}])\s*` + sedAddress + `?(?:\s*,\s*[+~]?` + sedAddress +
		`)?\s*!?\s*e\s+(\S.*)$`)
	// Where an s command can start.
	sedSubst = lazyregexp.New(`(?m)(?:^|[;{}!\d$/])\s*s([^\sA-Za-z0-9\\])`)
)

// SedCommands returns the commands that a sed script runs with e, and with the flag e of s; up
// to most of each.
func SedCommands(script string, most int) []string {
	var out []string
	for _, m := range sedRun.FindAllStringSubmatch(script, most) {
		out = append(out, m[1])
	}
	for _, at := range sedSubst.Compiled().FindAllStringSubmatchIndex(script, most) {
		if text, ok := sedReplacement(script[at[2]:]); ok {
			out = append(out, text)
		}
	}
	return out
}

// sedFile finds the file that w or W writes, also as a flag of s, and the one that r or R reads.
var sedFile = lazyregexp.New(`(?m)(?:^|[;{}!\s\d$/,])([wWrR])\s+([^\s;}]+)|s([|,#/!:@%~^_])(?:[^\n]*?)[gpIiMm\d]*[gpIiMm\d|,#/!:@%~^_](w)\s+([^\s;}]+)`)

// SedFiles returns shell commands for what a sed script does to files, up to most of them.
func SedFiles(script string, most int) []string {
	var out []string
	for _, m := range sedFile.FindAllStringSubmatch(script, most) {
		switch m[1] + m[4] {
		case "w", "W":
			out = append(out, "tee "+m[2]+m[5])
		default:
			out = append(out, "cat "+m[2])
		}
	}
	return out
}

// SedScripts returns the program texts on sed's command line.
func SedScripts(args []string) []string {
	var out []string
	operand := ""
	for i := 0; i < len(args); i++ {
		t := args[i]
		switch {
		case t == "-e" || t == "--expression" || len(t) > 2 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == 'e' &&
			strings.Trim(t[1:], "nErsuze") == "":
			if i+1 < len(args) {
				i++
				out = append(out, args[i])
			}
		case strings.HasPrefix(t, "--expression="):
			out = append(out, t[len("--expression="):])
		case t == "-f" || t == "--file":
			i++
		case t != "" && t[0] == '-':
		case operand == "":
			operand = t
		}
	}
	if len(out) == 0 && operand != "" {
		out = append(out, operand)
	}
	return out
}

// sedReplacement returns the replacement of "/pattern/replacement/flags" if the flags say that
// the result is run.
func sedReplacement(s string) (string, bool) {
	d := s[0]
	var parts []string
	var b strings.Builder
	i := 1
	for ; i < len(s) && len(parts) < 2; i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != d {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		case s[i] == d:
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	if len(parts) < 2 {
		return "", false
	}
	flags := s[i:]
	if end := strings.IndexAny(flags, ";}\n "); end >= 0 {
		flags = flags[:end]
	}
	return parts[1], strings.ContainsRune(flags, 'e') && strings.Trim(flags, "0123456789gpIiMme") == ""
}

var tclRuns = lazyregexp.New(`(?:^|[\s;\[{"])(?:spawn|exec|system|overlay)((?:\s+-\w+)*\s+[^\n;\]}]+)`)

// TclCommands returns the commands after spawn, exec and the like, options included; up to
// most of them.
func TclCommands(text string, most int) []string {
	var out []string
	for _, m := range tclRuns.FindAllStringSubmatch(text, most) {
		out = append(out, m[1])
	}
	return out
}
