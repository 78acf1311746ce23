package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// codeWrites are words in code that changes a file.
var codeWrites = []string{"write", "Write", "append", "'>", `">`, "'+>", `"+>`, "'+<", `"+<`, "copy", "symlink",
	"O_WRONLY", "O_RDWR", "O_APPEND", "chmod", "rename", "replace(", "move(", "File.open", "touch", "put_contents",
	"ofstream", "dump(", "truncate", "output-file", "Set-Content", "Add-Content", "Out-File"}

// openMode matches the mode in which code opens a file to change it: 'w', "ab", 'r+', "w:utf-8";
// w or a in Tcl.
var openMode = lazyregexp.New(`['"](?:[wax][bt+xs]{0,3}|r[bt]?\+[bt]?)(?:[:|][^'"]*)?['"]|\bopen\s+\S+\s+[wa]\b|` +
	`\bopen\b[^;\n]*[({\[<|/!]\+?>`)

// CodeWrites reports whether program text seems to change files.
func CodeWrites(text string) bool { return containsOne(text, codeWrites) || openMode.MatchString(text) }

// codeHomes are words in code that mean the home directory.
var codeHomes = []string{"HOME", "homedir", "home_dir", "expanduser", "Path.home", "Dir.home", "UserProfile"}

// homeInLiteral matches how a literal spells the home directory in languages that expand
// variables in it.
var homeInLiteral = lazyregexp.New(`^(?:\$ENV\{['"]?HOME['"]?\}|#\{(?:Dir\.home|ENV\[['"]HOME['"]\])\}|` +
	`\$\{(?:process\.env\.HOME|os\.homedir\(\)|homedir\(\)|HOME)\}|\{(?:os\.environ\[['"]HOME['"]\]|Path\.home\(\)|home)\}|` +
	`\$(?:env:|env\()?HOME\)?)`)

// changesFolder are words in code that changes to another folder.
var changesFolder = []string{"chdir", "setwd", "set_current_dir", "Set-Location", "default-directory", "$CWD", "pushd",
	"cd ", "cd(", "WORKING_DIR", "cwd"}

// goesHome matches a change to the home directory that names no folder.
var goesHome = lazyregexp.New(`\bchdir\s*(?:\(\s*\))?\s*(?:[;}\n]|$)|\bcd\s*[;\n]`)

// maxCodePaths limits how many paths of one program are looked at.
const maxCodePaths = 1024

// maxCodeFolders limits in how many folders its names are looked for.
const maxCodeFolders = 12

// CodePaths returns the paths that the literals in a run's program text may name: as they are
// written, joined to each other, and in full, below the folder that the run is in and those that
// the text goes to.
func (x *Scope) CodePaths(r *shell.Run, text string) []string {
	literals := x.codeLiterals(r, text)
	joined := joinedLiterals(literals)
	return append(joined, x.inFull(r, text, joined, literals)...)
}

// NamesInCode returns the full paths of what the literals in a run's program text name by
// themselves, if the run or the text goes to another folder.
func (x *Scope) NamesInCode(r *shell.Run, text string) []string {
	if len(r.Dirs) == 0 && !containsOne(text, changesFolder) {
		return nil
	}
	literals := x.codeLiterals(r, text)
	return x.inFull(r, text, literals, literals)
}

// inFull returns names of program text below each of the folders that they may lie in.
func (x *Scope) inFull(r *shell.Run, text string, names, literals []string) (out []string) {
	for _, folder := range x.codeFolders(r, text, literals) {
		for _, name := range names {
			name = homeAsTilde(strings.TrimLeft(name, "+<> "))
			if len(out) >= maxCodePaths {
				return out
			}
			if name == "" || len(name) > 512 || strings.ContainsAny(name, "\n\t;(") {
				continue
			}
			if full, ok := x.codePath(folder, name); ok {
				out = append(out, full)
			}
		}
	}
	return out
}

// homeAsTilde writes the home directory at the beginning of a literal as a shell does.
func homeAsTilde(name string) string {
	if found := homeInLiteral.Compiled().FindString(name); found != "" {
		return "~" + name[len(found):]
	}
	return name
}

