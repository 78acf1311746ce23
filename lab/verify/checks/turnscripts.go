package checks

import (
	"strings"

	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// plainTurn returns the turn in which hooks say nothing, and what is true after it
// with hooks and without.
func plainTurn(st *testbed.TestBed) testbed.TurnScript {
	s := testbed.TurnScript{
		Steps: []model.ScriptStep{{Run: []string{testbed.TaggedCommand("plain")}},
			{Run: []string{testbed.TaggedCommand("fail") + "; exit 3"}}},
		Named: map[string][]model.ScriptStep{"sub": testbed.SubSteps},
	}
	if st.Driver.Unstartable {
		// Longer than one argument of a program may be.
		s.Steps = append(s.Steps, model.ScriptStep{Run: []string{testbed.TaggedCommand("unstartable") + "; : '" +
			strings.Repeat("x", 140<<10) + "'"}})
	}
	if st.Driver.Subagent != nil {
		s.Steps = append(s.Steps, model.ScriptStep{Subagent: "sub"})
	}
	s.Steps = append(s.Steps, model.ScriptStep{Say: testbed.LastWords})
	return s
}

// plainWant holds after the plain turn, with hooks and without.
var plainWant = testbed.Want{Files: []string{"ran-plain", "ran-fail"}, Told: []string{"out-plain"}}
