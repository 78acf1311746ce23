package plugins_test

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

func clawEmit(as, name string, event step) step {
	return step{"do": "call", "as": as, "name": name, "event": event}
}

func TestOpenClawDecisions(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		switch payload := string(r.Payload); {
		case strings.Contains(payload, "deny me"):
			return `{"block":true,"blockReason":"not here"}`
		case strings.Contains(payload, "change me"):
			return `{"params":{"command":"changed"}}`
		case strings.Contains(payload, "ask me"):
			return `{"requireApproval":{"title":"hookmux","description":"` + strings.Repeat("ü", 400) + `"}}`
		case r.Event == "before_prompt_build":
			return `{"prependContext":"mind the gap"}`
		}
		return ""
	})
	prompt := step{"prompt": "do it", "messages": []step{{"role": "user"}}}
	p := play(t, "openclaw", h.dir, plugins.Options{}, nil,
		clawEmit("built", "before_prompt_build", prompt), await("built"),
		clawEmit("run", "before_agent_run", prompt), await("run"),
		clawCall("plain", "ls"), clawCall("denied", "deny me"), clawCall("changed", "change me"),
		clawCall("asked", "ask me"), await("plain"), await("denied"), await("changed"), await("asked"),
		// The prompt is built anew for every pass over the model, under the same run.
		clawEmit("rebuilt", "before_prompt_build", prompt), await("rebuilt"),
		clawEmit("end", "agent_end", step{"success": true}), await("end"))
	for as, want := range map[string]string{
		"built": `{"prependContext":"mind the gap"}`, "run": "", "rebuilt": "", "plain": "",
		"denied":  `{"block":true,"blockReason":"not here"}`,
		"changed": `{"params":{"command":"changed"}}`,
		"asked":   `{"requireApproval":{"title":"hookmux","description":"` + strings.Repeat("ü", 250) + `"}}`,
		"end":     "",
	} {
		if threw, returned, _, _ := p.call(t, as); threw != "" || returned != want {
			t.Errorf("%s: OpenClaw got %q and was thrown %q, want %q and nothing", as, returned, threw, want)
		}
	}
	count := map[string]int{}
	for _, r := range h.all() {
		count[r.Event]++
		if strings.Contains(string(r.Payload), `"messages"`) {
			t.Errorf("%s was told with the conversation, want it left out", r.Event)
		}
		if r.Cwd != "/src/project" {
			t.Errorf("%s was told to happen in %q, want the folder of the agent", r.Event, r.Cwd)
		}
	}
	if count["before_prompt_build"] != 1 || count["agent_end"] != 1 {
		t.Errorf("told %v, want the prompt once and the end once", count)
	}
}

// OpenClaw asks about a prompt in one place and can refuse it in another.
func TestOpenClawRefusesThePromptWhereItCan(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(*frame.Request) string {
		return `{"outcome":"block","reason":"not this","message":"not this"}`
	})
	prompt := step{"prompt": "do it"}
	p := play(t, "openclaw", h.dir, plugins.Options{}, nil,
		clawEmit("built", "before_prompt_build", prompt), await("built"),
		clawEmit("run", "before_agent_run", prompt), await("run"),
		clawEmit("end", "agent_end", step{"success": false, "error": "blocked by hookmux"}), await("end"))
	if _, returned, _, _ := p.call(t, "built"); returned != "" {
		t.Errorf("before_prompt_build got %s, want nothing: it cannot refuse", returned)
	}
	if _, returned, _, _ := p.call(t, "run"); !strings.Contains(returned, `"outcome":"block"`) {
		t.Errorf("before_agent_run got %s, want the refusal", returned)
	}
	if got := h.all(); len(got) != 1 {
		t.Errorf("told %d events, want the prompt alone: a refused one begins no turn that could end", len(got))
	}
}

// A run whose model call failed comes to OpenClaw's agent_end as a success.
func TestOpenClawFailedModelIsAFailure(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(*frame.Request) string { return "" })
	failed := []step{{"role": "user"}, {"role": "assistant", "stopReason": "error", "errorMessage": "401 no"}}
	play(t, "openclaw", h.dir, plugins.Options{}, nil,
		clawEmit("built", "before_prompt_build", step{"prompt": "do it"}), await("built"),
		clawEmit("end", "agent_end", step{"success": true, "messages": failed}), await("end"))
	got := h.all()
	if len(got) != 2 || got[1].Event != "agent_end" ||
		!strings.Contains(string(got[1].Payload), `"reason":"failed","error":"401 no"`) {
		t.Errorf("told %v, want the prompt and an end that failed with 401 no", got)
	}
}
