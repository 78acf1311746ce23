package ownfiles

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// harmlessSettings are variables of hookmux that change nothing about what runs.
var harmlessSettings = []string{"HOOKMUX_DEBUG", "HOOKMUX_VERIFY", "HOOKMUX_UPDATE", "HOOKMUX_MODEL_KEY"}

// isHookmuxSetting reports whether a variable of this name changes what hookmux does.
func isHookmuxSetting(name string) bool {
	if !strings.HasPrefix(name, "HOOKMUX_") {
		return false
	}
	for _, h := range harmlessSettings {
		if name == h || strings.HasPrefix(name, h+"_") {
			return false
		}
	}
	return true
}

// offSetting finds where a variable that switches hookmux off, or moves it, is set.
var offSetting = lazyregexp.New(`HOOKMUX_([A-Z0-9_]+_)?(DISABLED|RUNTIME_DIR)["']?\]?\s*[:=]`)

// switchesOff reports whether a text sets such a variable.
func switchesOff(text string) bool {
	return strings.Contains(text, "HOOKMUX_") && offSetting.MatchString(text)
}

// environmentFiles are patterns of files whose variables direnv and others set for what starts
// in their folder.
var environmentFiles = []string{".env", ".env.*", ".envrc", "*.env"}

func isEnvironmentFile(w shell.Word) bool {
	return slices.ContainsFunc(environmentFiles, func(pattern string) bool {
		ok, _ := path.Match(pattern, path.Base(w.Text))
		return ok
	})
}

// agentSetting finds a variable that keeps an agent from its hooks, where it's set.
var agentSetting = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, known := range agents() {
		for _, name := range slices.Concat(known.HooksOff.Moves, known.HooksOff.Variables) {
			if !strings.HasPrefix(name, "XDG_") {
				names = append(names, regexp.QuoteMeta(name))
			}
		}
	}
	return regexp.MustCompile(`(?:^|\\n|[\s;'"])(?:` + strings.Join(names, "|") + `)\s*=`)
})

func (t *Checker) checkAssignment(x *scope, r *shell.Run, name string) {
	if isHookmuxSetting(name) {
		x.Report.Add(
			"environment",
			r.Head(),
			fmt.Sprintf("sets %s, which turns hookmux off or swaps its settings",
				name),
		)
	}
}

// checkEnvironment denies the same through programs that set variables for others, and through
// lines written to a start file.
func (t *Checker) checkEnvironment(x *scope, r *shell.Run) {
	name := r.Name()
	switch name {
	case "systemctl", "launchctl", "tmux", "setx", "setenv", "dbus-update-activation-environment":
	case "echo", "printf", "tee", "cat", "sed":
		writes := name == "tee" || name == "sed" && facts.HasShort(r.Args(), 'i')
		files := slices.Clone(r.Args())
		for _, rd := range r.Redirects {
			writes = writes || rd.Writes()
			files = append(files, rd.Target)
		}
		for _, n := range x.RunsIn(r.To) {
			if x.Script.Programs.Of(n.Name()).Kind == programs.KindReplace {
				writes, files = true, append(files, n.Args()...)
			}
		}
		line := facts.JoinArgs(r.Args())
		if r.HasInput {
			line += " " + r.Input.Text
		}
		if !writes {
			return
		}
		if slices.ContainsFunc(files, isEnvironmentFile) && agentSetting().MatchString(line) {
			x.Report.Add("environment", r.Head(), "writes a setting that keeps an agent from its hooks into a file")
			return
		}
		if !switchesOff(line) {
			return
		}
		for _, rd := range r.Redirects {
			if strings.HasSuffix(rd.Target.Text, ".md") {
				return // documentation
			}
		}
		x.Report.Add("environment", r.Head(), "writes a setting that switches hookmux off into a file")
		return
	default:
		return
	}
	for _, a := range r.Args() {
		if n, _, _ := strings.Cut(a.Text, "="); isHookmuxSetting(n) {
			t.checkAssignment(x, r, n)
		}
	}
}

