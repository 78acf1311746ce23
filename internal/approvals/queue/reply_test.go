package queue

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// With a store that fails every time but once, of many who answer at once
// exactly one succeeds, and nobody is told that somebody was first before that
// is true.
func TestRepliesOverAFailingStore(t *testing.T) {
	for _, works := range []int64{0, 1, 3} { // which commit gets through; 0 is none
		table := NewTable()
		ticket := mustOpen(t, table, request(call("s", "ls")))
		var tries, delivered, already, failed atomic.Int64
		var people sync.WaitGroup
		for i := range 12 {
			people.Go(func() {
				answer, err := table.Reply(ticket.ID(), yes(fmt.Sprint("p", i)), func(*Request, *UserAnswer) error {
					n := tries.Add(1)
					time.Sleep(time.Millisecond)
					if n != works {
						return errors.New("disk full")
					}
					return nil
				})
				switch {
				case err != nil:
					failed.Add(1)
				case answer.Outcome == Delivered:
					delivered.Add(1)
				case answer.Outcome == Already && answer.Item.Decision != nil:
					already.Add(1)
				default:
					t.Errorf("answer %+v, want it delivered, or already given with the decision", answer)
				}
			})
		}
		people.Wait()
		want := [3]int64{0, 0, 12}
		if works > 0 {
			want = [3]int64{1, 12 - works, works - 1}
		}
		if got := [3]int64{delivered.Load(), already.Load(), failed.Load()}; got != want {
			t.Errorf("commit %d works: delivered, already, failed are %v, want %v", works, got, want)
		}
		if works == 0 && table.Waiting() != 1 {
			t.Error("it waits no more, and nobody answered")
		}
		table.Close()
	}
}

// A commit that panics leaves the request to the next one.
func TestACommitThatPanics(t *testing.T) {
	table := NewTable()
	ticket := mustOpen(t, table, request(call("s", "ls")))
	func() {
		defer func() { _ = recover() }()
		_, _ = table.Reply(ticket.ID(), yes("me"), func(*Request, *UserAnswer) error { panic("oops") })
	}()
	if answer, err := table.Reply(ticket.ID(), yes("you"), fine); err != nil || answer.Outcome != Delivered {
		t.Errorf("answer = %+v, error %v; want no error and answer.Outcome = Delivered", answer, err)
	}
}

// Who waits behind another's reply hears at once that the request is over.
func TestWaitingBehindAReplyThatHangs(t *testing.T) {
	table := NewTable()
	ticket := mustOpen(t, table, request(call("s", "ls")))
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := make(chan Answer, 1)
	go func() {
		a, _ := table.Reply(ticket.ID(), yes("first"), func(*Request, *UserAnswer) error { close(begun); <-goOn; return nil })
		first <- a
	}()
	<-begun
	second := make(chan Answer, 1)
	go func() {
		a, _ := table.Reply(ticket.ID(), yes("second"), fine)
		second <- a
	}()
	table.End(ticket.ID(), Skipped)
	if a := <-second; a.Outcome != Gone {
		t.Errorf("a = %+v, want a.Outcome = Gone", a)
	}
	close(goOn)
	if a := <-first; a.Outcome != Gone {
		t.Errorf("a = %+v, want a.Outcome = Gone", a)
	}
}
