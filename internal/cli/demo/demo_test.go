package demo_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/demo"
	"github.com/hookmux/hookmux/internal/wire"
)

// What the demo shows can be answered, its agents go on as they were told, and
// nothing is left behind.
func TestDemo(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	want := map[string]string{ // by the first answer
		"Fix the flaky payment test":        "The test waits for the webhook now. It passed 20 times in a row.",
		"Upgrade the parser":                "Without a clean build I cannot check the upgrade.",
		"Add a cache to the product list":   "The product list is cached for a minute.",
		"Plan the move to the new database": "The schema is copied; the check found no difference.",
		"Translate the guide into German":   "The guide is translated; two screenshots still show English.",
	}
	err := demo.Run(t.Context(), func(ctx context.Context, h *demo.Daemon) error {
		ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
		defer stop()
		go func() {
			_ = h.FollowWaiting(ctx, func(n client.InboxNote) error { // the end of the demo ends it
				if n.Item != nil && n.Item.Status == wire.InboxPending {
					answerRequest(ctx, t, h, n.Item)
				}
				return nil
			})
		}()
		for ctx.Err() == nil {
			list, err := h.Sessions(ctx, client.SessionsParams{})
			if err != nil {
				return err
			}
			done := slices.DeleteFunc(list, func(s client.SessionInfo) bool { return want[s.Title] != lastWords(s) })
			if len(done) == len(want) {
				return nil
			}
			time.Sleep(100 * time.Millisecond)
		}
		list, _ := h.Sessions(context.Background(), client.SessionsParams{})
		for _, s := range list {
			t.Errorf("%s: %s, last words %q, want %q", s.Title, s.Status, lastWords(s), want[s.Title])
		}
		return nil
	})
	if err != nil {
		t.Errorf("the demo ended with %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v; want len(left) <= 0", left)
	}
	if _, err := os.Stat(temp); err != nil {
		t.Errorf("the folder for temporary files is gone: %v", err)
	}
}

func lastWords(s client.SessionInfo) string {
	if s.Turn == nil {
		return ""
	}
	return s.Turn.Summary
}

func answerRequest(ctx context.Context, t *testing.T, h *demo.Daemon, item *client.Request) {
	reply := client.InboxReply{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	switch {
	case item.Kind == "plan":
		reply.Choice, reply.Plan = "plan", "accept"
	case item.Kind == "question":
		reply.Choice = "answer"
		reply.Answers = []event.QuestionAnswer{{Question: item.Questions[0].Text, Options: []string{"Redis"}}}
	case item.Agent == "codex":
		reply.Choice = "deny"
	}
	if _, err := h.Reply(ctx, reply); err != nil && ctx.Err() == nil {
		t.Errorf("%s of %s is answered with %s: %v", item.Kind, item.Agent, reply.Choice, err)
	}
}
