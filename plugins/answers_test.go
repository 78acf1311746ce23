package plugins_test

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

func TestOpenCodeAnswersGoThroughItsClient(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		for mark, answer := range map[string]string{
			"per_once": `{"reply":"once"}`, "per_always": `{"reply":"always"}`, "per_no": `{"reply":"reject","message":"not here"}`,
			"que_yes": `{"answers":[["a","b"],[],["own words"]]}`, "que_no": `{"reject":true}`,
			"per_silent": "", "que_silent": "",
		} {
			if strings.Contains(string(r.Payload), mark) {
				return answer
			}
		}
		return ""
	})
	permission := func(id string) step {
		return ocEvent("permission.asked", step{"id": id, "sessionID": "ses_1", "permission": "bash",
			"metadata": step{"command": "ls"}})
	}
	question := func(id string) step {
		return ocEvent("question.asked", step{"id": id, "sessionID": "ses_1",
			"questions": []step{{"question": "Which?"}}})
	}
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		permission("per_once"), called(1), permission("per_always"), called(2), permission("per_no"), called(3),
		question("que_yes"), called(4), question("que_no"), called(5),
		permission("per_silent"), question("que_silent"), got(7))
	calls := p.clientCalls()
	for _, want := range []string{
		`"url":"/permission/per_once/reply","body":{"reply":"once"}`,
		`"url":"/permission/per_always/reply","body":{"reply":"always"}`,
		`"url":"/permission/per_no/reply","body":{"reply":"reject","message":"not here"}`,
		`"url":"/question/que_yes/reply","body":{"answers":[["a","b"],[],["own words"]]}`,
		`"url":"/question/que_no/reject"`,
	} {
		if !strings.Contains(calls, want) {
			t.Errorf("no call %s in\n%s", want, calls)
		}
	}
	if strings.Contains(calls, "per_silent") || strings.Contains(calls, "que_silent") {
		t.Errorf("no opinion was an answer:\n%s", calls)
	}
}

// Who answers in OpenCode's own window is reported before the request is given
// up: the daemon then knows what happened, and does not take it for a death.
func TestOpenCodeAnsweredInItsWindow(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		if r.Event == "permission.asked" {
			return silent
		}
		return ""
	})
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocEvent("permission.asked", step{"id": "per_1", "sessionID": "ses_1", "permission": "bash",
			"metadata": step{"command": "ls"}}), got(1),
		ocEvent("permission.replied", step{"sessionID": "ses_1", "requestID": "per_1", "reply": "once"}), got(2))
	if h.heard() != "permission.asked permission.replied dispose" {
		t.Errorf(`heard %s, want "permission.asked permission.replied dispose"`, h.heard())
	}
	if calls := p.clientCalls(); calls != "" {
		t.Errorf("answered as well: %s", calls)
	}
	if e := h.events(t, event.PermissionResolved); len(e) != 1 || e[0].Detail != "once" {
		t.Errorf(`e = %+v, want 1 of them and e[0].Detail = "once"`, e)
	}
}

