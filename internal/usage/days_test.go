package usage

import (
	"testing"
	"time"
	_ "time/tzdata" // not every machine has it

	"github.com/hookmux/hookmux/internal/policy/budget"
)

// A budget's day is a local one: 23 hours long where clocks go forward, 25 where they go
// back, and what was used in the hour that comes twice counts twice. Lifting lasts as long.
func TestDaysWithoutTwentyFourHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	old := time.Local
	time.Local = berlin
	defer func() { time.Local = old }()
	b, err := budget.Parse("day=1000tokens block=100%")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name     string
		midnight time.Time
		hours    int
	}{
		{"forward", time.Date(2026, 3, 29, 0, 0, 0, 0, berlin), 23},
		{"back", time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), 25},
		{"an ordinary day", time.Date(2026, 11, 19, 0, 0, 0, 0, berlin), 24},
	} {
		now := one.midnight.Add(-time.Minute)
		l := newLedger(func() time.Time { return now }, BuiltinPrices)
		use := func() {
			l.note(nil, &Call{Agent: "claude", Session: "s", Project: "/p", At: now, Tokens: Tokens{Input: 10}})
		}
		use() // of the day before
		var lifts budget.Lifts
		for hour := range one.hours {
			now = one.midnight.Add(time.Duration(hour) * time.Hour)
			if hour == 0 {
				lifts.Lift(b, now)
			}
			use()
			if got := l.Today("", "").Tokens; got != int64(10*(hour+1)) {
				t.Errorf("%s, hour %d (%s): %d tokens were used, want %d", one.name, hour, now.Format(time.TimeOnly), got, 10*(hour+1))
			}
		}
		if now = now.Add(59*time.Minute + 59*time.Second); l.Today("", "").Tokens == 0 || !lifts.IsLifted(b, now) {
			t.Errorf("%s: the day was over at %v", one.name, now)
		}
		if now = now.Add(time.Second); l.Today("", "").Tokens != 0 || lifts.IsLifted(b, now) {
			t.Errorf("%s: the day isn't over at %v: %d tokens, lifted %v", one.name, now, l.Today("", "").Tokens, lifts.IsLifted(b, now))
		}
		// Another daemon adds up the same day.
		if got := dayOf(one.midnight.Add(-time.Second)); got == dayOf(one.midnight) {
			t.Errorf("%s: the second before midnight is in %s, too", one.name, got)
		}
	}
}
