package daemon

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

// plugin is somebody who asks for texts as our plugins do.
func plugin(t *testing.T, w *daemonFixture, name string, take func(wire.OutboxText) string,
	sessions ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		c := &client.Client{Socket: w.Dirs.Socket(), Timeout: daemontest.Patience}
		var done []wire.OutboxDone
		for ctx.Err() == nil {
			var got wire.OutboxResult
			if c.Call(ctx, wire.MethodOutbox, wire.OutboxParams{Agent: "opencode", Poller: name, Sessions: sessions,
				Wait: 10, Done: done}, &got) != nil {
				return
			}
			done = nil
			for _, text := range got.Texts {
				done = append(done, wire.OutboxDone{ID: text.ID, Error: take(text)})
			}
		}
	}()
	w.Eventually("the plugin listens", func() bool { return w.h.outbox.Listens("opencode", sessions[0]) })
	return func() { cancel(); <-over }
}

func TestTextsReachTheSessionTheyAreFor(t *testing.T) {
	w := open(t)
	if ok, err := w.h.Send("opencode", "ses_1", "nobody hears this"); ok || err != nil {
		t.Fatalf("ok = %v, error %v; want not ok and no error", ok, err)
	}
	var got []wire.OutboxText
	stop := plugin(t, w, "one", func(text wire.OutboxText) string { got = append(got, text); return "" }, "ses_1",
		"ses_2")
	other := plugin(t, w, "other", func(wire.OutboxText) string { return "not mine" }, "ses_3")
	if ok, err := w.h.Send("opencode", "ses_1", "first"); !ok || err != nil {
		t.Fatalf("ok = %v, error %v; want ok and no error", ok, err)
	}
	if ok, err := w.h.Send("opencode", "ses_2", "second"); !ok || err != nil {
		t.Fatalf("ok = %v, error %v; want ok and no error", ok, err)
	}
	if ok, err := w.h.Send("opencode", "ses_3", "refused"); ok || err == nil ||
		!strings.Contains(err.Error(), "not mine") {
		t.Fatalf(`ok = %v, error %v; want not ok, an error and "not mine" in err.Error()`, ok, err)
	}
	if ok, err := w.h.Send("pi", "ses_1", "another agent's"); ok || err != nil {
		t.Fatalf("ok = %v, error %v; want not ok and no error", ok, err)
	}
	stop()
	other()
	if len(got) != 2 || got[0].Session != "ses_1" || got[0].Text != "first" || got[1].Session != "ses_2" {
		t.Errorf(`got %+v, want 2 of them, got[0].Session = "ses_1", got[0].Text = "first" and got[1].Session = `+
			`"ses_2"`, got)
	}
	w.Eventually("a plugin that hung up is not counted",
		func() bool { return !w.h.outbox.Listens("opencode", "ses_1") })
}

func TestOutboxIsForThePluginOfTheAgent(t *testing.T) {
	w := open(t)
	w.Table.Set(daemontest.BelowAgent("claude"))
	err := w.Client.Call(context.Background(), wire.MethodOutbox,
		wire.OutboxParams{Agent: "opencode", Sessions: []string{"s"}, Wait: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "meant for opencode") {
		t.Errorf(`error %v, want an error and "meant for opencode" in err.Error()`, err)
	}
	w.Table.Set(daemontest.BelowAgent("opencode"))
	w.h.ForgetProcesses()
	err = w.Client.Call(context.Background(), wire.MethodOutbox,
		wire.OutboxParams{Agent: "opencode", Sessions: []string{"s"}, Wait: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "not to what it started") {
		t.Errorf("a tool of the agent: %v", err)
	}
	w.Table.Set(daemontest.AtTerminal(proctest.Node{PID: os.Getpid(), Name: "opencode",
		Program: "/opt/opencode/bin/opencode"}))
	w.h.ForgetProcesses()
	err = w.Client.Call(context.Background(), wire.MethodOutbox,
		wire.OutboxParams{Agent: "opencode", Sessions: []string{"s"}, Wait: 0.01}, nil)
	if err != nil {
		t.Errorf("the agent itself: %v", err)
	}
	for _, bad := range []wire.OutboxParams{{Agent: "opencode"}, {Agent: "nosuch", Sessions: []string{"s"}}} {
		if err := w.Client.Call(context.Background(), wire.MethodOutbox, bad, nil); err == nil {
			t.Errorf("%+v was taken; want an error", bad)
		}
	}
}
