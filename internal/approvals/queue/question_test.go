package queue

import "testing"

func TestQuestionsThatAskForYes(t *testing.T) {
	for _, c := range []struct {
		q    Question
		want bool
	}{
		{Question{Kind: Confirm}, true},
		{Question{Kind: Select, Options: []string{"yes", "no"}}, true},
		{Question{Kind: Select, Options: []string{"no", "yes"}}, false},
		{Question{Kind: Select, Options: []string{"yes", "no", "later"}}, false},
		{Question{Kind: Input}, false},
	} {
		if got := c.q.AsksForYes(); got != c.want {
			t.Errorf("a %s between %q asks for a yes: %v, want %v", c.q.Kind, c.q.Options, got, c.want)
		}
	}
}
