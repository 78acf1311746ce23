package checks

import (
	"strings"

	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/verify/stage"
)

// plainScene is the turn in which hooks say nothing, and what is true after it
// with hooks and without.
func plainScene(st *stage.Stage) stage.Scene {
	s := stage.Scene{
		Beats: []model.Beat{{Run: []string{stage.TaggedCommand("plain")}},
			{Run: []string{stage.TaggedCommand("fail") + "; exit 3"}}},
		Named: map[string][]model.Beat{"sub": stage.SubBeats},
	}
	if st.Driver.Unstartable {
		// Longer than one argument of a program may be.
		s.Beats = append(s.Beats, model.Beat{Run: []string{stage.TaggedCommand("unstartable") + "; : '" +
			strings.Repeat("x", 140<<10) + "'"}})
	}
	if st.Driver.Subagent != nil {
		s.Beats = append(s.Beats, model.Beat{Subagent: "sub"})
	}
	s.Beats = append(s.Beats, model.Beat{Say: stage.LastWords})
	return s
}

// plainWant is what is true after the plain turn, with hooks and without.
var plainWant = stage.Want{Files: []string{"ran-plain", "ran-fail"}, Told: []string{"out-plain"}}
