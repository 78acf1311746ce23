package foreign

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// What editors do to files without a shell, said in shell: the guards of files
// then need not know an editor's language.

var (
	vimDelete = lazyregexp.New(`\bdelete\(\s*(?:expand\()?\s*['"]([^'"]+)['"]`)
	vimFile   = lazyregexp.New(`^(?:\d*|%|\$|[.'<>,]*)\s*(r|re|read|e|edit|sp|split|vs|tabe|view|w|wr|write|sav|saveas|sor|so|` +
		`source)!?\s+([^!|\s][^|]*)`)
	lispCall = lazyregexp.New(`\((delete-directory|delete-file|find-file|find-file-noselect|insert-file-contents|` +
		`write-region|write-file|copy-file|rename-file|set-file-modes|insert-file)\s+(?:\([\w-]+\s+)?([^()]*)`)
	tclDelete = lazyregexp.New(`\bfile\s+delete\s+((?:-\w+\s+)*)([^\n;\]}]+)`)
)

// VimFiles are shell commands for what a command line of Vim does to files.
func VimFiles(text string, most int) []string {
	var out []string
	for _, m := range vimDelete.FindAllStringSubmatch(text, most) {
		command := "rm -f "
		if strings.Contains(text, "rf") {
			command = "rm -rf "
		}
		out = append(out, command+m[1])
	}
	if m := vimFile.FindStringSubmatch(strings.TrimLeft(text, ": ")); m != nil {
		switch m[1][0] {
		case 'w':
			out = append(out, "tee "+m[2])
		case 's':
			if strings.HasPrefix(m[1], "sav") {
				out = append(out, "tee "+m[2])
			}
		default:
			out = append(out, "cat "+m[2])
		}
	}
	return out
}

// LispFiles are shell commands for what Emacs Lisp does to files.
func LispFiles(text string, most int) []string {
	var out []string
	for _, m := range lispCall.FindAllStringSubmatch(text, most) {
		names := StringLiterals(m[2])
		if len(names) == 0 {
			continue
		}
		name := names[len(names)-1]
		switch m[1] {
		case "delete-directory":
			out = append(out, "rm -rf "+name)
		case "delete-file":
			out = append(out, "rm -f "+name)
		case "write-region", "write-file":
			out = append(out, "tee "+name)
		case "copy-file":
			out = append(out, "cp "+name)
		case "rename-file":
			out = append(out, "mv "+name)
		case "set-file-modes":
			out = append(out, "chmod 000 "+name)
		default:
			out = append(out, "cat "+name)
		}
	}
	return out
}

// TclFiles are shell commands for what Tcl does to files.
func TclFiles(text string, most int) []string {
	var out []string
	for _, m := range tclDelete.FindAllStringSubmatch(text, most) {
		out = append(out, "rm -rf "+m[2])
	}
	return out
}

var kakouneShell = lazyregexp.New(`%sh\{([^}]*)\}`)

// KakouneCalls returns the commands in %sh{…}, at most so many.
func KakouneCalls(text string, most int) []string {
	var out []string
	for _, m := range kakouneShell.FindAllStringSubmatch(text, most) {
		out = append(out, m[1])
	}
	return out
}

var vimCode = lazyregexp.New(`^(py|py3|python|python3|pyx|pythonx|perl|ruby|lua)\s+(.+)`)

// VimCode returns the program text of another language that a command line of Vim runs,
// with an interpreter that takes it behind -c.
func VimCode(text string) (program, code string) {
	m := vimCode.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	return "python3", m[2]
}
