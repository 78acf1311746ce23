package text

import "github.com/hookmux/hookmux/internal/wire"

// codeTexts maps codes of the daemon to readable text.
var codeTexts = map[string]string{
	wire.EndAnswered:      "answered",
	wire.EndAtPrompt:      "answered in the agent's terminal",
	wire.EndAgentGone:     "the agent is gone",
	wire.EndHookGone:      "the agent stopped waiting",
	wire.EndTimeOver:      "timed out",
	wire.EndSkipped:       "skipped; the agent asks in its own terminal",
	wire.EndDaemonStopped: "the daemon stopped",
	wire.EndAbandoned:     "no one is following the inbox any more",
	wire.EndOverrun:       "the agent went on without an answer",
	wire.EndLeftToHook:    "skipped; the hook that asked goes on without an answer",

	wire.SkipOff:               "off",
	wire.SkipCallerLeft:        "the caller hung up",
	wire.SkipDuplicateOpen:     "the same call is already being decided",
	wire.SkipTooManyOfSession:  "too many requests from this session are waiting",
	wire.SkipTooManyPushed:     "too many pushed requests are waiting",
	wire.SkipAgentReviews:      "the agent's own reviewer decides",
	wire.SkipSameRequestBefore: "the same request already came from its hooks or its editor",
	wire.SkipInContainer:       "the agent runs in a container, which only gets denials and questions",
}

// CodeText says how a request ended, or why it wasn't asked. A code of another version is
// returned as it is.
func CodeText(code string) string {
	if known, ok := codeTexts[code]; ok {
		return known
	}
	return code
}
