package wire

import "testing"

// Journals written by earlier versions hold these codes, and other programs read them.
func TestCodesAreFrozen(t *testing.T) {
	for got, want := range map[string]string{
		EndAnswered:           "answered",
		EndAtPrompt:           "answered in the agent's own terminal",
		EndAgentGone:          "the agent is gone",
		EndHookGone:           "the agent no longer waits",
		EndTimeOver:           "time is over",
		EndSkipped:            "left to the agent's own prompt",
		EndDaemonStopped:      "the daemon stopped",
		EndAbandoned:          "no one is there to answer any more",
		EndOverrun:            "the turn went on without an answer",
		EndLeftToHook:         "the hook that asked goes on without an answer",
		SkipOff:               "off",
		SkipCallerLeft:        "caller left",
		SkipDuplicateOpen:     "its twin is still being decided",
		SkipTooManyOfSession:  "too many requests of this session wait",
		SkipTooManyPushed:     "too many pushed requests wait",
		SkipAgentReviews:      "the agent's own reviewer decides",
		SkipSameRequestBefore: "the same request came before, by its hooks or its editor",
		SkipInContainer:       "a container only hears denials and questions",
		OwnAgent:              "hookmux", OwnRefused: "refused", OwnDecision: "decision", OwnHook: "hook",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
