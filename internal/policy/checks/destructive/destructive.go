// Package destructive implements the guard against commands that lose data or break a
// machine or a service.
package destructive

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// rule looks at one run. Rules are found by the kind of its program.
type rule func(x *scope, r *shell.Run)

// scope is the context in which the rules of one command run.
type scope struct{ *facts.Scope }

// ResolveWord returns where a word points, following links: those on the disk, and those that
// this very command makes. What is done to a link itself isn't done to where it leads.
func (x *scope) ResolveWord(w shell.Word, r *shell.Run) facts.Place {
	p := x.Scope.ResolveWord(w, r)
	if !p.Known || r == nil || r.Contained || r.Remote || w.Glob && !p.All {
		return p
	}
	enters := p.All || strings.HasSuffix(w.Text, "/") || strings.HasSuffix(w.Text, "/.") ||
		facts.HasWord(r.Args()[:min(1, len(r.Args()))], "-L", "-H")
	to, linked := x.LinkTarget(p.Path)
	if !linked || !enters {
		to, linked = x.RealPath(p.Path, enters)
	}
	if !linked {
		return p
	}
	// The project itself may be reached by a link.
	if project, ok := x.RealPath(x.Project, true); ok && facts.IsUnder(to, project) {
		return p
	}
	real := p
	real.Path = to
	if x.WhyBroad(real) == facts.NotBroad && !(x.IsOutside(real) && facts.IsUnder(to, x.Home)) {
		return p
	}
	return real
}

var (
	setupOnce sync.Once
	ruleTable map[programs.Kind]rule
	needles   *facts.Needles
)

// Checker checks commands against the rules of this package.
type Checker struct{}

// New makes a checker. All checkers share one table of rules.
func New() Checker {
	setupOnce.Do(setUpTable)
	return Checker{}
}

// MustParse reports whether a command names something that has a rule.
func (Checker) MustParse(command string) bool { return needles.MustParse(command) }

// WatchesFolder always returns false: what deletes is named in the command.
func (Checker) WatchesFolder(string) bool { return false }

// CheckPaths does nothing: file tools lose no more than one file.
func (Checker) CheckPaths(*facts.Scope, facts.InputPaths) {}

// CheckScript reports what a command would destroy.
func (Checker) CheckScript(s *facts.Scope) { checkScript(&scope{s}) }

func setUpTable() {
	t := map[programs.Kind]rule{}
	add := func(f rule, kinds ...programs.Kind) {
		for _, k := range kinds {
			t[k] = f
		}
	}
	add(rmRule, programs.KindDelete)
	add(desktopFileRule, programs.KindDesktop)
	add(findRule, programs.KindSearch)
	add(permissionRule, programs.KindMode)
	add(ddRule, programs.KindRawCopy)
	add(shredRule, programs.KindErase)
	add(deviceRule, programs.KindDevice)
	add(volumeRule, programs.KindVolume)
	add(overwriteRule, programs.KindMove, programs.KindCopy, programs.KindLink, programs.KindReplace)
	add(signalRule, programs.KindSignal)
	add(windowsRule, programs.KindRemoveFolder)
	add(unpackRule, programs.KindUnpack, programs.KindPatches)
	add(cmdletRule, programs.KindCmdlet)
	add(archiveMoveRule, programs.KindArchive)
	add(mirrorRule, programs.KindMirror)
	add(powershellRule, programs.KindCmdlets)
	ruleTable = t

	words := []string{"mkfs", "/dev/", "/proc/", "curl", "wget", "base64", "xxd", "fork",
		"manage.py", ":(", "() {", "(){", "eval", "source", "while true", "while :", "while [", "until ", "for ((", "for((", "openssl", "npx", ">|", "/dev/sd", "system(", "exec",
		"remove-item", "format", "xargs", "tell app",
		"> .env", ">.env", "tfstate",
		"> ~", ">~", ">/", "> /", "> .git", ">.git", "truncate", "drop ", "flush", "bash <", "sh <", "|sh", "| sh",
		"|bash",
		"| bash", "|zsh", "| zsh", "| sudo", "nc", "rev", ">(", "make",
		"oldpwd", "sponge", "-sdel", "gdb", "lldb", "sed", "su ", "delete", "emacs", "vim"}
	for _, call := range slices.Concat(facts.DeletersInCode, facts.FileDeletersInCode) {
		words = append(words, strings.ToLower(call))
	}
	words = append(words, programs.OfKind(slices.Collect(maps.Keys(t))...)...)
	words = append(words, programs.With(func(p *programs.Program) bool { return len(p.Does[programs.Disables]) > 0 })...)
	words = append(append(words, programs.OfKind(programs.KindRename)...), "inplace", "-i", "ex ", "ed ", "vi ")
	needles = facts.NewNeedles(true, words...)
}

func checkScript(x *scope) {
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		redirectRule(x, r)
		if len(r.Argv) == 0 {
			continue
		}
		forkRule(x, r)
		if r.Local {
			continue
		}
		codeRule(x, r)
		disablesRule(x, r)
		removedList(x, r)
		documentsRule(x, r)
		name := r.Name()
		if f, ok := ruleTable[x.Script.Programs.Of(name).Kind]; ok {
			f(x, r)
			continue
		}
		if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs_") {
			deviceRule(x, r)
			continue
		}
		if r.Argv[0].Glob || r.Argv[0].Dynamic {
			hiddenProgram(x, r)
		}
	}
	for _, h := range x.HostRuns() {
		redirectRule(x, h)
		disablesRule(x, h)
		if f, ok := ruleTable[x.Script.Programs.Of(h.Name()).Kind]; ok {
			f(x, h)
		}
	}
}

// patternKinds are the programs that a pattern is tried for.
var patternKinds = []programs.Kind{programs.KindDelete, programs.KindRawCopy, programs.KindErase, programs.KindMode,
	programs.KindSearch, programs.KindMove}

var namesOfKinds = sync.OnceValue(func() map[programs.Kind][]string {
	out := map[programs.Kind][]string{}
	for _, k := range patternKinds {
		out[k] = programs.OfKind(k)
	}
	return out
})

// alwaysDisables are the programs that do so however they are called.
var alwaysDisables = sync.OnceValue(func() []string {
	return programs.With(func(p *programs.Program) bool {
		_, found := p.Phrase(programs.Disables, nil)
		return found
	})
})

// hiddenProgram checks a run whose program isn't literal. A pattern is treated as what it can
// match; an unknown word is treated as rm if its arguments look like rm's.
func hiddenProgram(x *scope, r *shell.Run) {
	if r.Argv[0].Glob {
		for _, k := range patternKinds {
			if slices.ContainsFunc(namesOfKinds()[k], r.MayBe) {
				ruleTable[k](x, r)
			}
		}
		if slices.ContainsFunc(alwaysDisables(), r.MayBe) {
			x.Report.Add("system", r.Head(), "stops the machine")
		}
		return
	}
	flags, _ := facts.SplitFlags(r.Args())
	if facts.HasShort(flags, 'r', 'R') && facts.HasShort(flags, 'f') {
		rmRule(x, r)
	}
}
