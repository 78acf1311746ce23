package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// isPinned reports whether everything a hook starts stays what the user saw:
// trusted copies, and programs that take no code from the folder they run in.
// It looks at what will run, with the trusted copies put in. In doubt it says
// no; a mark too many costs a second look, one too few costs the trust.
func (f *TrustedContent) isPinned(reg hook.Registration) bool {
	if reg.Handler == "builtin" { // nothing is started
		return true
	}
	ready, err := f.Rewrite(reg)
	if err != nil {
		return false
	}
	if reg.Handler == hook.HandlerTypeScript {
		return f.isCopy(ready.Target)
	}
	script := shell.Parse(ready.Target)
	if !script.Readable() || riskyName.MatchString(ready.Target) || len(script.Runs) == 0 {
		return false
	}
	wrapped := false
	arguments := map[string]bool{}
	for i := range script.Runs {
		run := &script.Runs[i]
		if !f.runPinned(run) {
			return false
		}
		wrapped = wrapped || len(run.Via) > 0
		for _, a := range run.Args() {
			arguments[a.Text] = true
		}
	}
	// Wrappers are recognized by their last name and aren't runs of their own, so
	// ./scripts/env is looked for among the words that belong to no run.
	clean := true
	visitWords(ready, func(w word) (string, bool) {
		loose := w.command || wrapped && !arguments[w.text]
		if loose && strings.Contains(w.text, "/") && !f.isCopy(w.text) && !f.isOutside(w.text) {
			clean = false
		}
		return "", false
	})
	if wrapped {
		eachWord(ready.Target, func(written string, known bool) {
			if !known && strings.Contains(written, "/") && !arguments[strings.Trim(written, `"`)] {
				clean = false // $X/env would be taken for env
			}
		})
	}
	return clean
}

// isCopy reports whether a word names a trusted copy.
func (f *TrustedContent) isCopy(text string) bool {
	rel, ok := relativeTo(f.copy, text)
	return ok && filepath.IsAbs(text) && f.files[rel]
}

// isOutside reports whether a path is the same file wherever the hook runs, and
// none of the project.
func (f *TrustedContent) isOutside(path string) bool {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return false
	}
	for _, at := range []string{"/proc/", "/dev/fd/", "/dev/std"} { // the way back to the cwd, or to input
		if strings.HasPrefix(filepath.Clean(path), at) {
			return false
		}
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		if _, in := relativeTo(f.Root, resolved); in {
			return false
		}
	}
	_, in := relativeTo(f.Root, path)
	_, copied := relativeTo(f.copy, path) // of a file that was not there to be copied
	return !in && !copied
}

func (f *TrustedContent) runPinned(run *shell.Run) bool {
	if len(run.Dirs) > 0 || run.Remote || run.Contained ||
		slices.ContainsFunc(run.Via, func(via string) bool { return !plainVia(via) }) {
		return false
	}
	for _, a := range run.Assigns {
		if riskyName.MatchString(a.Name) {
			return false
		}
	}
	for _, w := range run.Argv {
		name, _, _ := strings.Cut(w.Text, "=")
		if riskyName.MatchString(name) && len(name) == len(riskyName.FindString(name)) {
			return false
		}
	}
	if len(run.Argv) == 0 || run.Local { // an assignment; a function, whose body has runs of its own
		return true
	}
	program := run.Argv[0]
	if f.isCopy(program.Text) {
		return true
	}
	if program.Dynamic || program.Glob && program.Text != "[" || program.Text == "" {
		return false
	}
	name, args := run.Name(), run.Args()
	if strings.Contains(program.Text, "/") && !f.isOutside(program.Text) {
		return false
	}
	family := strings.TrimRight(name, "0123456789.-")
	if shell.IsShell(name) {
		return f.scriptFirst(args, "abefhlmnuvxBCEHPT", true)
	}
	if flags, ok := scriptRunners[family]; ok {
		return f.scriptFirst(args, flags, false)
	}
	if check, ok := plainTools()[name]; ok {
		return check == nil || check(f, args)
	}
	// A program the user named by its own path is theirs, unless it is known
	// to run what it finds.
	return strings.Contains(program.Text, "/") && !slices.Contains(projectTools, name) &&
		!slices.Contains(projectTools, family)
}

// scriptFirst reports whether an interpreter is given a trusted copy to run,
// with nothing before it but flags that load nothing.
func (f *TrustedContent) scriptFirst(args []shell.Word, flags string, named bool) bool {
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case f.isCopy(text):
			return true
		case args[i].Dynamic:
			return false
		case named && (text == "-o" || text == "+o"): // -o pipefail
			i++
		case len(text) < 2 || text[0] != '-' && (!named || text[0] != '+'):
			return false
		case strings.Trim(text[1:], flags) != "":
			return false
		}
	}
	return false
}

// riskyName are variables that decide which code is loaded.
var riskyName = lazyregexp.New(`(?:^|[^$\w{])(PATH|\w+PATH|BASH_ENV|ENV|IFS|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|(?:LD|DYLD|PYTHON|NODE|PERL5?|RUBY|GIT|JQ|CURL|RIPGREP|GREP|JAVA|npm_config)_?[A-Z0-9_a-z]*(?:OPT|OPTIONS|LIB|PRELOAD|HOME|STARTUP|DIR|PAGER|EDITOR|COMMAND|OPTS|CONFIG))(?:\+?=|\b)`)

// plainVia are wrappers that run the command behind them and load nothing.
func plainVia(via string) bool {
	name := strings.TrimSuffix(via, " -c")
	if name != via {
		return shell.IsShell(name)
	}
	return strings.HasSuffix(via, "()") || slices.Contains([]string{
		"builtin", "caffeinate", "command", "env", "eval", "exec", "gtimeout", "gxargs", "ionice", "nice",
		"nohup", "setsid", "stdbuf", "time", "timeout", "trap", "xargs",
	}, via)
}

// scriptRunners run a file and read nothing from the folder they're started in, with the
// flags that may precede the file. Those that also read a settings file there (bun, deno,
// lua) aren't among them.
var scriptRunners = map[string]string{
	"python": "bBdEiIOqsSuvx", "pypy": "bBdEiIOqsSuvx", "node": "", "nodejs": "", "perl": "tTuUwWX", "ruby": "wWv",
	"php": "nq",
}
