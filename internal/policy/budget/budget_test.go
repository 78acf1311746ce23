package budget

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

type fixed struct {
	spend   Spend
	window  float64
	reading bool
}

func (f fixed) Today(string, string) Spend     { return f.spend }
func (f fixed) InSession(string, string) Spend { return f.spend }
func (f fixed) OfWindow(string, time.Duration) (float64, bool) {
	return f.window, f.window >= 0
}
func (f fixed) Known(context.Context) bool { return !f.reading }
func (f fixed) NoteEvent(*event.Event)     {}

func read(t *testing.T, text string) *Budget {
	t.Helper()
	b, err := Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return b
}

func TestParse(t *testing.T) {
	for _, text := range []string{
		"day=30usd ask=80% block=100%", "session=5usd agent=claude block=100%", "window=5h ask=80%",
		"window=7d agent=codex block=95%", "day=2000000tokens project=/home/me/my project ask=50%", "day=0.5usd block=99.5%", "day=1usd warn=40% ask=60% block=100%", "window=5h warn=70%",
	} {
		if got := read(t, text).String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"", "day", "day=30", "day=-1usd ask=1%", "day=30usd", "ask=80%", "day=30usd session=1usd ask=1%",
		"day=30usd ask=80", "day=30usd ask=0%", "day=30usd ask=100% block=80%", "window=5m ask=80%", "day=30usd project=x ask=1%",
		"day=30usd aks=80%", "day=30usd warn=90% ask=80%", "day=30usd warn=101% block=100%", "day=NaNusd ask=80%"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestCheck(t *testing.T) {
	ev := &event.Event{ID: "e", Agent: "claude", Session: "s", Cwd: "/p/sub"}
	const day = "day=10usd ask=80% block=100%"
	for _, one := range []struct {
		text  string
		spent Spent
		want  event.Verdict
		words string
	}{
		{day, fixed{spend: Spend{Dollars: 7.9}}, event.None, ""},
		{day, fixed{spend: Spend{Dollars: 8}}, event.Ask, "80% of today's budget is used: $8.00 of $10.00"},
		{day, fixed{spend: Spend{Dollars: 10}}, event.Deny, "hookmux usage budget lift day-10usd"},
		{day, fixed{spend: Spend{Dollars: 1, Tokens: 9, Unpriced: 7}}, event.Ask, "7 tokens have no price"},
		{day, fixed{spend: Spend{Doubt: "records were changed"}}, event.Ask, "records were changed"},
		{"day=100tokens block=100%", fixed{spend: Spend{Doubt: "records were changed"}}, event.Ask, "records were changed"},
		{day, fixed{spend: Spend{Dollars: 10, Doubt: "records were changed"}}, event.Deny, "$10.00 of $10.00"},
		{day, fixed{reading: true}, event.Ask, "still being read"},
		{"window=5h block=80%", fixed{window: 1, reading: true}, event.None, ""},
		{day, nil, event.Ask, "daemon"},
		{"day=100tokens block=100%", fixed{spend: Spend{Tokens: 100, Unpriced: 100}}, event.Deny, "100 of 100 tokens"},
		{"session=10usd block=50%", fixed{spend: Spend{Dollars: 5}}, event.Deny, "this session's budget"},
		{"window=5h ask=80% block=100%", fixed{window: 85}, event.Ask, "85% of the plan's 5h window"},
		{"window=5h block=80%", fixed{window: -1}, event.None, ""},
		{"day=1 ask=1%", fixed{}, event.Ask, "can't be read"},
	} {
		b := ParseAll([]string{one.text})[0]
		f, ok := b.Check(t.Context(), ev, one.spent)
		got := event.None
		if ok {
			got = f.Verdict
		}
		if got != one.want || !strings.Contains(f.Reason, one.words) {
			t.Errorf("%s with %+v: %v %q, want %v %q", one.text, one.spent, got, f.Reason, one.want, one.words)
		}
	}
}

func TestCovers(t *testing.T) {
	ev := &event.Event{Agent: "claude", Cwd: "/p/sub"}
	for text, want := range map[string]bool{
		"day=1usd ask=1%": true, "day=1usd agent=claude ask=1%": true, "day=1usd agent=codex ask=1%": false,
		"day=1usd project=/p ask=1%": true, "day=1usd project=/p/su ask=1%": false,
	} {
		if got := read(t, text).Covers(ev); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestLifts(t *testing.T) {
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.Local)
	event1, event2 := &event.Event{ID: "1", Agent: "a", Session: "s"}, &event.Event{ID: "2", Agent: "a", Session: "t"}
	b := read(t, "session=10usd ask=80% block=100%")
	deny, _ := b.Check(t.Context(), event1, fixed{spend: Spend{Dollars: 10}})
	ask, _ := b.Check(t.Context(), event1, fixed{spend: Spend{Dollars: 8}})
	more, _ := b.Check(t.Context(), event1, fixed{spend: Spend{Dollars: 9}})
	var l Lifts
	if l.Passes(&deny, event1, now, false) || l.Passes(&ask, event1, now, false) {
		t.Fatal("nothing was lifted, and it passes")
	}
	l.NoteDecision(event1, event.Decision{Verdict: event.Deny})
	if l.Passes(&ask, event1, now, false) {
		t.Error("a no passes")
	}
	l.NoteDecision(event1, event.Decision{Verdict: event.Allow})
	if !l.Passes(&ask, event1, now, false) {
		t.Error("a yes is asked for again at once")
	}
	if l.Passes(&ask, event2, now, false) || l.Passes(&more, event1, now, false) || l.Passes(&deny, event1, now, false) {
		t.Error("a yes reaches another session, or further")
	}
	if other := (&Finding{Budget: b, Verdict: event.Ask, About: "no price"}); l.Passes(other, event1, now, true) {
		t.Error("a yes to how far it's used is one to usage without a price")
	}
	l.Lift(b, now)
	if !l.Passes(&deny, event1, now, true) || !l.Passes(&deny, event1, now, false) {
		t.Error("lifted, and it stops")
	}
	if l.Passes(&deny, event2, now, false) {
		t.Error("lifted once, and it passes in two sessions")
	}
	if l.Passes(&deny, event1, now.AddDate(0, 0, 1), false) {
		t.Error("lifted yesterday, and it passes")
	}
}
