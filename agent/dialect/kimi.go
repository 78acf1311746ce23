package dialect

import (
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Kimi takes little: Claude's deny at PreToolUse, exit code 2 with the reason on stderr to
// deny a prompt or an end, and at a prompt whatever is on stdout.
var kimi = Dialect{
	Finish: kimiFinish,
	Encode: kimiEncode,
	Shapes: []string{ShapeTool, ShapeExit},
}

// kimiFinish finds the subagent and the reason of a turn. Permission events name the
// agent that asks, and the main one is called main. A turn that the agent started
// itself says what for.
func kimiFinish(got Decoded) *event.Subagent {
	s := got.Subagent
	if s == nil || s.ID == "main" {
		return nil
	}
	s.Parent = got.Session
	return s
}

func kimiEncode(call Call) (neutral.Answer, event.Decision) {
	if call.Shape == ShapeExit {
		return exitAnswer(call.Decision)
	}
	d := call.Decision
	var top object
	if d.Verdict == event.Deny {
		top.nest("hookSpecificOutput", preToolUse(&call, &d, 0))
	}
	return neutral.Answer{Stdout: string(top.bytes())}, d
}