// While the daemon asks a person a dialog is up in pi, too; whoever is first
// counts and the other is told.
func TestPiDialogAndRemoteRace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer, confirm string
		refused               string
		told                  string // Detail of what the daemon is told
		closed                bool
	}{
		{"remote yes", waiting + `{"allow":true}`, "wait", "", "", true},
		{"remote no", waiting + `{"block":true,"reason":"not today"}`, "wait", "not today", "", true},
		{"local yes", waiting + silent, "yes", "", "allow", false},
		{"local no", waiting + silent, "no", "the user at pi refused it", "deny", false},
		{"nobody elsewhere, yes here", waiting + `{}`, "yes", "", "allow", false},
		{"nobody asked", `{}`, "no", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newFakeDaemon(t, func(r *frame.Request) string {
				if r.Event != "tool_call" {
					return ""
				}
				if !r.Waits {
					t.Errorf("%s: pi did not say that it can show a dialog", c.name)
				}
				return c.answer
			})
			p := play(t, "pi", h.dir, plugins.Options{}, []string{"HARNESS_CONFIRM=" + c.confirm}, piCall("call", "ls"),
				await("call"),
				piEmit("session_shutdown", step{}))
			if refused, _ := evaluated(t, "pi", p, "call"); refused != c.refused {
				t.Errorf("%s: refused %q, want %q", c.name, refused, c.refused)
			}
			shown := strings.Join(p.Notices, "\n")
			if strings.Contains(shown, "it writes") != strings.HasPrefix(c.answer, waiting) ||
				strings.Contains(shown, "closed") != c.closed {
				t.Errorf(`%s: shown %q; want strings.Contains(shown, "it writes") == `+
					`strings.HasPrefix(c.answer, waiting) and strings.Contains(shown, "closed") == c.closed`,
					c.name, shown)
			}
			told := ""
			for _, e := range h.events(t, event.PermissionResolved) {
				told += e.Detail
				if e.Tool == nil || e.Tool.Name != "bash" || e.Tool.CallID == "" {
					t.Errorf(`%s: e = %+v, want e.Tool other than nil, e.Tool.Name = "bash" and e.Tool.CallID not `+
						`empty`, c.name, e)
				}
			}
			if told != c.told {
				t.Errorf("%s: the daemon was told %q", c.name, told)
			}
		})
	}
	// Without a screen nothing is shown, and the daemon's word counts.
	h := newFakeDaemon(t, answers(map[string]string{"tool_call": waiting + `{}`}))
	p := play(t, "pi", h.dir, plugins.Options{}, []string{"HARNESS_CONFIRM=no", "HARNESS_MODE=print"},
		piCall("call", "ls"), await("call"))
	if refused, _ := evaluated(t, "pi", p, "call"); refused != "" || len(p.Notices) != 0 {
		t.Errorf("printing: refused %q, shown %q", refused, p.Notices)
	}
}

func TestTextsArePutIntoSessions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent string
		begin step
		id    string
		want  string
	}{
		{"opencode", ocEvent("session.created", step{"info": step{"id": "ses_1"}, "sessionID": "ses_1"}), "ses_1", `promptAsync {"path":{"id":"ses_1"},"body":{"parts":[{"type":"text","text":"do ünicode"}]}}`},
		{"pi", piEmit("session_start", step{"reason": "startup"}), "pi-1", `sendUserMessage {"words":"do ünicode","deliverAs":"followUp"}`},
	} {
		h := newFakeDaemon(t, nil)
		h.texts = []wire.OutboxText{{ID: "t1", Session: c.id, Text: "do ünicode"},
			{ID: "t1", Session: c.id, Text: "do ünicode"}, {ID: "t2", Session: "gone", Text: "x"}}
		p := play(t, c.agent, h.dir, plugins.Options{}, nil, c.begin, called(1), step{"do": "until", "poll": 2})
		if calls := p.clientCalls(); calls != c.want {
			t.Errorf("%s: %s\nwant %s", c.agent, calls, c.want)
		}
		h.mu.Lock()
		polls := h.polls
		h.mu.Unlock()
		if len(polls) < 2 || polls[0].Agent != c.agent || len(polls[0].Sessions) != 1 || polls[0].Sessions[0] != c.id ||
			polls[0].Poller == "" || polls[1].Poller != polls[0].Poller {
			t.Fatalf("%s: polls = %+v, want len(polls) at least 2, polls[0].Agent = %q, len(polls[0].Sessions) = 1, "+
				"polls[0].Sessions[0] = %q, polls[0].Poller not empty and polls[1].Poller = polls[0].Poller",
				c.agent, polls, c.agent, c.id)
		}
		if d := polls[1].Done; len(d) != 3 || d[0].Error != "" || d[1].Error != "" ||
			!strings.Contains(d[2].Error, "gone") {
			t.Errorf(`%s: done %+v; want len(d) == 3, d[0].Error == "", d[1].Error == "" and "gone" in `+
				`d[2].Error`, c.agent, d)
		}
	}
	// A pi that only prints takes nothing.
	h := newFakeDaemon(t, nil)
	play(t, "pi", h.dir, plugins.Options{}, []string{"HARNESS_MODE=print"},
		piEmit("session_start", step{"reason": "startup"}), got(1))
	if len(h.polls) != 0 {
		t.Errorf("h.polls = %+v, want none", h.polls)
	}
}
