package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/packs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// recordedSession writes down what Claude Code reports in a session.
type recordedSession struct {
	t    *testing.T
	list []wire.Entry
}

func (s *recordedSession) add(session, native string, fields map[string]any) {
	s.t.Helper()
	n := len(s.list)
	fields["session_id"], fields["hook_event_name"], fields["cwd"] = session, native, project
	payload, err := json.Marshal(fields)
	if err != nil {
		s.t.Fatal(err)
	}
	body, _ := redact.AppendJSON(nil, payload, redact.DefaultLimits())
	ev := catalogue.Decode(agent.Input{ID: fmt.Sprintf("e%d", n), Time: began.Add(time.Duration(n) * time.Second),
		Agent: "claude", Event: native, Payload: body, Cwd: project})
	s.list = append(s.list, wire.Entry{Cursor: fmt.Sprint(n), Event: ev.AppendJSON(nil, event.Form{Raw: body, NoBodies: true})})
}

func (s *recordedSession) prompt(session string) {
	s.add(session, "UserPromptSubmit", map[string]any{"prompt": "go on"})
}

func (s *recordedSession) bash(session string, times int, command string) {
	for i := range times {
		s.add(session, "PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprint(len(s.list), i),
			"tool_input": map[string]any{"command": command}})
	}
}

// What counts repeated calls is replayed where a turn is known from its beginning, and
// nowhere else.
func TestRepeatedCallsReplayed(t *testing.T) {
	loop, err := packs.Load("loop")
	if err != nil {
		t.Fatal(err)
	}
	const key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh-AbCdEfGhAA"
	for name, c := range map[string]struct {
		record     func(s *recordedSession)
		deny, open int
	}{
		"a turn": {func(s *recordedSession) {
			s.prompt("one")
			s.bash("one", 9, "make test") // the eighth and the ninth
		}, 2, 0},
		"two turns": {func(s *recordedSession) {
			s.prompt("one")
			s.bash("one", 7, "make test")
			s.prompt("one")
			s.bash("one", 7, "make test")
		}, 0, 0},
		"two sessions": {func(s *recordedSession) {
			s.prompt("one")
			s.prompt("two")
			for range 5 {
				s.bash("one", 1, "make test")
				s.bash("two", 1, "make test")
			}
		}, 0, 0},
		"the beginning is not there": {func(s *recordedSession) { s.bash("one", 9, "make test") }, 0, 9},
		"something was redacted": {func(s *recordedSession) {
			s.prompt("one")
			s.bash("one", 2, "make test")
			s.bash("one", 9, "curl -H 'x-api-key: "+key+"' https://api.example.com")
			s.prompt("one")
			s.bash("one", 1, "make test")
		}, 0, 9},
		"polling": {func(s *recordedSession) {
			s.prompt("one")
			s.bash("one", 20, "git status")
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &recordedSession{t: t}
			c.record(s)
			report, err := Run(each(s.list), Options{Rules: loop.Rules, Home: home, Catalogue: catalogue})
			if err != nil || report.Deny != c.deny || report.NotReplayable != c.open {
				t.Errorf("%d denied, %d not replayable, error %v; want %d and %d", report.Deny, report.NotReplayable, err, c.deny,
					c.open)
			}
			if calls := len(s.list); report.Scanned >= calls && name != "the beginning is not there" {
				t.Errorf("%d of %d events are counted as calls, want the prompts left out", report.Scanned, calls)
			}
		})
	}
}

// The folder that a session started in counts as it did then; where nobody wrote it
// down a rule for a project is not replayable elsewhere.
func TestWhereSessionsStartedReplayed(t *testing.T) {
	list, problems := rules.Parse(rules.Source{Name: "a.yaml", Layer: rules.User, Data: []byte(`version: 1
rules:
  - {id: app, why: w, match: {program: make}, decide: deny, projects: [/home/ann/other], examples: {hit: [make x]}}
`)})
	if len(problems) > 0 {
		t.Fatalf("the rules have problems, expected none: %v", problems)
	}
	s := &recordedSession{t: t}
	s.bash("of-other", 1, "make deploy")
	s.bash("of-app", 1, "make deploy")
	s.bash("lost", 1, "make deploy")
	s.bash("lost", 1, "ls")
	report, err := Run(each(s.list), Options{Rules: list, Home: home, Catalogue: catalogue,
		StartOf: func(_, session string) (string, error) {
			switch session {
			case "of-other":
				return "/home/ann/other/sub", nil
			case "of-app":
				return project, nil
			}
			return "", errors.New("nobody knows")
		}})
	if err != nil || report.Deny != 1 || report.Ask != 0 || report.NotReplayable != 1 || report.Scanned != 4 {
		t.Errorf("of %d calls %d denied, %d asked, %d not replayable, error %v; want 1, 0 and 1 of 4", report.Scanned,
			report.Deny, report.Ask, report.NotReplayable, err)
	}
}
