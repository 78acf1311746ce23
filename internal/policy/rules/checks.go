package rules

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
)

// Checks are a family of checks in Go: they decide what is too much for an expression, and one
// look at a command answers them all.
type Checks interface {
	// MustParse reports whether a command line may be one for them: a cheap look at its
	// text.
	MustParse(line string) bool
	// WatchesFolder reports whether a command line in this folder may be one for them even if it
	// names nothing: cat config, in ~/.aws.
	WatchesFolder(folder string) bool
	// CheckScript reports what is wrong with a command line.
	CheckScript(x *facts.Scope)
	// CheckPaths reports what is wrong with the paths that file tools name.
	CheckPaths(x *facts.Scope, input facts.InputPaths)
	// NamedIn returns the first thing they watch in text that can't be parsed, "" for none.
	NamedIn(text string) string
}

// splitCheck splits FAMILY.NAME.
func splitCheck(check string) (family, name string) {
	family, name, _ = strings.Cut(check, ".")
	return family, name
}

// runChecks compares the rules that name a check in Go with a call.
func (s *Set) runChecks(f *facts.Facts, lost *losses) []Hit {
	if len(s.checked) == 0 || f.Tool.Kind == "" && f.Tool.Name == "" && len(f.Lines()) == 0 {
		return nil
	}
	found := map[string][]facts.Found{}
	var hits []Hit
	for _, r := range s.checked {
		if r.Agents.matchText(f.Agent) == no || s.expired(r) || f.Event != "tool.before" && f.Event != "tool.permission.request" {
			continue
		}
		family, name := splitCheck(r.Check)
		list, known := found[family]
		if !known {
			list = s.runFamily(family, f)
			found[family] = list
		}
		at := slices.IndexFunc(list, func(one facts.Found) bool {
			return one.Check == name && !s.isExcepted(r, f, one.Line) && !(lost != nil && lost.Text && name == unreadable)
		})
		switch {
		case at >= 0:
			mode, verdict := s.modeOf(r), r.Decide
			if list[at].Ask || mode == Asks && verdict == Deny {
				verdict = Ask
			}
			hits = append(hits, Hit{Rule: r, ID: r.ID, Why: list[at].Reason, Verdict: verdict, Where: list[at].Where,
				Certain: true, LogOnly: mode == LogOnly, Unreadable: name == unreadable})
		case lost != nil && lost.Text && name != unreadable:
			lost.note(r)
		}
	}
	return hits
}

// isExcepted reports whether a rule doesn't apply to one of a call's command lines.
func (s *Set) isExcepted(r *Rule, f *facts.Facts, line int) bool {
	return s.options.Excepted != nil && line >= 0 && s.options.Excepted(r.ID, f.Lines()[line].Text)
}

// runFamily returns what the checks of a family find in a call.
func (s *Set) runFamily(family string, f *facts.Facts) []facts.Found {
	checks := s.options.Checks[family]
	report := &facts.Report{}
	lines := f.Lines()
	for i := range lines {
		before := len(report.List)
		report.Line = i
		if checks != nil && (checks.MustParse(lines[i].Text) || lines[i].Found != "" && checks.MustParse(lines[i].Found) ||
			checks.WatchesFolder(f.Cwd) ||
			lines[i].Script.Programs.MentionedIn(lines[i].Text)) {
			checks.CheckScript(f.ScopeOf(&lines[i], report))
		}
		if len(report.List) == before {
			reportUnreadable(report, &lines[i], checks)
		}
	}
	report.Line = -1
	if why := f.Input().Unreadable; why != "" {
		report.Add(unreadable, f.Tool.Name, "what "+f.Tool.Name+" does cannot be checked: "+why)
	}
	if checks != nil {
		checks.CheckPaths(f.ScopeOf(nil, report), f.Input())
	}
	return report.List
}
