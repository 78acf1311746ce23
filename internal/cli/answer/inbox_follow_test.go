package answer

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/wire"
)

// screen holds what was shown; timers write to it as well.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A question that stands at the agent's own prompt for a moment, before it comes as a
// request, is shown once: as the request. One that stays is shown.
func TestQuestionsAreShownInOneForm(t *testing.T) {
	out := &screen{}
	app := &cmdutil.App{Stdout: out, Stderr: out}
	f := &inboxFollower{app: app, settle: time.Hour, open: map[string]*client.Request{}, late: map[string]*time.Timer{},
		fresh: map[string]bool{}, ready: &client.InboxReady{Attached: true}}
	window := &client.Request{ID: "s.1", Status: wire.InboxPrompt, Agent: "claude", Session: "s", Shown: "Which colour?"}
	queued := &client.Request{ID: "abcd", Status: wire.InboxPending, Agent: "claude", Session: "s", Shown: "Which colour?\n"}
	for _, note := range []client.InboxNote{
		{Method: wire.NoteInboxPrompt, Item: window}, {Method: wire.NoteInboxReceived, Item: queued},
		{Method: wire.NoteInboxPromptOver, Item: window},
	} {
		if err := f.handleNote(note); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.text(), "Which colour?"); n != 1 {
		t.Errorf("the question is shown %d times, want once:\n%s", n, out.text())
	}
	f.settle = 0
	if err := f.handleNote(client.InboxNote{Method: wire.NoteInboxPrompt, Item: window}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the question that stays is shown", func() bool {
		return strings.Count(out.text(), "Which colour?") == 2
	})
}