// offWords aren't verbs of hookmux, but using one means trying to get it out of the way.
var offWords = []string{"disable", "stop", "kill", "pause", "suspend", "deactivate", "bypass", "mute", "shutdown",
	"quit", "unload", "teardown", "remove", "purge", "skip"}

// checkControl denies commands of hookmux that only you may run.
func (t *Checker) checkControl(x *scope, r *shell.Run) {
	if name := strings.TrimSuffix(r.Name(), ".exe"); name != "hookmux" && !r.MayBe("hookmux") &&
		!x.isOtherName(r) {
		return
	}
	if facts.HasWord(r.Args(), "--help", "-h") {
		return
	}
	_, rest := facts.SplitFlags(r.Args())
	operands := make([]string, len(rest))
	for i, w := range rest {
		operands[i] = w.Text
	}
	verb, ok := t.verbs.Find(operands)
	if !ok && len(operands) > 0 && slices.Contains(offWords, operands[0]) {
		x.Report.Add("control", r.Head(),
			fmt.Sprintf("hookmux %s: only the user can turn hookmux off, not an agent", operands[0]))
	}
	if !ok || !verb.ForUser() {
		return
	}
	rule := "control"
	if verb.Path == "daemon" || strings.HasPrefix(verb.Path, "daemon ") {
		rule = "daemon"
	}
	x.Report.Add(rule, r.String(),
		fmt.Sprintf("hookmux %s %s: only the user can do that, not an agent", verb.Path, verb.Summary))
}

// isOtherName reports whether the program is hookmux under a name that an earlier
// part of this command gave it.
func (x *scope) isOtherName(r *shell.Run) bool {
	program := r.Argv[0].Text
	return x.names[withoutDot(program)] || x.foundByName && program == "{}"
}

// noteNames notes the names that a part of the command gives to hookmux (cp, ln, cat >), and
// whether it has find look for hookmux.
func (x *scope) noteNames(r *shell.Run) {
	switch kind := programs.Of(plainName(r.Name())).Kind; {
	case kind == programs.KindSearch:
		x.foundByName = x.foundByName || facts.HasWord(r.Args(), daemonNames...)
	case kind == programs.KindCopy, kind == programs.KindLink, kind == programs.KindMove:
		_, rest := facts.SplitFlags(r.Args())
		to, sources, ok := facts.SplitTarget(r.Args(), rest)
		if ok && slices.ContainsFunc(sources, ownBinary) {
			x.addName(to.Text)
		}
	case r.Name() == "cat":
		_, rest := facts.SplitFlags(r.Args())
		if len(rest) != 1 || !ownBinary(rest[0]) {
			return
		}
		for _, rd := range r.Redirects {
			if rd.Writes() {
				x.addName(rd.Target.Text)
			}
		}
	}
}

func (x *scope) addName(name string) {
	if x.names == nil {
		x.names = map[string]bool{}
	}
	x.names[withoutDot(name)] = true
}

// withoutDot returns a path without "./" before it.
func withoutDot(path string) string { return strings.TrimPrefix(path, "./") }

// removingVerbs are the verbs with which programs remove packages from the machine.
var removingVerbs = []string{"uninstall", "remove", "rm", "un", "r", "unlink", "purge", "autoremove",
	"erase", "del", "-r",
	"-P", "-e", "-R", "-Rs", "-Rns", "--remove", "--purge", "--erase", "--uninstall", "--unmerge"}

// checkRemoval denies removing the package: npm uninstall -g hookmux.
func checkRemoval(x *scope, r *shell.Run) {
	if !programs.Is(r.Name(), programs.RemovesPackages) || r.Contained || r.Remote || !facts.HasWord(r.Args(), removingVerbs...) {
		return
	}
	for _, a := range r.Args() {
		name, _, _ := strings.Cut(strings.TrimPrefix(a.Text, "@"), "@")
		if name == "hookmux" || strings.HasSuffix(name, "/hookmux") || name == "hookmux-bin" ||
			name == "nixpkgs#hookmux" {
			x.Report.Add("write", r.Head(), "removes hookmux")
			return
		}
	}
}
