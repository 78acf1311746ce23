package handler

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Times of a process's end.
const (
	// pipeGrace is how long what a process left running may still write.
	pipeGrace = 250 * time.Millisecond
	// killGrace is the time between SIGTERM and SIGKILL.
	killGrace = time.Second
)

// Processes are the processes that handlers started. The zero value works.
type Processes struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when nothing runs; nil while nothing waits
}

func (p *Processes) addProcess() {
	p.mu.Lock()
	p.running++
	p.mu.Unlock()
}

func (p *Processes) done() {
	p.mu.Lock()
	p.running--
	if p.running == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
	p.mu.Unlock()
}

// Wait comes back when every process that was started has ended, those whose
// handler gave up on them included, or when ctx is done.
func (p *Processes) Wait(ctx context.Context) error {
	p.mu.Lock()
	if p.running == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spec is a process to run.
type spec struct {
	path  string
	args  []string // with the name it is called by
	dir   string
	env   []string
	stdin []byte
}

// Output holds the output of a process and how it ended.
type Output struct {
	Stdout []byte
	Stderr []byte
	Exit   int
	Signal string // the signal that ended it; empty when it exited
	// TooMuch says that stdout continued after what was kept.
	TooMuch bool
	// LastWords is the end of stderr when Stderr does not reach that far.
	LastWords []byte
}

// gaveUp returns the failure of a process whose time was over.
func gaveUp(ctx context.Context, started time.Time) error {
	took := time.Since(started).Round(time.Millisecond)
	if ctx.Err() == context.DeadlineExceeded {
		return fmt.Errorf("no answer within %s; it was ended", took)
	}
	return fmt.Errorf("given up after %s; it was ended", took)
}
