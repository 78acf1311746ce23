package notify

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// playedRequests are requests whose notes a test sends.
type playedRequests struct {
	Requests
	notes chan func(each func(string, wire.InboxRequest))
}

func (p *playedRequests) Follow(ctx context.Context, each func(note string, item wire.InboxRequest)) {
	for {
		select {
		case <-ctx.Done():
			return
		case send := <-p.notes:
			send(each)
		}
	}
}

func (p *playedRequests) Viewers() []int { return nil }

// interrupted are sessions that let something happen in the middle of being listed, once.
type interrupted struct{ meanwhile func() }

func (i *interrupted) List(bool) []wire.Session {
	if meanwhile := i.meanwhile; meanwhile != nil {
		i.meanwhile = nil
		meanwhile()
	}
	return nil
}

// A request that changes between deciding to show its notice and queueing it is shown as it is
// now: the channel hears of the change last.
func TestNoticesAreQueuedInOrder(t *testing.T) {
	user := t.TempDir()
	if err := os.WriteFile(filepath.Join(user, "config.json"),
		[]byte(`{"notify": "on", "notify.channels": "desktop"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := config.New(config.Options{User: user}).Settings()
	pending := request(nil)
	inWindow := request(func(item *wire.InboxRequest) { item.Status, item.Choices = wire.InboxPrompt, nil })
	for name, c := range map[string]struct {
		meanwhile func(each func(string, wire.InboxRequest))
		want      []string // what is on the screen in the end
	}{
		"it moved to the agent's own prompt": {func(each func(string, wire.InboxRequest)) {
			each(wire.NoteInboxPrompt, inWindow)
			each(wire.NoteInboxResolved, pending)
		}, []string{inWindow.Status}},
		"it was answered": {func(each func(string, wire.InboxRequest)) {
			each(wire.NoteInboxResolved, pending)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				screen := &statusScreen{shown: map[string]string{}}
				requests := &playedRequests{notes: make(chan func(func(string, wire.InboxRequest)))}
				sessions := &interrupted{}
				s := &Service{
					Deps:     services.Deps{Catalogue: agent.Builtin()},
					settings: func() *config.Settings { return settings },
					requests: requests, sessions: sessions, now: time.Now,
					plan: newNoticePlan(), wake: make(chan struct{}, 1),
				}
				queue := newChannelQueue("desktop", screen)
				queue.isOver = s.isOver
				s.queues = map[string]*channelQueue{"desktop": queue}
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { s.Run(ctx) })

				requests.notes <- func(each func(string, wire.InboxRequest)) { each(wire.NoteInboxReceived, pending) }
				synctest.Wait()
				changed := make(chan struct{})
				listed := 0
				sessions.meanwhile = func() { // while the machine is looked at: nothing is decided yet
					sessions.meanwhile = func() { // between deciding and queueing
						listed++
						go func() {
							requests.notes <- c.meanwhile
							close(changed)
						}()
						// The change must wait for the lock, which a bubble can't see.
						for range 10_000 {
							runtime.Gosched()
						}
					}
				}
				time.Sleep(2 * settleTime)
				<-changed
				synctest.Wait()
				stop()
				running.Wait()
				if listed != 1 {
					t.Fatalf("sessions were listed %d times while a notice was queued, want once", listed)
				}
				var got []string
				for _, status := range screen.shown {
					got = append(got, status)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("the screen shows requests with status %q, want %q", got, c.want)
				}
			})
		})
	}
}

// statusScreen shows the status of each request.
type statusScreen struct{ shown map[string]string }

func (s *statusScreen) show(_ context.Context, n *Notice) error {
	s.shown[n.ID] = n.Item.Status
	return nil
}

func (s *statusScreen) withdraw(_ context.Context, n *Notice) error {
	delete(s.shown, n.ID)
	return nil
}

func (s *statusScreen) replaces() {}
