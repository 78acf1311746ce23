package handler

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/protocols/ahp"
)

// Backends are programs that go on running between events, one for each hook that
// has one. A program that does not answer in time, that ends, or that writes what
// is no message is ended and started again at the next event, later each time. One
// that nobody asks for a while is ended. The zero value works.
type Backends struct {
	mu     sync.Mutex
	list   map[string]*backendProgram // by hook, its variables, and folder
	closed bool
	// firstRest is how long a program rests after its second failure in a row; 0 for
	// what is usual.
	firstRest time.Duration
}

// Times of a program between events.
const (
	backendIdle = 10 * time.Minute
	usualRest   = time.Second
	maxRest     = time.Minute
	maxStrays   = 100 // lines that nobody asked for
)

// backendProgram is the program of one hook. Whoever holds turn may use the rest.
type backendProgram struct {
	turn      chan struct{}
	identity  string // of what runs
	live      *liveProgram
	failures  int
	notBefore time.Time
	idle      *time.Timer
}

// exchange brings a message to the program of a hook and has its answer read, where
// one is expected.
func (b *Backends) exchange(ctx context.Context, processes *Processes, key string, s spec, message []byte,
	read readAnswer) error {
	started := time.Now()
	p, err := b.programOf(key, s)
	if err != nil {
		return err
	}
	select {
	case p.turn <- struct{}{}: // one question at a time
	case <-ctx.Done():
		return fmt.Errorf("no answer within %s; the program was busy with other events",
			time.Since(started).Round(time.Millisecond))
	}
	defer func() { <-p.turn }()
	if b.isClosed() {
		return errDaemonEnds
	}
	if identity := identityOf(s); p.identity != identity {
		p.endLive() // another program, or the same one changed
		p.identity, p.failures, p.notBefore = identity, 0, time.Time{}
	}
	if wait := time.Until(p.notBefore); wait > 0 && p.live == nil {
		return fmt.Errorf("failed %d times and is not started again for %s; `hookmux log` says why", p.failures,
			wait.Round(100*time.Millisecond))
	}
	answer, err := p.askProgram(ctx, processes, s, message, read != nil)
	if err == nil && read != nil {
		err = read(answer)
	}
	if err != nil && !ahp.SpeaksProtocol(err) {
		p.endLive()
		p.failures++
		p.notBefore = time.Now().Add(restAfter(p.failures, cmp.Or(b.firstRest, usualRest)))
		return err
	}
	p.failures, p.notBefore = 0, time.Time{}
	p.restIdle()
	return err
}

// askProgram asks the program that runs, or starts one. One that had ended meanwhile is
// asked again, once: a question may come twice.
func (p *backendProgram) askProgram(ctx context.Context, processes *Processes, s spec, message []byte,
	answered bool) ([]byte, error) {
	if p.live != nil && p.live.hasEnded() {
		p.endLive()
	}
	if p.live != nil {
		answer, silent, err := p.live.ask(ctx, message, answered)
		if err == nil || !silent || ctx.Err() != nil {
			return answer, err
		}
		p.endLive()
	}
	live, err := startLive(processes, s)
	if err != nil {
		return nil, explainStart(s, err)
	}
	p.live = live
	answer, _, err := live.ask(ctx, message, answered)
	return answer, err
}

// restAfter is how long a program rests that failed so often in a row: not at all at
// first, then longer each time.
func restAfter(failures int, first time.Duration) time.Duration {
	if failures < 2 {
		return 0
	}
	return max(first, min(first<<min(failures-2, 8), maxRest))
}

func (p *backendProgram) endLive() {
	if p.live != nil {
		p.live.end()
		p.live = nil
	}
}

// restIdle lets the program end when nobody asks it for a while.
func (p *backendProgram) restIdle() {
	if p.idle != nil {
		p.idle.Stop()
	}
	p.idle = time.AfterFunc(backendIdle, func() {
		p.turn <- struct{}{}
		p.endLive()
		<-p.turn
	})
}

func (b *Backends) programOf(key string, s spec) (*backendProgram, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errDaemonEnds
	}
	key += "\x00" + s.dir
	p := b.list[key]
	if p == nil {
		if b.list == nil {
			b.list = map[string]*backendProgram{}
		}
		p = &backendProgram{turn: make(chan struct{}, 1)}
		b.list[key] = p
	}
	return p, nil
}

func (b *Backends) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

var errDaemonEnds = fmt.Errorf("the daemon is ending")

// Close ends every program; nothing is asked any more.
func (b *Backends) Close() {
	b.mu.Lock()
	b.closed = true
	list := b.list
	b.list = nil
	b.mu.Unlock()
	for _, p := range list {
		p.turn <- struct{}{} // questions have ended with the daemon's context
		if p.idle != nil {
			p.idle.Stop()
		}
		p.endLive()
		<-p.turn
	}
}

// identityOf is what is run: the words and the files that these name, so that a program
// that was replaced is started anew.
func identityOf(s spec) string {
	var b strings.Builder
	for _, word := range append([]string{s.path}, s.args...) {
		b.WriteString(word)
		if filepath.IsAbs(word) {
			if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
				fmt.Fprintf(&b, " %d %d", info.Size(), info.ModTime().UnixNano())
			}
		}
		b.WriteByte(0)
	}
	return b.String()
}
