// Package provider is hookmux as a backend of the Agent Hooks Protocol: an agent that
// speaks it asks hookmux about its tool calls, by stdin and stdout or by HTTP on this
// machine. Its messages go to the daemon by frames, as a hook's do, and the daemon's decision
// goes back as effects.
//
// Contract: an agent is one of its own. What it calls itself is a word behind "ahp-",
// which no agent of the catalogue has; it decides nothing, answers nothing in a person's
// place, and no other agent's permissions count for it. A message that cannot be read is an
// error, never an empty answer: the agent's own policy for failures holds then.
package provider

import (
	"context"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/protocols/acp"
	"github.com/hookmux/hookmux/internal/protocols/ahp"
)

// Daemon takes events in the order in which they are given; [acp.FrameDaemon] is one.
type Daemon interface {
	Report(r acp.Report, then func())
	Decide(ctx context.Context, r acp.Report, held func(), answer func(acp.Answer))
}

// Provider answers messages.
type Provider struct {
	Daemon Daemon
	Named  *Name

	open chan struct{} // what is being decided
	mu   sync.Mutex
	// asked are the calls that were asked about: being told of them again says nothing.
	asked bounded.Map[string, bool]
}

// maxOpen bounds what is decided at once, keepAsked what is remembered of calls.
const (
	maxOpen   = 64
	keepAsked = 1024
)

// New makes a provider.
func New(daemon Daemon, named *Name) *Provider {
	return &Provider{Daemon: daemon, Named: named, open: make(chan struct{}, maxOpen)}
}

// Take accepts a message and returns what waits for its answer; nil where nobody answers.
func (p *Provider) Take(ctx context.Context, message []byte) (answer func() []byte) {
	in, refused := ahp.ReadIncoming(message)
	if refused != nil {
		line := refused.Line()
		if line == nil {
			return nil
		}
		return func() []byte { return line }
	}
	p.Named.learn(in.Harness)
	report := acp.Report{Event: in.Event, Payload: in.Payload}
	if !in.Asks() {
		if !p.wasAsked(in, false) {
			p.Daemon.Report(report, nil)
		}
		return nil
	}
	select {
	case p.open <- struct{}{}:
	default:
		line := in.RefuseTo(ahp.CodeUnavailable, "too many questions are open").Line()
		return func() []byte { return line }
	}
	p.wasAsked(in, true)
	decided := make(chan acp.Answer, 1)
	p.Daemon.Decide(ctx, report, nil, func(a acp.Answer) { decided <- a })
	return func() []byte {
		defer func() { <-p.open }()
		select {
		case a := <-decided:
			if line, err := in.ResultLine(a.Result); err == nil {
				return line
			}
		case <-ctx.Done():
		}
		return in.RefuseTo(ahp.CodeInternal, "nothing was decided").Line()
	}
}

// wasAsked remembers a call that is asked about, and says whether it was before.
func (p *Provider) wasAsked(in *ahp.Incoming, now bool) bool {
	if in.Call == "" || !now && !in.IsToldOnly() {
		return false
	}
	key := in.Session + "\x00" + in.Call
	p.mu.Lock()
	defer p.mu.Unlock()
	_, before := p.asked.Get(key)
	if now {
		p.asked.Put(key, true, keepAsked)
	}
	return before
}

// Name is what the agent is called here: what whoever started hookmux says, else what
// the agent said first, always as an agent of its own.
type Name struct {
	mu   sync.Mutex
	name string
}

// prefix marks agents that speak the protocol.
const prefix = "ahp-"

// NewName is given's name; "" where the agent shall say it.
func NewName(given string) *Name {
	n := &Name{}
	n.learn(given)
	return n
}

func (n *Name) learn(said string) {
	said = plainName(said)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.name == "" && said != "" {
		n.name = prefix + strings.TrimPrefix(said, prefix)
	}
}

// String is the name as it is now.
func (n *Name) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.name == "" {
		return prefix + "agent"
	}
	return n.name
}

// plainName makes what an agent calls itself fit to be a name.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name[:min(len(name), 40)]))
	return strings.Trim(name, "-")
}
