package event

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDegrade(t *testing.T) {
	all := Carries{Allow: true, Deny: true, Ask: true, Input: true, Output: true, Context: true, Keep: true,
		Notice: true}
	input := raw(`{"a":1}`)
	for _, c := range []struct {
		name    string
		in      Decision
		carries Carries
		want    Decision
		noted   string // how the notes begin, joined
	}{
		{"nothing", Decision{}, Carries{}, Decision{}, ""},
		{"all carried",
			Decision{Verdict: Modify, Allowed: true, Input: input, Output: raw("1"), Context: "c", Notice: "n", KeepGoing: true}, all,
			Decision{Verdict: Modify, Allowed: true, Input: input, Output: raw("1"), Context: "c", Notice: "n", KeepGoing: true}, ""},
		{"ask → deny", Decision{Verdict: Ask, Reason: "really?"}, Carries{Deny: true}, Decision{Verdict: Deny, Reason: "really?"}, "ask → deny"},
		{"ask → deny without a reason", Decision{Verdict: Ask}, Carries{Deny: true},
			Decision{Verdict: Deny, Reason: "a hook wants the user to approve this"}, "ask → deny"},
		{"ask → deny → none", Decision{Verdict: Ask, Reason: "r"}, Carries{}, Decision{Reason: "r"}, "ask → deny|deny → none"},
		{"ask stays", Decision{Verdict: Ask, Input: input}, Carries{Ask: true, Input: true}, Decision{Verdict: Ask, Input: input}, ""},
		{"changed input → deny", Decision{Verdict: Modify, Input: input}, Carries{Deny: true},
			Decision{Verdict: Deny, Reason: "a hook wants this call changed, which this agent cannot do; change it and try again"}, "changed input → deny"},
		{"the change's reason goes along", Decision{Verdict: Modify, Input: input, Reason: "use rg"}, Carries{Deny: true},
			Decision{Verdict: Deny, Reason: "use rg"}, "changed input → deny"},
		{"the approval's reason does not", Decision{Verdict: Allow, Input: input, Reason: "fine so"}, Carries{Deny: true, Allow: true},
			Decision{Verdict: Deny, Reason: "a hook wants this call changed, which this agent cannot do; change it and try again"}, "changed input → deny"},
		{"asked and changed", Decision{Verdict: Ask, Input: input, Reason: "r"}, Carries{Deny: true, Ask: true},
			Decision{Verdict: Deny, Reason: "r"}, "changed input → deny"},
		{"allow → none", Decision{Verdict: Allow, Reason: "r"}, Carries{Deny: true}, Decision{Reason: "r"}, "allow → none"},
		{"changed and allowed → changed", Decision{Verdict: Modify, Input: input, Allowed: true}, Carries{Input: true},
			Decision{Verdict: Modify, Input: input}, "allow → none"},
		{"modify of nothing", Decision{Verdict: Modify}, all, Decision{}, ""},
		{"deny", Decision{Verdict: Deny, Reason: "two\nlines", Input: input}, all, Decision{Verdict: Deny, Reason: "two lines"}, ""},
		{"deny without a reason", Decision{Verdict: Deny}, all, Decision{Verdict: Deny, Reason: DefaultReason}, ""},
		{"deny → none", Decision{Verdict: Deny, Reason: "no"}, Carries{Context: true}, Decision{Reason: "no"}, "deny → none"},
		{"result dropped", Decision{Output: raw("1")}, Carries{}, Decision{}, "changed result dropped"},
		{"context dropped", Decision{Context: "c"}, Carries{}, Decision{}, "context dropped"},
		{"keep-going dropped", Decision{KeepGoing: true, Reason: "go"}, Carries{}, Decision{Reason: "go"}, "keep-going dropped"},
		{"a notice is shown elsewhere", Decision{Notice: "n"}, Carries{}, Decision{}, ""},
	} {
		got := Degrade(c.in, c.carries)
		var notes []string
		for _, n := range got.Degraded {
			what, _, _ := strings.Cut(n.String(), ":")
			notes = append(notes, what)
		}
		if strings.Join(notes, "|") != c.noted {
			t.Errorf(`%s: noted %q; want strings.Join(notes, "|") == c.noted`, c.name, got.Degraded)
		}
		got.Degraded = nil
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestDegradeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDecision(t)
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		c := Carries{
			Allow: flag("allow"), Deny: flag("deny"), Ask: flag("ask"), Input: flag("input"),
			Output: flag("output"), Context: flag("context"), Keep: flag("keep"), Notice: flag("notice"),
		}
		got := Degrade(d, c)
		for name, claims := range map[string]bool{
			"allow":   !c.Allow && (got.Verdict == Allow || got.Allowed),
			"deny":    !c.Deny && got.Verdict == Deny,
			"ask":     !c.Ask && got.Verdict == Ask,
			"input":   !c.Input && (got.Input != nil || got.Verdict == Modify),
			"output":  !c.Output && got.Output != nil,
			"context": !c.Context && got.Context != "",
			"keep":    !c.Keep && got.KeepGoing,
			"notice":  !c.Notice && got.Notice != "",
		} {
			if claims {
				t.Fatalf("%s is claimed: %+v of %+v", name, got, d)
			}
		}
		if got.Verdict == Deny && (strings.TrimSpace(got.Reason) == "" || strings.ContainsAny(got.Reason, "\n\r") ||
			got.Input != nil) {
			t.Fatalf("a deny like this is no deny: %+v", got)
		}
		// Whatever was there and is gone was noted; a verdict never gets weaker
		// than none of the safe neighbours, and never becomes an approval.
		before := d.Normalized()
		if before.Verdict != got.Verdict && len(got.Degraded) == 0 {
			t.Fatalf("%s became %s without a word", before.Verdict.Word(), got.Verdict.Word())
		}
		if got.Verdict == Allow && before.Verdict != Allow || got.Allowed && !before.Allowed {
			t.Fatalf("an approval from nowhere: %+v of %+v", got, d)
		}
		if c.Deny && got.Verdict.rank() < before.Verdict.rank() && before.Verdict != Allow {
			t.Fatalf("%s fell to %s although it could be denied", before.Verdict.Word(), got.Verdict.Word())
		}
		if a := got.Answer; a != nil && !a.fits(got.Verdict, got.Allowed) {
			t.Fatalf("the answer %+v stands beside %s", a, got.Verdict.Word())
		}
		again := Degrade(got, c)
		if !reflect.DeepEqual(again, got) {
			t.Fatalf("not stable:\n%+v\n%+v; want again equal to got", got, again)
		}
	})
}
