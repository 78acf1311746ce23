package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/policy/rules"
)

// Report describes what rules would have done.
type Report struct {
	Scanned int `json:"scanned"`
	// Duplicates were reported twice, through another agent's file, and are counted once.
	Duplicates int        `json:"twins,omitempty"`
	From       *time.Time `json:"from,omitempty"`
	To         *time.Time `json:"to,omitempty"`
	Counts
	Rules    []*RuleCount  `json:"rules"`
	Agents   []*GroupCount `json:"agents"`
	Projects []*GroupCount `json:"projects"`

	byRule, byAgent, byProject map[string]*tallied
}

// Counts is how many calls would have had which outcome.
type Counts struct {
	Deny  int `json:"wouldDeny"`
	Ask   int `json:"wouldAsk"`
	Warn  int `json:"wouldWarn"`
	Allow int `json:"wouldAllow"`
	// Differs is the number of calls that had another outcome.
	Differs int `json:"differs"`
	// NotReplayable is the number of calls that lack something a rule needs.
	NotReplayable int `json:"notReplayable"`
}

// RuleCount describes what one rule, or a rule of a guard, would have done.
type RuleCount struct {
	ID string `json:"id"`
	// LogOnly is how many calls it would only have recorded.
	LogOnly int `json:"logOnly,omitempty"`
	Counts
	Samples []Sample `json:"samples,omitempty"` // the newest of the calls that it hits
}

// GroupCount describes what happened at one agent, or in one project.
type GroupCount struct {
	Name    string `json:"name"`
	Scanned int    `json:"scanned"`
	Counts
}

// Sample is one recorded call.
type Sample struct {
	ID       string        `json:"id"` // of the event: `hookmux why ID`
	Time     time.Time     `json:"time"`
	Agent    string        `json:"agent"`
	Project  string        `json:"project,omitempty"`
	Call     string        `json:"call"`
	Verdict  rules.Verdict `json:"verdict"`
	Happened string        `json:"happened"`

	number int
}

// recordedCall is a call as reports name it.
type recordedCall = Sample

type tallied struct {
	Counts
	scanned, logOnly int
	samples          []Sample
}

func newReport() *Report {
	return &Report{byRule: map[string]*tallied{}, byAgent: map[string]*tallied{}, byProject: map[string]*tallied{}}
}

func (r *Report) note(at time.Time) {
	if r.From == nil || at.Before(*r.From) {
		r.From = &at
	}
	if r.To == nil || at.After(*r.To) {
		r.To = &at
	}
}

// otherGroups is the name under which groups are counted once there are too many.
const otherGroups = "(others)"

func groupOf(groups map[string]*tallied, name string) *tallied {
	t := groups[name]
	if t == nil {
		if len(groups) >= maxGroups {
			name = otherGroups
			if t = groups[name]; t != nil {
				return t
			}
		}
		t = &tallied{}
		groups[name] = t
	}
	return t
}

func (c *Counts) add(verdict rules.Verdict, differs bool) {
	switch verdict {
	case rules.Deny:
		c.Deny++
	case rules.Ask:
		c.Ask++
	case rules.Warn:
		c.Warn++
	case rules.Allow:
		c.Allow++
	}
	if differs {
		c.Differs++
	}
}

func (c *Counts) sum(other Counts) {
	c.Deny += other.Deny
	c.Ask += other.Ask
	c.Warn += other.Warn
	c.Allow += other.Allow
	c.Differs += other.Differs
	c.NotReplayable += other.NotReplayable
}

// isOther reports whether what happened differs from what a verdict asks for. A warning changes
// nothing.
func isOther(verdict rules.Verdict, happened string) bool {
	switch verdict {
	case rules.Deny:
		return happened != "deny"
	case rules.Ask:
		return happened != "ask" && happened != "deny"
	case rules.Allow:
		return happened == "ask" || happened == "deny"
	}
	return false
}

