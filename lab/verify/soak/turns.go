package soak

import (
	"time"

	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/looks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// The kinds of turns.
const (
	turnPlain    = "plain"    // text only
	turnAsk      = "ask"      // one command that needs leave
	turnLong     = "long"     // the same, and it runs for a while
	turnTwice    = "twice"    // two commands, one after the other
	turnTogether = "together" // two commands in one answer of the model
	turnBroken   = "broken"   // a command that fails
	turnQuestion = "question"
	turnError    = "error" // the model cannot be asked
	turnSlow     = "slow"  // text that comes late, to be stopped
)

var turnKinds = []string{
	turnPlain, turnAsk, turnAsk, turnLong, turnLong, turnTwice, turnTogether, turnBroken, turnQuestion, turnQuestion,
	turnError, turnSlow,
}

// scenarioOf returns what the model does for each kind of turn.
func scenarioOf(st *testbed.TestBed, how *looks.Dialogs) model.Scenario {
	shell := func(command string) model.ToolCall { return st.EscalateCall(st.Table.Shell.Call(command)) }
	one := func(calls ...model.ToolCall) model.Step { return model.Step{Calls: calls} }
	say := model.Step{Say: testbed.LastWords}
	return model.Scenario{Named: map[string][]model.Step{
		turnPlain:    {say},
		turnAsk:      {one(shell("touch ran-ask")), say},
		turnLong:     {one(shell("touch ran-long; sleep 6; echo out-long")), say},
		turnTwice:    {one(shell("touch ran-first")), one(shell("touch ran-second; sleep 2")), say},
		turnTogether: {one(shell("touch ran-one; sleep 1"), shell("touch ran-other; sleep 1")), say},
		turnBroken:   {one(shell("touch ran-broken; exit 3")), say},
		turnQuestion: {one(how.Question()), say},
		turnError:    {{Fail: &model.Fail{Status: 400, Type: "invalid_request_error", Message: "scripted failure"}}},
		turnSlow:     {{Say: "Slowly.", Delay: 8 * time.Second}, say},
	}}
}
