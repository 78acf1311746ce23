package text

import "github.com/hookmux/hookmux/internal/wire"

// codeTexts are codes of the daemon as people read them.
var codeTexts = map[string]string{
	wire.EndAnswered:      "answered",
	wire.EndInWindow:      "answered in the agent's own window",
	wire.EndAgentGone:     "the agent is gone",
	wire.EndHookGone:      "the agent no longer waits",
	wire.EndTimeOver:      "time is over",
	wire.EndReleased:      "left to the agent's own prompt",
	wire.EndDaemonStopped: "the daemon stopped",
	wire.EndAbandoned:     "nobody is there to answer any more",
	wire.EndOverrun:       "the turn went on without an answer",
	wire.EndLeftToHook:    "the hook that asked goes on without an answer",

	wire.SkipOff:               "off",
	wire.SkipCallerLeft:        "caller left",
	wire.SkipDuplicateOpen:     "its twin is still being decided",
	wire.SkipTooManyOfSession:  "too many requests of this session wait",
	wire.SkipTooManyPushed:     "too many pushed requests wait",
	wire.SkipAgentReviews:      "the agent's own reviewer decides",
	wire.SkipSameRequestBefore: "the same request came before, by its hooks or its editor",
}

// CodeText words how a request ended, or why nobody was asked. A code of another
// version stands as it is.
func CodeText(code string) string {
	if known, ok := codeTexts[code]; ok {
		return known
	}
	return code
}
