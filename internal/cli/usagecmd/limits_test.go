package usagecmd

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

func TestResetsText(t *testing.T) {
	now := time.Date(2026, 11, 19, 4, 0, 0, 0, time.Local)
	at := func(t time.Time) *time.Time { return &t }
	for want, w := range map[string]wire.UsageWindow{
		"reset time unknown":                   {Learned: now},
		"resets in 2h9m (06:09)":               {Resets: at(now.Add(2*time.Hour + 9*time.Minute)), Learned: now.Add(-9 * time.Minute)},
		"resets in 9m (04:09), 45m ago":        {Resets: at(now.Add(9 * time.Minute)), Learned: now.Add(-45 * time.Minute)},
		"resets in 4d0h (Mon 04:00), 3h0m ago": {Resets: at(now.AddDate(0, 0, 4)), Learned: now.Add(-3 * time.Hour)},
	} {
		if got := resetsText(&w, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for share, want := range map[float64]string{0: "░░░░", 0.5: "██░░", 0.55: "██▎░", 3: "████"} {
		if got := trough(share, 4); got != want {
			t.Errorf("%v: got %q, want %q", share, got, want)
		}
	}
}
