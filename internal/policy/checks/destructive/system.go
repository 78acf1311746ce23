package destructive

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// disablesRule checks what a program disables according to its description.
func disablesRule(x *scope, r *shell.Run) {
	p := x.Script.Programs.Of(r.Name())
	phrase, found := p.Phrase(programs.Disables, facts.KnownTexts(r.Args()))
	if !found || r.Contained || facts.HasLong(r.Args(), "--help", "--dry-run") {
		return
	}
	x.Report.Add("system", r.Head(), strings.TrimSpace(r.Name()+" "+withoutMarks(phrase))+
		" stops the machine, or takes away what it or its owner needs")
}

// withoutMarks returns a phrase as a user would type it.
func withoutMarks(phrase string) string {
	var out []string
	for w := range strings.FieldsSeq(phrase) {
		if w, _, _ = strings.Cut(w, "|"); !strings.HasPrefix(w, "!") && !strings.HasPrefix(w, "@") && w != "*" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// removedList checks a package manager that is given a list of everything to remove.
func removedList(x *scope, r *shell.Run) {
	flags, rest := facts.SplitFlags(r.Args())
	removes := len(rest) > 0 && facts.HasWord(rest[:1], "uninstall", "remove", "rm", "purge", "erase", "del", "un") ||
		facts.HasShort(flags, 'R')
	if removes && programs.Is(r.Name(), programs.RemovesPackages) && slices.ContainsFunc(rest, func(w shell.Word) bool { return !w.From.Empty() }) {
		x.Report.Add("system", r.Head(), r.Name()+" uninstalls everything in a list")
	}
}

// signalRule checks what kills every process there is, or all of a user's.
func signalRule(x *scope, r *shell.Run) {
	if r.Contained {
		return
	}
	if programs.Is(r.Name(), programs.ProcessTool) {
		killRule(x, r, r.Args())
		return
	}
	flags, rest := facts.SplitFlags(r.Args())
	if facts.HasShort(flags, 'u', 'U') && len(rest) <= 1 || facts.HasWord(rest, ".", ".*", "-1") {
		x.Report.Add("system", r.Head(), r.Name()+" kills all of somebody's processes")
	}
}

// killRule checks kill -9 -1, which means every process there is; 1 is the first process.
func killRule(x *scope, r *shell.Run, args []shell.Word) {
	signal := false
	for i, a := range args {
		t := a.Text
		if i == 0 && len(t) > 1 && t[0] == '-' {
			signal = true
			if t == "-l" || t == "-L" {
				return
			}
			continue
		}
		if t == "-1" && signal || t == "-1" && facts.HasWord(args, "--") || t == "1" && !(args[0].Text == "-s" ||
			args[0].Text == "-n" || args[0].Text == "-0") {
			x.Report.Add("system", r.Head(), "kill of every process, or of the first one")
			return
		}
	}
}
