package services

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBackgroundWaits(t *testing.T) {
	var b Background
	if !b.Wait(t.Context()) {
		t.Error("nothing runs: want no waiting")
	}
	release, started := make(chan struct{}), make(chan struct{})
	b.Go(func() {
		b.Go(func() { <-release })
		close(started)
		<-release
	})
	<-started
	over, end := context.WithCancel(t.Context())
	end()
	if b.Wait(over) {
		t.Error("two run: want no end of the wait before that of ctx")
	}
	close(release)
	if !b.Wait(t.Context()) {
		t.Error("both ended: want the end of the wait")
	}
}

func TestAfterEndsWithItsContext(t *testing.T) {
	var b Background
	ctx, end := context.WithCancel(t.Context())
	b.After(ctx, time.Hour, func() { t.Error("the daemon ended: want nothing done afterwards") })
	done := false
	b.After(ctx, 0, func() { done = true; end() })
	if !b.Wait(t.Context()) || !done {
		t.Errorf("want the due one done and the other one given up, got done: %v", done)
	}
}
