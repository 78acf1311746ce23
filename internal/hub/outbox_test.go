package hub

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/hubtest"
	"github.com/hookmux/hookmux/internal/wire"
)

// plugin is somebody who asks for texts as our plugins do.
func plugin(t *testing.T, w *house, name string, take func(wire.OutboxText) string, sessions ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		c := &client.Client{Socket: w.Dirs.Socket(), Timeout: hubtest.Patience}
		var done []wire.OutboxDone
		for ctx.Err() == nil {
			var got wire.OutboxResult
			if c.Call(ctx, wire.MethodOutbox, wire.OutboxParams{Agent: "opencode", Poller: name, Sessions: sessions, Wait: 10, Done: done}, &got) != nil {
				return
			}
			done = nil
			for _, text := range got.Texts {
				done = append(done, wire.OutboxDone{ID: text.ID, Error: take(text)})
			}
		}
	}()
	waitFor(t, "the plugin listens", func() bool { return w.h.outbox.listens("opencode", sessions[0]) })
	return func() { cancel(); <-over }
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(hubtest.Patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + ": not in time")
		}
	}
}

func TestTextsReachTheSessionTheyAreFor(t *testing.T) {
	w := open(t)
	if ok, err := w.h.sendTo("opencode", "ses_1", "nobody hears this"); ok || err != nil {
		t.Fatal(ok, err)
	}
	var got []wire.OutboxText
	stop := plugin(t, w, "one", func(text wire.OutboxText) string { got = append(got, text); return "" }, "ses_1", "ses_2")
	other := plugin(t, w, "other", func(wire.OutboxText) string { return "not mine" }, "ses_3")
	if ok, err := w.h.sendTo("opencode", "ses_1", "first"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := w.h.sendTo("opencode", "ses_2", "second"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := w.h.sendTo("opencode", "ses_3", "refused"); ok || err == nil || !strings.Contains(err.Error(), "not mine") {
		t.Fatal(ok, err)
	}
	if ok, err := w.h.sendTo("pi", "ses_1", "another agent's"); ok || err != nil {
		t.Fatal(ok, err)
	}
	stop()
	other()
	if len(got) != 2 || got[0].Session != "ses_1" || got[0].Text != "first" || got[1].Session != "ses_2" {
		t.Errorf("%+v", got)
	}
	waitFor(t, "a plugin that hung up is not counted", func() bool { return !w.h.outbox.listens("opencode", "ses_1") })
}

// A plugin that was handed a text and went says nothing about it, and neither
// do we.
func TestTextThatIsNotConfirmed(t *testing.T) {
	o := newOutbox()
	ctx := context.Background()
	polled := make(chan []wire.OutboxText, 1)
	go func() { polled <- o.poll(ctx, "opencode", "a", []string{"s"}) }()
	waitFor(t, "somebody listens", func() bool { return o.listens("opencode", "s") })
	ok, err := o.send(ctx, "opencode", "s", "text", 20*time.Millisecond)
	if ok || err != errUnconfirmed {
		t.Fatal(ok, err)
	}
	if got := <-polled; len(got) != 1 {
		t.Fatal(got)
	}
	if len(o.texts) != 0 {
		t.Error("it would be delivered later")
	}
	o.confirm("opencode", []wire.OutboxDone{{ID: "unknown"}})
}

// Until it is confirmed it comes again, with the same id; a plugin's newer
// question replaces the older one.
func TestTextComesAgainUntilConfirmed(t *testing.T) {
	o := newOutbox()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := make(chan []wire.OutboxText, 1)
	go func() { first <- o.poll(ctx, "pi", "a", []string{"s"}) }()
	waitFor(t, "somebody listens", func() bool { return o.listens("pi", "s") })
	second := make(chan []wire.OutboxText, 1)
	go func() { second <- o.poll(ctx, "pi", "a", []string{"s", "s2"}) }()
	if got := <-first; got != nil {
		t.Fatal("the older question got", got)
	}
	sent := make(chan bool, 1)
	go func() {
		ok, _ := o.send(ctx, "pi", "s2", "text", hubtest.Patience)
		sent <- ok
	}()
	got := <-second
	again := o.poll(ctx, "pi", "a", []string{"s2"})
	if len(got) != 1 || len(again) != 1 || got[0].ID != again[0].ID {
		t.Fatal(got, again)
	}
	o.confirm("pi", []wire.OutboxDone{{ID: got[0].ID}, {ID: got[0].ID}})
	if !<-sent {
		t.Error("confirmed, and not delivered")
	}
}

func TestOutboxIsForThePluginOfTheAgent(t *testing.T) {
	w := open(t)
	w.Table.Set(hubtest.BelowAgent("claude"))
	err := w.Client.Call(context.Background(), wire.MethodOutbox, wire.OutboxParams{Agent: "opencode", Sessions: []string{"s"}, Wait: 1}, nil)
	if err == nil || !strings.Contains(err.Error(), "meant for opencode") {
		t.Error(err)
	}
	w.Table.Set(hubtest.BelowAgent("opencode"))
	for _, bad := range []wire.OutboxParams{{Agent: "opencode"}, {Agent: "nosuch", Sessions: []string{"s"}}} {
		if err := w.Client.Call(context.Background(), wire.MethodOutbox, bad, nil); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}
