package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func TestWaitFor(t *testing.T) {
	const left, wait = time.Hour, 2 * time.Minute
	for _, c := range []struct {
		name  string
		inbox *Inbox
		away  bool
		want  time.Duration
	}{
		{"its own dialog stays", &Inbox{Wait: WaitDeadline}, false, left},
		{"hidden dialog", &Inbox{Wait: WaitBrief, Brief: Duration(5 * time.Second)}, false, 5 * time.Second},
		{"hidden dialog, nobody looks", &Inbox{Wait: WaitBrief, Brief: Duration(5 * time.Second)}, true, left},
		{"others", &Inbox{Wait: WaitFull}, false, wait},
		{"others, away", &Inbox{Wait: WaitFull}, true, left},
		{"nothing known", nil, false, wait},
		{"hidden here only", &Inbox{Wait: WaitDeadline, Points: map[string]*InboxPoint{"Ask": {Hidden: true}}}, false, wait},
		{"hidden here only, away", &Inbox{Wait: WaitDeadline, Points: map[string]*InboxPoint{"Ask": {Hidden: true}}}, true, left},
		{"hidden elsewhere", &Inbox{Wait: WaitDeadline, Points: map[string]*InboxPoint{"Tell": {Hidden: true}}}, false, left},
	} {
		if got := c.inbox.WaitFor("Ask", left, Wait{Setting: wait, Away: c.away}); got != c.want {
			t.Errorf("%s: got %s, want %v", c.name, got, c.want)
		}
	}
	brief := &Inbox{Wait: WaitBrief, Brief: Duration(5 * time.Second)}
	if got := brief.WaitFor("Ask", left, Wait{Setting: wait, Chosen: true}); got != wait {
		t.Error("chosen for this agent:", got)
	}
	if got := (&Inbox{Wait: WaitFull}).WaitFor("Ask", time.Second, Wait{Setting: wait}); got != time.Second {
		t.Error("longer than the hook may take:", got)
	}
}

// Whatever can be chosen is known to reach the agent, for each agent.
func TestInboxOfEveryAgent(t *testing.T) {
	for _, a := range Builtin().Agents() {
		if a.Inbox == nil {
			continue
		}
		for name, point := range a.Inbox.Points {
			e, ok := a.Event(name)
			if !ok {
				t.Errorf("%s: no event %s; want ok", a.Name, name)
				continue
			}
			for _, problem := range point.problems(e, a.Inbox.Promptless) {
				t.Errorf("%s %s: problem %s, want none", a.Name, name, problem)
			}
			switch e.Kind {
			case event.PermissionRequest, event.ToolBefore, event.UserQuestion, event.UserPlan:
			default:
				t.Errorf("%s %s is a %s: nobody asks there", a.Name, name, e.Kind)
			}
		}
	}
}

func TestInboxProblems(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"wait":    {"{wait: ever, prompt: event}", `wait "ever"`},
		"brief":   {"{wait: brief, prompt: event}", "how long brief"},
		"prompt":  {"{wait: full, prompt: door}", `prompt "door"`},
		"event":   {"{wait: full, prompt: event, points: {Nope: {permission: [deny]}}}", "no event Nope"},
		"empty":   {"{wait: full, prompt: event, points: {Say: {}}}", "offers nothing"},
		"deny":    {"{wait: full, prompt: event, points: {Say: {permission: [deny]}}}", "not carried"},
		"allow":   {"{wait: full, prompt: event, points: {Do: {permission: [once]}}}", "an approval is not carried"},
		"plan":    {"{wait: full, prompt: event, points: {Do: {plan: [maybe]}}}", `"maybe" is no answer`},
		"choice":  {"{wait: full, prompt: event, points: {Do: {permission: [answer]}}}", `"answer" is not a choice`},
		"always":  {"{wait: full, prompt: event, promptless: true, points: {Do: {permission: [always]}}}", "always without once"},
		"number":  {"{wait: full, prompt: event, answered: {Say: id}}", "answers a number"},
		"who":     {"{wait: full, prompt: event, number: id, answered: {Nope: id}}", "no event Nope"},
		"free":    {"{wait: full, prompt: event, free: {}}", "told to ask nobody"},
		"nothing": {"{wait: full, prompt: event, promptless: true, points: {Do: {permission: [once, deny]}}}", ""},
	} {
		dir := t.TempDir()
		file := "name: mine\ntitle: Mine\ndialect: claude\nevents:\n" +
			"  - {name: Do, kind: tool.before, install: default, answer: tool, carries: {deny: \"documented: x\"}}\n" +
			"  - {name: Say, kind: user.attention, install: default}\ninbox: " + c.yaml + "\n" +
			"fields: {tool_name: [tool], tool_input: [args]}\ntools: [{name: run, kind: shell, commands: [sh]}]\n"
		if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		_, problems := Load(dir)
		switch {
		case c.want == "" && len(problems) > 0:
			t.Errorf("%s: problems %v, want none", name, problems)
		case c.want != "" && (len(problems) == 0 || !strings.Contains(problems[0].String(), c.want)):
			t.Errorf("%s: problems %v, want one with %q", name, problems, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	a, _ := Builtin().Agent("opencode")
	asked := event.Event{Native: "permission.asked", Raw: []byte(`{"properties":{"id":"per_1","sessionID":"s"}}`)}
	if got := a.Inbox.NumberOf(&asked); got != "per_1" {
		t.Errorf(`a.Inbox.NumberOf(&asked) = %q, want "per_1"`, got)
	}
	replied := event.Event{Native: "permission.replied",
		Raw: []byte(`{"properties":{"requestID":"per_1","reply":"once"}}`)}
	if got := a.Inbox.AnsweredBy(&replied); got != "per_1" || a.Inbox.NumberOf(&replied) != "" ||
		a.Inbox.AnsweredBy(&asked) != "" {
		t.Errorf(`a.Inbox.AnsweredBy(&replied) = %q, want "per_1", a.Inbox.NumberOf(&replied) = "" and `+
			`a.Inbox.AnsweredBy(&asked) = ""`, got)
	}
	var none *Inbox
	if none.NumberOf(&asked) != "" || none.AnsweredBy(&replied) != "" || none.At("x") != nil {
		t.Error(`no inbox; want none.NumberOf(&asked) == "", none.AnsweredBy(&replied) == "" and none.At("x") == nil`)
	}
}
