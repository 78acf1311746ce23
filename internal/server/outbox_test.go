package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

const outboxPatience = 20 * time.Second

// A plugin that was handed a text and went says nothing about it, and neither
// do we.
func TestTextThatIsNotConfirmed(t *testing.T) {
	o := NewOutbox(services.Deps{}, func(int) (string, int) { return "", 0 })
	ctx := context.Background()
	polled := make(chan []wire.OutboxText, 1)
	go func() { polled <- o.poll(ctx, "opencode", "a", []string{"s"}) }()
	await.Until(t, "somebody listens", func() bool { return o.Listens("opencode", "s") })
	ok, err := o.sendWithin(ctx, "opencode", "s", "text", 20*time.Millisecond)
	if ok || !errors.Is(err, errUnconfirmed) {
		t.Fatalf("ok = %v, error %v; want not ok and error errUnconfirmed", ok, err)
	}
	if got := <-polled; len(got) != 1 {
		t.Fatalf("got %+v, want 1 of them", got)
	}
	if len(o.texts) != 0 {
		t.Error("it would be delivered later")
	}
	o.confirm("opencode", []wire.OutboxDone{{ID: "unknown"}})
}

// Until it is confirmed it comes again, with the same id; a plugin's newer
// question replaces the older one.
func TestTextComesAgainUntilConfirmed(t *testing.T) {
	o := NewOutbox(services.Deps{}, func(int) (string, int) { return "", 0 })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := make(chan []wire.OutboxText, 1)
	go func() { first <- o.poll(ctx, "pi", "a", []string{"s"}) }()
	await.Until(t, "somebody listens", func() bool { return o.Listens("pi", "s") })
	second := make(chan []wire.OutboxText, 1)
	go func() { second <- o.poll(ctx, "pi", "a", []string{"s", "s2"}) }()
	if got := <-first; got != nil {
		t.Fatal("the older question got", got)
	}
	sent := make(chan bool, 1)
	go func() {
		ok, _ := o.sendWithin(ctx, "pi", "s2", "text", outboxPatience)
		sent <- ok
	}()
	got := <-second
	again := o.poll(ctx, "pi", "a", []string{"s2"})
	if len(got) != 1 || len(again) != 1 || got[0].ID != again[0].ID {
		t.Fatalf("got %+v, again = %+v; want len(got) = 1, len(again) = 1 and got[0].ID = again[0].ID", got, again)
	}
	o.confirm("pi", []wire.OutboxDone{{ID: got[0].ID}, {ID: got[0].ID}})
	if !<-sent {
		t.Error("confirmed, and not delivered")
	}
}
