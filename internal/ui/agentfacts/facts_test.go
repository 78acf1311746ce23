package agentfacts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
)

func factsOf(t *testing.T, name string, rows ...recordings.Row) Facts {
	t.Helper()
	a, ok := agent.Builtin().Agent(name)
	if !ok {
		t.Fatalf("no agent %s; want ok", name)
	}
	f := Facts{Agent: a, Seen: recordings.Summary{Rows: rows}}
	if len(rows) > 0 {
		f.Seen.Version = "1"
	}
	return f
}

// Only what a real agent did makes it tested.
func TestEvidence(t *testing.T) {
	row := func(check, event, claim, mark string) recordings.Row {
		return recordings.Row{Check: check, Event: event, Claim: claim, Mark: mark}
	}
	deny := row("deny", "PreToolUse", "deny", "✓")
	all := []recordings.Row{deny, row("input", "PreToolUse", "input", "✓"),
		row("context", "SessionStart", "context", "✓"), row("keep", "Stop", "keep", "✓")}
	for _, c := range []struct {
		want Evidence
		rows []recordings.Row
	}{
		{Documented, nil},
		{Documented, []recordings.Row{row("turn", "", "", "✓")}},
		{Documented, []recordings.Row{row("deny", "PreToolUse", "deny", "–")}},
		{Tested, []recordings.Row{row("decodes", "PreToolUse", "", "✓"), row("decodes", "PostToolUse", "", "✓")}},
		{Tested, []recordings.Row{deny, row("input", "PreToolUse", "input", "–")}},
		{Tested, all},
	} {
		if got := factsOf(t, "claude", c.rows...).Evidence(); got != c.want {
			t.Errorf("evidence with %v = %s, want %s", c.rows, got, c.want)
		}
	}
	if got := (Facts{Agent: &agent.Agent{}}).Evidence(); got != Untested {
		t.Errorf("evidence of an agent without claims = %s, want %s", got, Untested)
	}
}

func TestPowers(t *testing.T) {
	for name, want := range map[string]Power{"claude": PowerApprove, "kimi": PowerBlock} {
		if got := factsOf(t, name).ClaimedPower(); got != want {
			t.Errorf("power of %s = %s, want %s", name, got, want)
		}
	}
	observes := Facts{Agent: &agent.Agent{Events: []*agent.EventSpec{{Name: "Stop", Kind: "turn.end"}}}}
	if got := observes.ClaimedPower(); got != PowerWatch {
		t.Errorf("power of an agent that takes no answer = %s, want %s", got, PowerWatch)
	}
	if got := (Facts{Agent: &agent.Agent{}}).ClaimedPower(); got != PowerNone {
		t.Errorf("power of an agent without events = %s, want %s", got, PowerNone)
	}
}

// Each event stands in one row of time limits.
func TestTimeLimits(t *testing.T) {
	f := factsOf(t, "claude")
	seen := map[string]TimeLimit{}
	for _, l := range f.TimeLimits() {
		for _, e := range l.Events {
			if _, twice := seen[e]; twice {
				t.Errorf("%s stands twice; want !twice", e)
			}
			seen[e] = l
		}
	}
	if len(seen) != len(f.Agent.Events) {
		t.Errorf("%d events have limits, want %d", len(seen), len(f.Agent.Events))
	}
	if l := seen["SessionEnd"]; l.Default != 1500*time.Millisecond || l.Asked != 5*time.Second || l.Most != time.Minute {
		t.Errorf("SessionEnd = %+v, want 1.5s, 5s and 1m", l)
	}
}

// A ✓ beside a ✗ is a ✗, and what was not asked has no mark.
func TestMarkIsTheWorst(t *testing.T) {
	f := factsOf(t, "claude", recordings.Row{Event: "Stop", Claim: "keep", Mark: "✓"},
		recordings.Row{Event: "Stop", Claim: "keep", Mark: "✗"})
	if got := f.MarkOf("Stop", "keep"); got != "✗" {
		t.Errorf("mark = %q, want ✗", got)
	}
	if got := f.MarkOf("Stop", "deny"); got != "" {
		t.Errorf("mark of what was not asked = %q, want none", got)
	}
}

// What a real agent did in the recorded run stands in the catalogue as that, and what only a played part of the
// vendor's did stands there by the vendor's word and counts for nothing more.
func TestProofsSayWhoDidIt(t *testing.T) {
	played := map[string]bool{"amp agent.start context": true, "amp agent.end keep": true} // Amp's service takes them up
	for _, a := range agent.Builtin().Agents() {
		f, err := FactsOf(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range f.Seen.Rows {
			e, ok := a.Event(r.Event)
			if !ok || r.Claim == "" || r.Mark != "✓" {
				continue
			}
			if claim := a.Name + " " + r.Event + " " + r.Claim; byWordAlone(e, r.Claim) != played[claim] {
				t.Errorf("%s: by the vendor's word alone is %v, want %v: %s", claim, byWordAlone(e, r.Claim), played[claim],
					r.Why)
			}
		}
	}
	for _, a := range agent.Builtin().Agents() {
		f, err := FactsOf(a)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range a.Events {
			for _, c := range e.Claims() {
				seen := slices.ContainsFunc(f.Seen.Rows, func(r recordings.Row) bool {
					return r.Event == e.Name && r.Claim == c.Name && r.Mark == "✓"
				})
				kind, run := agent.SplitProof(c.Capability.Proof)
				if kind == agent.Tested && strings.HasPrefix(run, "verify: ") && !seen {
					t.Errorf("%s %s: %s is proven by a run of verify, and none is recorded", a.Name, e.Name, c.Name)
				}
			}
		}
	}
	amp, _ := agent.Builtin().Agent("amp")
	if f, err := FactsOf(amp); err != nil || f.Proven("keep") || !f.Proven("deny") {
		t.Errorf("Amp (%v): keep is proven: %v, deny: %v; want deny alone", err, f.Proven("keep"), f.Proven("deny"))
	}
}
