package replay

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// hiddenWord replaces in a command what was redacted: a variable that isn't set.
const (
	hiddenName = "HOOKMUX_REDACTED"
	hiddenWord = "${" + hiddenName + "}"
)

// neverRecorded are facts that no journal holds: the repository has changed since. Counts are
// computed again if a turn was recorded whole.
var neverRecorded = facts.Set(0).With(facts.BranchFact, facts.RemoteFact, facts.DirtyFact, facts.TrackedFact,
	facts.CountsFact, facts.UsageFact) &^ facts.Set(0).With(facts.PathsFact)

var textFacts = facts.Set(0).With(facts.CommandsFact, facts.PathsFact, facts.NetFact, facts.FlowsFact)

// evaluated is the verdict that one call would have got.
type evaluated struct {
	verdict     rules.Verdict // the strongest of those that apply
	hits        []ruleVerdict
	undecidable []string
}

// ruleVerdict is the verdict that one rule or guard would have had.
type ruleVerdict struct {
	id      string
	verdict rules.Verdict
	logOnly bool
}

// evaluate asks rules and guards about a recorded call.
func (w *worker) evaluate(ev *event.Event, at place, entry countedEntry) evaluated {
	lost := rules.Losses{Facts: neverRecorded, Attended: ev.Attended == event.AttendedUnknown}
	if entry.counted {
		lost.Facts = lost.Facts.Without(facts.CountsFact)
	}
	hidden, cut := revealLosses(ev)
	if hidden || cut {
		lost.Facts, lost.Text = lost.Facts|textFacts, true
	}
	options := facts.Options{Home: w.Home, Parse: w.parseRecorded, Root: w.GroupOf,
		Counts: func(*event.Event) (facts.Counts, bool) { return entry.counts, entry.counted }}
	started := ""
	if w.StartOf != nil && ev.Session != "" {
		var err error
		started, err = w.startOf(ev)
		lost.Start, options.StartUnknown = err != nil, err != nil
	}
	decide := func(at place) evaluated {
		f := facts.Collect(ev, at.project, at.set.Needs(), options)
		if cut || hidden && len(ev.Tool.Commands) == 0 {
			for _, n := range facts.Names() {
				if textFacts.Has(n) && at.set.Needs().Has(n) && !slices.Contains(f.Unknown, n) {
					f.Unknown = append(f.Unknown, n)
				}
			}
		}
		return evaluatedAs(at.set.DecideRecorded(f, lost))
	}
	out := decide(at)
	if started != "" && started != ev.Cwd {
		options.Started = started
		out.join(decide(w.placeOf(started)))
	}
	return out
}

func evaluatedAs(result rules.Result, open []*rules.Rule) evaluated {
	out := evaluated{verdict: result.Verdict}
	for _, h := range result.Hits {
		out.hits = append(out.hits, ruleVerdict{h.ID, h.Verdict, h.LogOnly})
	}
	for _, r := range open {
		out.undecidable = append(out.undecidable, r.ID)
	}
	return out
}

// join adds what rules would have said in the folder where the session started: a rule that
// stops, asks or warns applies if it does so in one of the two places, one that allows only if
// it does so in both.
func (j *evaluated) join(start evaluated) {
	isAllow := func(s ruleVerdict) bool { return s.verdict == rules.Allow }
	if j.verdict == rules.Allow && start.verdict != rules.Allow {
		j.verdict, j.hits = rules.NoVerdict, slices.DeleteFunc(j.hits, isAllow)
	}
	for _, one := range start.hits {
		if at := slices.IndexFunc(j.hits, func(s ruleVerdict) bool { return s.id == one.id }); at < 0 && !isAllow(one) {
			j.hits = append(j.hits, one)
		} else if at >= 0 && one.verdict.Strength() > j.hits[at].verdict.Strength() {
			j.hits[at] = one
		}
	}
	if start.verdict != rules.Allow && start.verdict.Strength() > j.verdict.Strength() {
		j.verdict = start.verdict
	}
	for _, id := range start.undecidable {
		if !slices.Contains(j.undecidable, id) {
			j.undecidable = append(j.undecidable, id)
		}
	}
}

// revealLosses finds out whether text of a call was redacted or cut, and replaces what was
// redacted by a word that may be anything.
func revealLosses(ev *event.Event) (hidden, cut bool) {
	t := ev.Tool
	if t == nil {
		return false, false
	}
	cut = ev.Truncated || ev.Unreadable() != ""
	texts := [][]string{t.Commands, t.Reads, t.Writes}
	for _, list := range texts {
		for i, text := range list {
			cut = cut || redactmarks.IsCut(text)
			if clean, found := redactmarks.ReplaceAll(text, hiddenWord); found {
				list[i], hidden = clean, true
			}
		}
	}
	if clean, found := redactmarks.ReplaceAll(t.URL, hiddenWord); found {
		t.URL, hidden = clean, true
	}
	return hidden, cut || redactmarks.IsCut(t.URL)
}

// parseRecorded reads a command in which words may be anything, wherever they are quoted.
func (w *worker) parseRecorded(text string) *shell.Script {
	if !strings.Contains(text, hiddenWord) {
		return w.scripts.Parse(text)
	}
	script := shell.Parse(text)
	for i := range script.Runs {
		argv := script.Runs[i].Argv
		for j := range argv {
			argv[j].Dynamic = argv[j].Dynamic || strings.Contains(argv[j].Text, hiddenName)
		}
	}
	return &script
}
