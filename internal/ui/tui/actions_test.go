package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// What takes protection away goes to the daemon while the view has left the screen to
// it: the daemon asks the user there, as it does for the commands.
func TestWeakeningIsAskedAtTheTerminal(t *testing.T) {
	stoppedBy := func(rule string) func(s *screen) {
		return func(s *screen) {
			s.daemon.detail = &wire.SessionDetail{Session: wire.Session{ID: "s4"}}
			s.daemon.entries = journalOf("s4")
			for i := range s.daemon.entries {
				if o := s.daemon.entries[i].Outcome; o != nil {
					o.Decision = []byte(strings.ReplaceAll(string(o.Decision), "destructive.rm-broad", rule))
				}
			}
			s.fillDay()
			s.press("down", "down", "down")
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(*screen)
		press   func(*screen)
		want    string
	}{
		{"off for an hour", nil, func(s *screen) { s.press("O", "enter") }, `daemon.off {"seconds":3600}`},
		{"off until on", nil, func(s *screen) {
			s.press("O")
			s.send(keyPress("backspace"))
			s.send(keyPress("backspace"))
			s.press("enter")
		}, `daemon.off {}`},
		{"a rule once", stoppedBy("destructive.rm-broad"), func(s *screen) { s.press("G"); s.wait(time.Second); s.press("G") },
			`guard.allow {"rule":"destructive.rm-broad","once":true}`},
		{"a budget once", stoppedBy("budget/day-5usd"), func(s *screen) { s.press("G"); s.wait(time.Second); s.press("G") },
			`usage.budgets.lift {"budget":"day-5usd"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, 120, 30)
			s.send(infoMsg{&client.Info{}})
			if c.prepare != nil {
				c.prepare(s)
			}
			c.press(s)
			if !slices.Equal(s.daemon.calls, []string{c.want}) {
				t.Fatalf("calls: got %q, want %q; the screen:\n%s", s.daemon.calls, c.want, s.text())
			}
			if s.atTerminal != 1 {
				t.Errorf("the screen was left to the daemon %d times, want once: it asks there", s.atTerminal)
			}
		})
	}
	s := newScreen(t, 120, 30)
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	s.press("A")
	s.wait(time.Second)
	s.press("A")
	if len(s.daemon.replies) != 1 || s.atTerminal != 1 {
		t.Errorf("always: %d replies, the screen left %d times; want one of each", len(s.daemon.replies), s.atTerminal)
	}
}

func TestNothingIsWeakened(t *testing.T) {
	s := newScreen(t, 120, 30)
	s.send(infoMsg{&client.Info{}})
	s.press("O")
	s.typeText("soon")
	s.press("enter")
	s.mustShow("1hsoon isn't a time span")
	s.send(silenceMsg{})
	s.press("O", "w", "enter")
	s.send(infoMsg{&client.Info{}})
	s.press("O")
	s.send(connectionMsg{"the daemon closed the connection"})
	s.press("enter")
	if len(s.daemon.calls) != 0 {
		t.Errorf("calls: got %q, want none", s.daemon.calls)
	}
}

func TestOnAndAway(t *testing.T) {
	s := newScreen(t, 120, 30)
	s.send(infoMsg{&client.Info{Off: &wire.Off{Since: s.now}}})
	s.mustShow("hookmux is OFF", "O turn on")
	s.press("O")
	s.send(infoMsg{&client.Info{}})
	s.press("w")
	s.send(infoMsg{&client.Info{Inbox: wire.InboxInfo{Away: true}}})
	s.mustShow("You're away", "w I'm back")
	since := s.now.Add(-time.Hour)
	ended := *s.request("k9", nil)
	ended.Decision = &wire.InboxDecision{Choice: "deny", By: "you", Outcome: "delivered"}
	s.daemon.digest = client.Digest{WasAway: true, Since: &since, Ended: []wire.InboxRequest{ended}, Permitted: 3}
	s.press("w")
	s.mustShow("While you were away", "1 closed", "3 allowed by saved permissions", "$ go test ./...", "denied by you")
	s.press("esc")
	if got, want := strings.Join(s.daemon.calls, ", "), "daemon.on null, away, back"; got != want {
		t.Errorf("calls: got %s, want %s", got, want)
	}
	if s.atTerminal != 0 {
		t.Errorf("the screen was left %d times for what weakens nothing", s.atTerminal)
	}
}

// Several requests are approved together: each in full on one page, and only those
// that still wait as they were shown.
func TestBatch(t *testing.T) {
	s := newScreen(t, 80, 24)
	one, two, three := s.request("k1", nil), s.request("k2", nil), s.request("k3", nil)
	for _, item := range []*wire.InboxRequest{one, two, three} {
		s.arrive(item)
	}
	s.arrive(s.request("q4", func(r *wire.InboxRequest) { r.Questions, r.Choices = question(), []string{"answer", "deny"} }))
	s.wait(time.Second)
	s.press("B", "B")
	s.mustShow("1 of 3", "2 of 3", "3 of 3", "Too soon")
	s.arrive(s.request("k5", nil)) // too late to be part of it
	s.end(two)
	s.arrive(s.request("k3", func(r *wire.InboxRequest) { r.Shown = "  $ rm -rf build\n" }))
	s.wait(time.Second)
	s.press("B")
	if len(s.daemon.replies) != 1 || s.daemon.replies[0].ID != "k1" || s.daemon.replies[0].SHA256 != one.SHA256 {
		t.Errorf("replies: got %s, want k1 alone", toJSON(s.daemon.replies))
	}
	s.mustShow("Approved 1; 2 had been answered or had changed; 1 left for you.")
}

func TestLongBatchIsReadToItsEnd(t *testing.T) {
	s := newScreen(t, 80, 12)
	for _, id := range []string{"k1", "k2"} {
		s.arrive(s.request(id, func(r *wire.InboxRequest) { r.Shown = strings.Repeat("  $ echo "+id+"\n", 20) }))
	}
	s.wait(time.Second)
	s.press("B")
	s.wait(time.Second)
	s.press("B")
	s.mustShow("More to read")
	for range 10 {
		s.wait(200 * time.Millisecond)
		s.press("space")
	}
	s.wait(time.Second)
	s.press("B")
	if len(s.daemon.replies) != 2 {
		t.Errorf("replies: got %s, want both; the screen:\n%s", toJSON(s.daemon.replies), s.text())
	}
}

func TestBatchAsksForThePIN(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.daemon.pin = "4711"
	s.arrive(s.request("k1", nil))
	s.arrive(s.request("k2", nil))
	s.wait(time.Second)
	s.press("B")
	s.wait(time.Second)
	s.press("B")
	s.mustShow("─ PIN ─")
	s.typeText("4711")
	s.press("enter")
	if len(s.daemon.replies) != 2 {
		t.Errorf("replies: got %s, want two with the PIN", toJSON(s.daemon.replies))
	}
}

func TestResume(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.model.opts.Resume = func(_ context.Context, one *wire.Session) (string, error) {
		if one.ID != "s1" {
			return "", errors.New("no such session")
		}
		return "taken up in pane %9", nil
	}
	ended := s.now.Add(-time.Minute)
	s.send(sessionsMsg{{ID: "s1", Agent: "claude", Status: "idle", Ended: &ended, Resumable: true}})
	s.press("h")
	s.mustShow("c resume")
	s.press("c")
	s.mustShow("taken up in pane %9")
}

// The text of a command stays as it is, whatever is coloured in it.
func TestColoursChangeNoText(t *testing.T) {
	for _, command := range []string{"echo 'a b' \"$x\" $(ls -la) # end", "if true; then rm -rf x; fi", "a && b || c | d > e 2>&1",
		"cat <<EOF\nwords\nEOF", "for i in 1 2; do echo $i; done", "not ( shell", "x=1 { y; }", "echo 漢字 \"é\"",
		"(cd x; make) &", "! grep -q x y"} {
		var card strings.Builder
		for line := range strings.SplitSeq(command, "\n") {
			card.WriteString("  $ " + line + "\n")
		}
		b := &body{width: 60}
		b.addCard(card.String(), "")
		var got strings.Builder
		for i := range b.lines {
			got.WriteString(stripStyles(b.lines[i].render()) + "\n")
		}
		if got.String() != card.String() {
			t.Errorf("%q: drawn as %q; want got.String() == card.String()", card.String(), got.String())
		}
	}
}

func stripStyles(s string) string { return styleSequence.ReplaceAllString(s, "") }

// One key never approves what is dangerous together with what isn't, nor a plan or a question.
func TestBatchLeavesOutDangerousRequests(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.arrive(s.request("k1", nil))
	s.arrive(s.request("k2", nil))
	s.arrive(s.request("k3", func(r *wire.InboxRequest) { r.Risk = riskHigh }))
	s.arrive(s.request("k4", func(r *wire.InboxRequest) { r.Questions, r.Choices = question(), []string{"answer", "once"} }))
	s.arrive(s.request("k5", func(r *wire.InboxRequest) { r.Kind = "plan" }))
	s.wait(time.Second)
	s.press("B")
	s.mustShow("Approve 2 together · 3 left for you", "B approve both")
	for range 5 {
		s.wait(time.Second)
		s.press("space")
	}
	s.wait(time.Second)
	s.press("B")
	var ids []string
	for _, reply := range s.daemon.replies {
		ids = append(ids, reply.ID)
	}
	if got := strings.Join(ids, " "); got != "k1 k2" {
		t.Errorf("approved %s, want k1 k2", got)
	}
	s.mustShow("Approved 2; 3 left for you.")
}

// What turns dangerous while the batch is read isn't approved with it.
func TestBatchLeavesOutWhatTurnsDangerous(t *testing.T) {
	s := newScreen(t, 80, 40)
	s.arrive(s.request("k1", nil))
	s.arrive(s.request("k2", nil))
	s.wait(time.Second)
	s.press("B")
	s.wait(time.Second)
	s.arrive(s.request("k2", func(r *wire.InboxRequest) { r.Risk = riskHigh }))
	s.wait(time.Second)
	s.press("B")
	if len(s.daemon.replies) != 1 || s.daemon.replies[0].ID != "k1" {
		t.Errorf("approved %s, want k1 alone", toJSON(s.daemon.replies))
	}
}
