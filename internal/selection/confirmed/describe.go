package confirmed

import (
	"fmt"
	"slices"
	"strings"
)

// ProblemKey is the key of the problem that changes wait for a person.
const ProblemKey = "unconfirmed"

// Describe says what waits, what is in force meanwhile and what to do; "" for
// nothing.
func (s *Store) Describe() (what, fix string) {
	changes, _ := s.Pending()
	basis, _, problem := s.State()
	return describeUnconfirmed(changes, basis, problem)
}

// describeUnconfirmed says what waits and what is in force meanwhile; "" for
// nothing.
func describeUnconfirmed(changes []Change, basis State, problem error) (what, fix string) {
	look := "`hookmux config accept` at your terminal shows and takes them"
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Before != nil }) {
		look += ", `hookmux config accept --restore` undoes them"
	}
	files := describeChanges(changes)
	switch {
	case basis == Lost:
		what = "the state that was confirmed last cannot be read, so all built-in guards are on"
		if problem != nil {
			what = fmt.Sprintf("the state that was confirmed last cannot be read (%v), so all built-in guards are on",
				problem)
		}
		return what + " and your files count only as far as they refuse",
			"`hookmux config accept` at your terminal shows and takes them as they are"
	case len(changes) == 0 && problem != nil:
		return "what is in force cannot be written down: " + problem.Error(), "make room or repair the state folder"
	case len(changes) == 0:
		return "", ""
	case basis == New:
		return "your settings were never confirmed; until then guards keep their defaults and the files count only " +
			"as far as they refuse: " +
			files, look
	}
	return "changed outside hookmux's commands, and not confirmed: " + files +
		"; what was confirmed last is in force, and what only refuses more counts already", look
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
