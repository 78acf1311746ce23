package accepted

import (
	"fmt"
	"slices"
	"strings"
)

// ProblemKey is the key of the problem that changes wait for you.
const ProblemKey = "unaccepted"

// Describe says what waits, what is in force meanwhile and what to do; "" for
// nothing.
func (s *Store) Describe() (what, fix string) {
	changes, _ := s.Pending()
	basis, _, problem := s.State()
	return describeUnaccepted(changes, basis, problem)
}

// describeUnaccepted says what waits and what is in force meanwhile; "" for
// nothing.
func describeUnaccepted(changes []Change, basis State, problem error) (what, fix string) {
	look := "review and accept them with `hookmux config accept`"
	if i := slices.IndexFunc(changes, func(c Change) bool { return c.Err != nil }); i >= 0 {
		look = "correct " + changes[i].Path + " first, then " + look
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Before != nil }) {
		look += ", `hookmux config accept --restore` undoes them"
	}
	files := describeChanges(changes)
	switch {
	case basis == Lost:
		what = "what you accepted last can't be read, so all built-in guards block"
		if problem != nil {
			what = fmt.Sprintf("what you accepted last can't be read (%v), so all built-in guards block",
				problem)
		}
		return what + " and only the stricter parts of your files apply",
			"review and accept them with `hookmux config accept`"
	case len(changes) == 0 && problem != nil:
		return "can't save what you accepted: " + problem.Error(), "free some disk space or repair the state folder"
	case len(changes) == 0:
		return "", ""
	case basis == New:
		return "you haven't accepted your settings yet; until you do, guards keep their defaults and only the " +
			"stricter parts of these files apply: " + files, look
	}
	return "you haven't accepted these changes yet: " + files +
		"; until you do, the last accepted version stays active (stricter changes already apply)", look
}

// describeChanges names the changed files in one line.
func describeChanges(changes []Change) string {
	const most = 5
	var words []string
	for i, c := range changes {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(changes)-most))
			break
		}
		words = append(words, fmt.Sprintf("%s (%s)", c.Path, c.Kind))
	}
	return strings.Join(words, ", ")
}
