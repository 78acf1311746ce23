package foreign

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// What editors do to files without a shell, translated into shell: the guards of files then
// need not know an editor's language.

var (
	vimDelete = lazyregexp.New(`\bdelete\(\s*(?:expand\()?\s*['"]([^'"]+)['"]`)
	vimFile   = lazyregexp.New(`^(?:\d*|%|\$|[.'<>,]*)\s*(r|re|read|e|edit|sp|split|vs|tabe|view|w|wr|write|sav|saveas|sor|so|` +
		`source)!?\s+([^!|\s][^|]*)`)
	lispCall = lazyregexp.New(`\((delete-directory|delete-file|find-file|find-file-noselect|insert-file-contents|` +
		`write-region|write-file|copy-file|rename-file|set-file-modes|insert-file)\s+(?:\([\w-]+\s+)?([^()]*)`)
	lispFolder = lazyregexp.New(`\((?:cd|setq default-directory)\s+(?:\([\w-]+\s+)?"([^"]+)"|\(default-directory\s+(?:\([\w-]+\s+)?"([^"]+)"`)
	vimFolder  = lazyregexp.New(`^(?:silent!?\s+)?(?:(?:l|t)?cd|(?:l|t)?chd?i?r?)!?\s+(\S+)|\bchdir\(\s*(?:expand\()?\s*['"]([^'"]+)['"]`)
	vimWrite   = lazyregexp.New(`\bwritefile\(.*,\s*(?:expand\()?\s*['"]([^'"]+)['"]`)
	tclOpen    = lazyregexp.New(`\bopen\s+(\S+)\s+["{]?[wa]`)
	tclFolder  = lazyregexp.New(`(?:^|[;\n{\[])\s*cd\s+([^\s;\]}]+)`)
	tclDelete  = lazyregexp.New(`\bfile\s+delete\s+((?:-\w+\s+)*)([^\n;\]}]+)`)
)

// VimFolder returns a shell command that goes where a command line of Vim goes, with the
// connector to the next command; "" if it stays.
func VimFolder(text string) string {
	return goTo(vimFolder.FindStringSubmatch(strings.TrimLeft(text, ": ")))
}

// goTo returns the shell command that goes to the folder that a pattern found.
func goTo(found []string) string {
	for _, folder := range found[min(len(found), 1):] {
		if folder != "" {
			return "cd " + folder + " && "
		}
	}
	return ""
}

// VimFiles returns shell commands for what a command line of Vim does to files.
func VimFiles(text string, most int) []string {
	var out []string
	for _, m := range vimDelete.FindAllStringSubmatch(text, most) {
		command := "rm -f "
		if strings.Contains(text, "rf") {
			command = "rm -rf "
		}
		out = append(out, command+m[1])
	}
	for _, m := range vimWrite.FindAllStringSubmatch(text, most) {
		out = append(out, "tee "+m[1])
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

// LispFiles returns shell commands for what Emacs Lisp does to files.
func LispFiles(text string, most int) []string {
	var out []string
	to := goTo(lispFolder.FindStringSubmatch(text))
	for _, m := range lispCall.FindAllStringSubmatch(text, most) {
		names := StringLiterals(m[2])
		if len(names) == 0 {
			continue
		}
		name := names[len(names)-1]
		switch m[1] {
		case "delete-directory":
			out = append(out, to+"rm -rf "+name)
		case "delete-file":
			out = append(out, to+"rm -f "+name)
		case "write-region", "write-file":
			out = append(out, to+"tee "+name)
		case "copy-file":
			out = append(out, to+"cp "+name)
		case "rename-file":
			out = append(out, to+"mv "+name)
		case "set-file-modes":
			out = append(out, to+"chmod 000 "+name)
		default:
			out = append(out, to+"cat "+name)
		}
	}
	return out
}

// TclFolder returns a shell command that goes where Tcl goes first; "" if it stays.
func TclFolder(text string) string { return goTo(tclFolder.FindStringSubmatch(text)) }

// TclFiles returns shell commands for what Tcl does to files.
func TclFiles(text string, most int) []string {
	var out []string
	for _, m := range tclDelete.FindAllStringSubmatch(text, most) {
		out = append(out, "rm -rf "+m[2])
	}
	for _, m := range tclOpen.FindAllStringSubmatch(text, most) {
		out = append(out, "tee "+m[1])
	}
	return out
}

var kakouneShell = lazyregexp.New(`%sh\{([^}]*)\}`)

// KakouneCalls returns the commands in %sh{…}, up to most of them.
func KakouneCalls(text string, most int) []string {
	var out []string
	for _, m := range kakouneShell.FindAllStringSubmatch(text, most) {
		out = append(out, m[1])
	}
	return out
}

var vimCode = lazyregexp.New(`^(py|py3|python|python3|pyx|pythonx|perl|ruby|lua)\s+(.+)`)

// VimCode returns the program text of another language that a command line of Vim runs, with an
// interpreter that takes it after -c.
func VimCode(text string) (program, code string) {
	m := vimCode.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	return "python3", m[2]
}
