package notify

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// remembering is a channel that keeps what it was given.
type remembering struct {
	heard []string
	shown map[string]bool
}

func (r *remembering) show(_ context.Context, n *Notice) error {
	r.heard = append(r.heard, "show "+n.ID+" "+n.Title)
	if r.shown == nil {
		r.shown = map[string]bool{}
	}
	r.shown[n.ID] = true
	return nil
}

func (r *remembering) withdraw(ctx context.Context, n *Notice) error {
	r.heard = append(r.heard, "withdraw "+n.ID)
	delete(r.shown, n.ID)
	return ctx.Err()
}

func (r *remembering) replaces() {}

func noticeOf(id, title string) Notice {
	n := *sample()
	n.ID, n.Title = id, title
	return n
}

// workAll works through what is queued.
func (l *channelQueue) workAll() {
	for j, ok := l.next(); ok; j, ok = l.next() {
		l.work(context.Background(), &j)
	}
}

func TestChannelQueueIsBounded(t *testing.T) {
	heard := &remembering{}
	l := newChannelQueue("webhook", heard)
	var reported error
	l.report = func(_ string, err error) { reported = err }
	l.put(job{notice: noticeOf("first", "")})
	l.workAll()
	for i := range queuedNotices + 3 {
		l.put(job{notice: noticeOf(strconv.Itoa(i), "")})
	}
	if len(l.jobs) != queuedNotices || !errors.Is(reported, errQueueFull) || l.current().failed != 3 {
		t.Errorf("%d wait, reported %v, %d dropped; want %d, a full queue, 3", len(l.jobs), reported,
			l.current().failed, queuedNotices)
	}
	// However much waits, what was shown is taken back.
	l.put(job{notice: noticeOf("first", ""), withdraw: true})
	l.workAll()
	if heard.shown["first"] {
		t.Errorf("the first notice is still shown; the channel heard %q", heard.heard)
	}
}

// Whatever is queued in whatever order: the channel ends with exactly those notices
// that were not taken back, each as it was told last, and never hears that a notice is
// over that it was not told.
// A request that ends just before its notice is told leaves nothing on the screen.
func TestNoticeOfARequestThatEndsMeanwhile(t *testing.T) {
	heard := &remembering{}
	l := newChannelQueue("desktop", heard)
	l.isOver = func(n *Notice) bool {
		l.put(job{notice: *n, withdraw: true}) // answered right after it was asked whether it waits
		return false
	}
	l.put(job{notice: noticeOf("first", "")})
	l.workAll()
	if len(heard.shown) > 0 {
		t.Errorf("%v are still shown, after %q; want nothing", heard.shown, heard.heard)
	}
}

func TestChannelQueueEndsRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heard := &remembering{}
		l := newChannelQueue("desktop", heard)
		want := map[string]bool{}
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "id"))
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				n := noticeOf(id, strconv.Itoa(i))
				n.Again = rapid.Bool().Draw(t, "again")
				l.put(job{notice: n})
				want[id] = true
			case 1:
				l.put(job{notice: noticeOf(id, ""), withdraw: true})
				delete(want, id)
			default:
				if j, ok := l.next(); ok {
					l.work(context.Background(), &j)
				}
			}
		}
		l.workAll()
		if fmt.Sprint(heard.shown) != fmt.Sprint(want) && len(heard.shown)+len(want) > 0 {
			t.Fatalf("%v are shown, want %v; the channel heard %q", heard.shown, want, heard.heard)
		}
		shown := map[string]bool{}
		for _, line := range heard.heard {
			word, rest, _ := strings.Cut(line, " ")
			id, _, _ := strings.Cut(rest, " ")
			if word == "withdraw" && !shown[id] {
				t.Fatalf("%s is taken back and was not told: %q", id, heard.heard)
			}
			shown[id] = word == "show"
		}
	})
}

// A request that's answered in the moment its notice is being shown is withdrawn afterwards.
func TestNoticeWithdrawnWhileItIsTaken(t *testing.T) {
	screen := &remembering{}
	l := newChannelQueue("desktop", screen)
	n := noticeOf("one", "Claude Code asks for permission")
	l.put(job{notice: n})
	taken, ok := l.next()
	if !ok {
		t.Fatal("nothing was queued, want the notice")
	}
	l.put(job{notice: n, withdraw: true})
	l.work(t.Context(), &taken)
	l.workAll()
	if len(screen.shown) != 0 {
		t.Errorf("%v is still on the screen, want nothing", screen.heard)
	}
}
