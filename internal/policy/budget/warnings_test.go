package budget

import (
	"fmt"
	"testing"
)

func TestWarnings(t *testing.T) {
	b := read(t, "session=10usd warn=50% block=100%")
	var w Warnings
	for i, one := range []struct {
		session string
		percent float64
		quiet   bool
		want    string
	}{
		{"s", 49, false, "[]"},
		{"s", 50, true, "[]"}, // in quiet hours
		{"s", 51, false, "[warn]"},
		{"s", 70, false, "[]"},
		{"t", 60, false, "[warn]"}, // another session
		{"s", 100, false, "[block]"},
		{"s", 130, false, "[]"},
		{"s", 10, false, "[]"}, // another day
		{"s", 110, false, "[block]"},
		{"s", 120, false, "[]"},
	} {
		got := []Level{}
		w.Note(b, "claude", one.session, one.percent, func(l Level) bool {
			if !one.quiet {
				got = append(got, l)
			}
			return !one.quiet
		})
		if fmt.Sprint(got) != one.want {
			t.Errorf("step %d, %v%% of %s: notified %v; want %s", i+1, one.percent, one.session, got, one.want)
		}
	}
}
