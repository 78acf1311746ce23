package policy

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

func shellCall(input string) *event.Event {
	return &event.Event{Agent: "claude", Session: "s", Kind: event.PermissionRequest, Cwd: "/p",
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"npm test"}, Input: []byte(input)}}
}

func TestWhatStandsBesideACommand(t *testing.T) {
	for input, want := range map[string]string{
		``:                       "",
		`{"command":"npm test"}`: "",
		`{"command":"npm test","description":"run them","timeout":5000,"run_in_background":false,"workdir":""}`: "",
		`{"cmd":["bash","-c","npm test"]}`:                                 "",
		`{"command":"npm test","dangerouslyDisableSandbox":true}`:          `{"dangerouslyDisableSandbox":true}`,
		`{"b":{"y":1,"x":2},"command":"npm test","a":null,"workdir":"/q"}`: `{"b":{"x":2,"y":1},"workdir":"/q"}`,
	} {
		if got := ExtraInput(shellCall(input).Tool); got != want {
			t.Errorf("%s: Beside(shellCall(input).Tool) = %s, want %q", input, got, want)
		}
	}
}

// A yes to a command does not count for the same words outside of the sandbox, or in
// another folder.
func TestAPermissionKnowsHowACommandRuns(t *testing.T) {
	plain := shellCall(`{"command":"npm test","description":"x"}`)
	loose := shellCall(`{"command":"npm test","dangerouslyDisableSandbox":true}`)
	there := shellCall(`{"command":"npm test","workdir":"/elsewhere"}`)
	rule, err := RuleFor(plain)
	if err != nil {
		t.Fatal(err)
	}
	if !rule.Matches(shellCall(`{"command":"npm test","description":"y"}`)) || rule.Matches(loose) ||
		rule.Matches(there) {
		t.Error("a permission for the plain command")
	}
	wide, err := RuleFor(loose)
	if err != nil || !strings.Contains(wide.Text(), `with {"dangerouslyDisableSandbox":true}`) {
		t.Errorf(`wide.Text() = %q, error %v; want no error and with {"dangerouslyDisableSandbox":true} in wide.Text()`,
			wide.Text(), err)
	}
	if !wide.Matches(loose) || wide.Matches(plain) || wide.Matches(there) {
		t.Error("a permission for the loose one")
	}
	long := shellCall(`{"command":"npm test","env":"` + strings.Repeat("x", maxInput) + `"}`)
	if _, err := RuleFor(long); err == nil {
		t.Error("a rule nobody reads")
	}
}
