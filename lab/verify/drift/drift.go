// Package drift finds how the newest release of an agent differs from the one that was recorded: events
// that are new or no longer come, fields of payloads that are new or gone, answers that are no longer
// used.
//
// Contract: it installs into a given folder and nowhere else, what it compares is data (rows of checks,
// recorded events), and it claims no difference that it didn't see: a check that couldn't be proven
// this time is listed separately from one that failed.
package drift

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/hookmux/hookmux/agent/recordings"
)

// State is how the newest release compares to what was recorded.
type State string

// The states. Only the first two are quiet.
const (
	Recorded       State = "recorded"        // the newest release is the recorded one; it was not asked again
	Same           State = "same"            // it was asked, and is as recorded
	Changed        State = "changed"         // it was asked, and differs
	NotInstallable State = "not-installable" // it could not be installed
	NotAsked       State = "not-asked"       // it could not be asked, or nothing is recorded to compare it with
)

// Difference describes the change in one agent.
type Difference struct {
	Agent    string `json:"agent"`
	Title    string `json:"title"`
	Recorded string `json:"recorded"`         // the release that was recorded, as the registry counts
	Newest   string `json:"newest,omitempty"` // the newest one
	State    State  `json:"state"`
	Why      string `json:"why,omitempty"` // of the last two states
	Changes
	Notes []string `json:"notes,omitempty"`
}

// Quiet reports whether it needs no attention.
func (d *Difference) Quiet() bool { return d.State == Recorded || d.State == Same }

// Changes are the differences themselves.
type Changes struct {
	NewEvents  []string `json:"newEvents,omitempty"`  // that came and never did
	LostEvents []string `json:"lostEvents,omitempty"` // that came and no longer do
	// NamedEvents are in the program among its events; the catalogue doesn't know them.
	NamedEvents []string `json:"namedEvents,omitempty"`
	NewFields   []Field  `json:"newFields,omitempty"`
	LostFields  []Field  `json:"lostFields,omitempty"`
	// Broken are claims that held and do not hold any more.
	Broken []Answer `json:"broken,omitempty"`
	// Unproven held and could not be asked this time, Gained hold now and could
	// not be asked then: both may be about the machine's mood, neither is a change.
	Unproven []Answer `json:"unproven,omitempty"`
	Gained   []Answer `json:"gained,omitempty"`
}

// Any reports whether something changed.
func (c *Changes) Any() bool {
	return len(c.NewEvents)+len(c.LostEvents)+len(c.NamedEvents)+len(c.NewFields)+len(c.LostFields)+len(c.Broken) > 0
}

// Field is one field of an event's payload, with dots between the steps.
type Field struct {
	Event string `json:"event"`
	Field string `json:"field"`
}

// Answer is a check whose outcome differs.
type Answer struct {
	Check string `json:"check"`
	Event string `json:"event,omitempty"`
	Claim string `json:"claim,omitempty"`
	Was   string `json:"was"`
	Now   string `json:"now"`
	Why   string `json:"why,omitempty"`
}

// ID names the check as `hookmux verify --check` takes it, with the check itself
// where several prove one claim.
func (a Answer) ID() string {
	switch {
	case a.Event == "":
		return a.Check
	case a.Claim == "" || a.Claim == a.Check:
		return a.Event + "." + a.Check
	}
	return a.Event + "." + a.Claim + " (" + a.Check + ")"
}

// Observed holds what was seen of one release.
type Observed struct {
	Rows   []recordings.Row
	Events []recordings.Line
}

// The marks of rows.
const (
	holds  = "✓"
	fails  = "✗"
	unsure = "–"
)

// Compare returns the differences. Sometimes are events that come often but not always.
func Compare(before, now Observed, sometimes func(event string) bool) Changes {
	var c Changes
	old, young := fieldsOf(before.Events), fieldsOf(now.Events)
	if len(now.Events) > 0 { // none: the events were not recorded, which proves nothing
		for event, fields := range young {
			if old[event] == nil {
				c.NewEvents = append(c.NewEvents, event)
				continue
			}
			for field := range fields {
				if !old[event][field] {
					c.NewFields = append(c.NewFields, Field{event, field})
				}
			}
		}
		for event, fields := range old {
			if young[event] == nil {
				if !sometimes(event) {
					c.LostEvents = append(c.LostEvents, event)
				}
				continue
			}
			for field := range fields {
				if !young[event][field] {
					c.LostFields = append(c.LostFields, Field{event, field})
				}
			}
		}
	}
	slices.Sort(c.NewEvents)
	slices.Sort(c.LostEvents)
	slices.SortFunc(c.NewFields, compareFields)
	slices.SortFunc(c.LostFields, compareFields)
	c.compareRows(before.Rows, now.Rows)
	return c
}

func compareFields(a, b Field) int {
	return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Field, b.Field))
}

// compareRows sorts the checks whose outcome differs.
func (c *Changes) compareRows(before, now []recordings.Row) {
	key := func(r recordings.Row) [3]string { return [3]string{r.Check, r.Event, r.Claim} }
	was := map[[3]string]string{}
	for _, r := range before {
		was[key(r)] = r.Mark
	}
	again := map[[3]string]bool{}
	for _, r := range now {
		again[key(r)] = true
		mark, asked := was[key(r)]
		if !asked || mark == r.Mark {
			continue // what was never asked differs in the catalogue, not in the agent
		}
		a := Answer{Check: r.Check, Event: r.Event, Claim: r.Claim, Was: mark, Now: r.Mark, Why: r.Why}
		switch {
		case r.Mark == fails:
			c.Broken = append(c.Broken, a)
		case mark == holds && r.Mark == unsure:
			c.Unproven = append(c.Unproven, a)
		case r.Mark == holds:
			c.Gained = append(c.Gained, a)
		}
	}
	for _, r := range before { // a run that ended early asks less
		if r.Mark == holds && !again[key(r)] {
			c.Unproven = append(c.Unproven, Answer{Check: r.Check, Event: r.Event, Claim: r.Claim, Was: r.Mark,
				Now: unsure, Why: "it was not asked"})
		}
	}
}

// fieldDepth is how deep objects of a payload are compared.
const fieldDepth = 2

// fieldsOf returns the fields of each event's payloads, all of them together.
func fieldsOf(lines []recordings.Line) map[string]map[string]bool {
	events := map[string]map[string]bool{}
	for _, l := range lines {
		fields := events[l.Event]
		if fields == nil {
			fields = map[string]bool{}
			events[l.Event] = fields
		}
		addFields(fields, "", l.Payload, fieldDepth)
	}
	return events
}

// addFields adds the keys of an object. What is below an object inside of the payload
// whose keys are no names (paths, ids) differs from run to run and is left out.
func addFields(fields map[string]bool, above string, raw json.RawMessage, depth int) {
	var object map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(raw, &object) != nil {
		return
	}
	if above != "" && slices.ContainsFunc(slices.Collect(maps.Keys(object)),
		func(k string) bool { return !isFieldName(k) }) {
		return
	}
	for key, value := range object {
		fields[above+key] = true
		addFields(fields, above+key+".", value, depth-1)
	}
}

// isFieldName reports whether a key names a field: a short word.
func isFieldName(key string) bool {
	return key != "" && len(key) <= 40 && strings.IndexFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && r != '_' && r != '-'
	}) < 0
}
