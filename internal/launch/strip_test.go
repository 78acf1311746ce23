package launch

import (
	"slices"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// What Plan puts in, Strip takes out, and nothing of the user's with it.
func TestStripIsPlanBackwards(t *testing.T) {
	for _, c := range []struct {
		agent string
		args  []string
		want  []string // nil: the same as args
	}{
		{"claude", []string{}, nil},
		{"claude", []string{"--model", "opus", "fix it"}, nil},
		{"claude", []string{"--settings", `{"model":"opus"}`}, nil},
		{"claude", []string{`--settings={"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`, "--verbose"}, nil},
		{"codebuddy", []string{"--model", "glm", "fix it"}, nil},
		{"codebuddy", []string{"--settings", `{"model":"glm"}`}, nil},
		{"codex", []string{}, nil},
		{"codex", []string{"-m", "gpt-5", "resume", "abc"}, nil},
		// The user's group stands in ours as well, so it comes back twice.
		{"codex", []string{"-c", `hooks.Stop=[{hooks = [{command = "say done", type = "command"}]}]`},
			[]string{"-c", `hooks.Stop=[{hooks = [{command = "say done", type = "command"}]}]`, "-c", `hooks.Stop=[{hooks=[{command="say done",type="command"}]}]`}},
	} {
		a, _ := agent.Builtin().Agent(c.agent)
		planned, injected, _, err := Plan(Request{Agent: a, Args: c.args, Program: "/bin/" + c.agent,
			Hook: "/opt/with space/hookmux-hook"})
		if err != nil || !injected {
			t.Fatalf("%s %q: injected %v, %v; want no error and injected", c.agent, c.args, injected, err)
		}
		want := c.want
		if want == nil {
			want = c.args
		}
		got, found := Strip(a, planned[1:])
		if !found || !slices.Equal(got, want) {
			t.Errorf("%s: found %v\n got %q\nwant %q", c.agent, found, got, want)
		}
		if again, found := Strip(a, got); found || !slices.Equal(again, got) {
			t.Errorf("%s: stripping twice changes %q to %q", c.agent, got, again)
		}
	}
}
