package soak

import (
	"strings"
	"testing"
	"time"
)

// takeAll compares samples, one each second: d for a dialog on the screen, w for a
// place that says waiting, h for a request in the inbox.
func takeAll(samples ...string) []*disagreement {
	c := &comparison{agent: "claude", open: map[string]*disagreement{}}
	at := time.Unix(1700000000, 0)
	for _, s := range samples {
		at = at.Add(time.Second)
		one := sample{at: at, dialog: strings.Contains(s, "d"), inbox: strings.Contains(s, "h"), says: map[string]bool{}}
		for _, place := range places {
			one.says[place] = strings.Contains(s, "w")
		}
		c.compareSample(one)
	}
	return c.closeOpen(at.Add(time.Second))
}

func TestScreensAreComparedWithWhatIsSaid(t *testing.T) {
	for _, c := range []struct {
		what    string
		samples []string
		longest time.Duration
	}{
		{"both say nothing", []string{"-", "-"}, 0},
		{"both say waiting", []string{"-", "dw", "dw", "-"}, 0},
		{"a dialog that nobody tells of", []string{"-", "d", "d", "d", "-"}, 3 * time.Second},
		{"told a second late", []string{"d", "dw", "dw", "-"}, time.Second},
		{"still waiting after the dialog", []string{"dw", "w", "w", "-"}, 2 * time.Second},
		{"a request in the inbox needs no dialog", []string{"wh", "wh", "-"}, 0},
		{"a waiting request that is not told", []string{"dh", "dh", "dwh"}, 2 * time.Second},
		{"first the one, then the other", []string{"d", "w", "w"}, 2 * time.Second},
		{"open at the end", []string{"d"}, time.Second},
	} {
		longest := time.Duration(0)
		for _, d := range takeAll(c.samples...) {
			longest = max(longest, d.lasted)
		}
		if longest != c.longest {
			t.Errorf("%s: the longest disagreement is %s, expected %s", c.what, longest, c.longest)
		}
	}
}

func TestADisagreementIsToldInFull(t *testing.T) {
	d := takeAll("d", "-")[0]
	d.personActions, d.samples[0].screen, d.samples[0].words = []string{
		"prompt: ask",
	}, "Do you want to proceed?   \n\n", "ps running"
	for _, want := range []string{"claude", "a dialog", "said not waiting", "did prompt: ask", "ps running",
		"| Do you want to proceed?\n"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, d)
		}
	}
}