// add counts one call.
func (r *Report) add(j evaluated, call recordedCall) {
	groups := []*tallied{groupOf(r.byAgent, call.Agent), groupOf(r.byProject, call.Project)}
	totals := []*Counts{&r.Counts, &groups[0].Counts, &groups[1].Counts}
	for _, g := range groups {
		g.scanned++
	}
	for _, c := range totals {
		// What is certainly denied stays denied, whatever the others would have said.
		if len(j.undecidable) > 0 && j.verdict != rules.Deny {
			c.NotReplayable++
			continue
		}
		c.add(j.verdict, isOther(j.verdict, call.Happened))
	}
	for _, id := range j.undecidable {
		groupOf(r.byRule, id).NotReplayable++
	}
	for _, h := range j.hits {
		t := groupOf(r.byRule, h.id)
		if h.logOnly {
			t.logOnly++
		} else {
			t.add(h.verdict, isOther(h.verdict, call.Happened))
		}
		sample := call
		sample.Verdict = h.verdict
		t.keepSample(sample)
	}
}

// keepSample keeps the newest few samples.
func (t *tallied) keepSample(s Sample) {
	t.samples = append(t.samples, s)
	if len(t.samples) > samples {
		slices.SortFunc(t.samples, func(a, b Sample) int { return cmp.Compare(b.number, a.number) })
		t.samples = t.samples[:samples]
	}
}

func (t *tallied) sum(other *tallied) {
	t.Counts.sum(other.Counts)
	t.scanned += other.scanned
	t.logOnly += other.logOnly
	for _, s := range other.samples {
		t.keepSample(s)
	}
}

func (r *Report) merge(other *Report) {
	r.Scanned += other.Scanned
	r.Duplicates += other.Duplicates
	r.Counts.sum(other.Counts)
	for _, at := range []*time.Time{other.From, other.To} {
		if at != nil {
			r.note(*at)
		}
	}
	for _, part := range []struct{ into, from map[string]*tallied }{
		{r.byRule, other.byRule}, {r.byAgent, other.byAgent}, {r.byProject, other.byProject},
	} {
		for name, t := range part.from {
			groupOf(part.into, name).sum(t)
		}
	}
}

// finish sorts what was counted: rules with the most hits come first, rules that hit nothing
// last.
func (r *Report) finish(list []*rules.Rule) {
	for _, rule := range list {
		groupOf(r.byRule, rule.ID)
	}
	r.Rules = []*RuleCount{}
	for id, t := range r.byRule {
		slices.SortFunc(t.samples, func(a, b Sample) int { return cmp.Compare(b.number, a.number) })
		r.Rules = append(r.Rules, &RuleCount{ID: id, LogOnly: t.logOnly, Counts: t.Counts, Samples: t.samples})
	}
	slices.SortFunc(r.Rules, func(a, b *RuleCount) int {
		return cmp.Or(cmp.Compare(b.hits(), a.hits()), cmp.Compare(b.NotReplayable, a.NotReplayable),
			cmp.Compare(a.ID, b.ID))
	})
	r.Agents, r.Projects = listGroups(r.byAgent), listGroups(r.byProject)
	r.byRule, r.byAgent, r.byProject = nil, nil, nil
}

func (c *RuleCount) hits() int { return c.Deny + c.Ask + c.Warn + c.Allow + c.LogOnly }

func listGroups(groups map[string]*tallied) []*GroupCount {
	list := []*GroupCount{}
	for name, t := range groups {
		list = append(list, &GroupCount{Name: name, Scanned: t.scanned, Counts: t.Counts})
	}
	slices.SortFunc(list, func(a, b *GroupCount) int {
		return cmp.Or(cmp.Compare(b.Deny+b.Ask, a.Deny+a.Ask), cmp.Compare(b.Scanned, a.Scanned),
			cmp.Compare(a.Name, b.Name))
	})
	return list
}
