package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// gitNested looks for commands that git itself will run.
func gitNested(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	dirs := w.dirs
	for i := 0; i < len(args) && strings.HasPrefix(args[i].Text, "-"); i++ {
		if args[i].Text == "-C" && i+1 < len(args) && len(w.dirs) < maxDirs {
			w.dirs = append(w.dirs[:len(w.dirs):len(w.dirs)], args[i+1])
		}
		if programs.GitTakesValue(args[i].Text) {
			i++
		}
	}
	w.recordRun(run, c)
	w.dirs = dirs
	in := c.startedBy(name)
	for i, a := range args {
		next := Word{}
		if i+1 < len(args) {
			next = args[i+1]
		}
		before := ""
		if i > 0 {
			before = args[i-1].Text
		}
		switch {
		case a.Text == "-c":
			key, value, _ := strings.Cut(next.Text, "=")
			walkGitSetting(w, run, gitSetting{key, value, args[min(i+2, len(args)):]}, in, hops)
		case strings.HasPrefix(a.Text, "--config-env"):
			setting := strings.TrimPrefix(strings.TrimPrefix(a.Text, "--config-env"), "=")
			if setting == "" {
				setting = next.Text
			}
			key, variable, _ := strings.Cut(setting, "=")
			if value, ok := w.vars.lookupVariable(variable); ok {
				walkGitSetting(w, run, gitSetting{key, value.Text, nil}, in, hops)
			}
		case strings.HasPrefix(a.Text, "ext::"):
			walkWords(w, run, literalWords(foreign.TransportWords(a.Text[len("ext::"):])), in, hops)
		case a.Text == "config":
			walkGitConfig(w, run, args[i+1:], in, hops)
		case a.Text == "foreach" && before == "submodule":
			rest := args[i+1:]
			rest = rest[min(skipOptions(rest, "", nil), len(rest)):]
			w.tryText(joinTexts(rest), in.withVia("submodule foreach"))
			return true
		case a.Text == "run" && before == "bisect" && i+1 < len(args):
			nested := run
			nested.Argv = args[i+1:]
			w.resolveRun(nested, in.withVia("bisect run"), hops+1)
			return true
		case (a.Text == "--exec" || a.Text == "-x") && next.Text != "":
			w.tryText(next.Text, in.withVia(a.Text))
		case strings.HasPrefix(a.Text, "--exec="), strings.HasPrefix(a.Text, "-x") && len(a.Text) > 2:
			w.tryText(strings.TrimPrefix(strings.TrimPrefix(a.Text, "--exec="), "-x"), in.withVia("--exec"))
		case strings.HasPrefix(a.Text, "--open-files-in-pager="), strings.HasPrefix(a.Text, "-O"):
			w.tryText(strings.TrimPrefix(strings.TrimPrefix(a.Text, "--open-files-in-pager="), "-O"), in)
		}
	}
	return true
}

// walkGitConfig reads git config core.pager text and git config set alias.x '!text'.
func walkGitConfig(w *walker, run Run, args []Word, c inherited, hops int) {
	at := skipOptions(args, "f", []string{"--file", "--type", "--blob", "--comment", "--value"})
	rest := args[min(at, len(args)):]
	if len(rest) > 0 && (rest[0].Text == "set" || rest[0].Text == "add") {
		rest = rest[1:]
		rest = rest[min(skipOptions(rest, "f", []string{"--file", "--type", "--comment", "--value"}), len(rest)):]
	}
	if len(rest) > 1 {
		walkGitSetting(w, run, gitSetting{key: rest[0].Text, value: rest[1].Text}, c, hops)
	}
}

// gitSetting is a setting given to git on a command line, and what follows it there.
type gitSetting struct {
	key, value string
	args       []Word // after the setting; none if the setting is only stored
}

// walkGitSetting follows a setting whose value git runs. An alias without "!" is
// a git command, to which the setting's args are added.
func walkGitSetting(w *walker, run Run, setting gitSetting, c inherited, hops int) {
	key, args := setting.key, setting.args
	if setting.value == "" || !programs.GitRunsSetting(key) {
		return
	}
	text, isShell := strings.CutPrefix(strings.TrimSpace(setting.value), "!")
	if isShell || !strings.HasPrefix(strings.ToLower(key), "alias.") {
		w.tryText(text, c.withVia(key))
		return
	}
	nested := run
	nested.Argv = append([]Word{{Text: "git", Bare: "git"}}, splitBlanks(text)...)
	if len(args) > 0 && args[0].Text == key[len("alias."):] {
		nested.Argv = append(nested.Argv, args[1:]...)
	}
	w.resolveRun(nested, c.withVia(key), hops+1)
}