// codeLiterals returns the literals of program text, and the values that its run gives it.
func (x *Scope) codeLiterals(r *shell.Run, text string) []string {
	out := append(QuotedIn(text), foreign.QuotedLists(text, maxQuoted)...)
	writesGiven := takesArguments.MatchString(text) && (openMode.MatchString(text) || changesByName.MatchString(text))
	for _, a := range r.Args() {
		value, isValue := a.Text, false
		if strings.HasSuffix(r.Name(), "awk") { // -v name=value
			_, value, isValue = strings.Cut(a.Text, "=")
		}
		if (isValue || writesGiven) && len(value) <= 512 && !strings.ContainsAny(value, " \n(") {
			out = append(out, value)
		}
	}
	if bareWords(r.Name()) {
		out = append(out, strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune(";{}[]", c) })...)
	}
	return out
}

var (
	// takesArguments matches program text that uses the words after it.
	takesArguments = lazyregexp.New(`(?i)argv|\bshift\b|\$1\b|Deno\.args`)
	// changesByName matches program text that changes files by their names.
	changesByName = lazyregexp.New(`(?i)write_?(?:file|text|bytes)|unlink|os\.remove|rename|put_contents|(?:File|IO)\.write|rmtree|truncate`)
)

// bareWords reports whether a language needs no quotes around a name.
func bareWords(program string) bool {
	switch program {
	case "tclsh", "wish", "expect", "pwsh", "powershell":
		return true
	}
	return false
}

// codeFolders returns the folders that the names in program text may lie in.
func (x *Scope) codeFolders(r *shell.Run, text string, literals []string) []string {
	start, ok := x.StartDir(r)
	if !ok {
		start = x.Cwd
	}
	folders := []string{start}
	if containsOne(text, codeHomes) || goesHome.MatchString(text) {
		folders = append(folders, x.Home)
	}
	if !containsOne(text, changesFolder) {
		return folders
	}
	for range 2 { // chdir home, then chdir .claude
		for _, folder := range folders {
			for _, name := range literals {
				name = homeAsTilde(name)
				if name == "" || len(name) > 256 || strings.ContainsAny(name, " \n\t;(){}<>=\"'") {
					continue
				}
				if full, ok := x.codePath(folder, name); ok && len(folders) < maxCodeFolders && !slices.Contains(folders, full) {
					folders = append(folders, full)
				}
			}
		}
	}
	return folders
}

// codePath returns the path below a folder that a name in program text means.
func (x *Scope) codePath(folder, name string) (string, bool) {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		return path.Join(x.Home, name[1:]), true
	case strings.HasPrefix(name, "~"):
		return "", false
	case path.IsAbs(name) && folder != x.Home:
		return path.Clean(name), true
	}
	return path.Join(folder, name), true // home + "/.claude" is a name below it, too
}

// joinedLiterals returns the literals, and what a program makes of neighbours when it joins them
// to one path: join('.claude', 'settings.json'), home + '/.claude/' + name.
func joinedLiterals(lits []string) []string {
	out := append([]string(nil), lits...)
	for i := range lits {
		joined, glued := lits[i], lits[i]
		for j := i + 1; j < len(lits) && j < i+4; j++ {
			if len(joined) > 1024 || len(out) > maxCodePaths/2 {
				break
			}
			joined += "/" + strings.TrimPrefix(lits[j], "/")
			glued += lits[j]
			out = append(out, joined, glued)
		}
	}
	return out
}

// fileName matches words in code that name a file without its folder: .env, key.json.
var fileName = lazyregexp.New(`^(?:\.[A-Za-z][\w-]{2,}(?:\.[\w-]+)*|[\w-]+\.(?:json|ya?ml|toml|ini|cfg|conf|pem|key|crt|p12|env|sql|sqlite|db|tf|tfvars|txt|md|sh|lock))$`)

// gatherCode collects the paths in program text on the command line: python -c,
// node -e, perl -e …
func (c *collector) gatherCode(add func(Access, ...shell.Word), r *shell.Run) {
	code, ok := r.Code()
	if !ok || shell.IsShell(r.Name()) {
		return
	}
	access := Use
	if CodeWrites(code) {
		access = Write
	}
	atHome := containsOne(code, codeHomes)
	for _, text := range QuotedIn(code) {
		if len(text) < 2 || len(text) > 512 || strings.ContainsAny(text, " \n\t$(){}<>;") ||
			strings.Contains(text, "://") {
			continue
		}
		if atHome && (strings.HasPrefix(text, "/.") || strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "./")) {
			text = "~/" + strings.TrimPrefix(text, "/")
		}
		if text[0] == '/' || text[0] == '~' || strings.Contains(text, "/") || fileName.MatchString(text) {
			add(access, shell.Word{Text: text, Bare: text, Tilde: text[0] == '~'})
		}
	}
}

func containsOne(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
