package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// agentStats counts what came from whom.
type agentStats struct {
	total, decided, denied atomic.Uint64
	mu                     sync.Mutex
	agents                 map[string]*agentStat
}

type agentStat struct {
	events  uint64
	last    time.Time
	version string
}

// countEvent counts an event; hookmux's own probes are left out.
func (s *agentStats) countEvent(ev *event.Event) {
	if ev.Native == wire.ProbeEvent {
		return
	}
	s.total.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agents == nil {
		s.agents = map[string]*agentStat{}
	}
	one := s.agents[ev.Agent]
	if one == nil {
		if len(s.agents) > 256 {
			return // names come from outside
		}
		one = &agentStat{}
		s.agents[ev.Agent] = one
	}
	one.events++
	one.last = ev.Time
	if ev.AgentVersion != "" {
		one.version = ev.AgentVersion
	}
}

func (s *agentStats) countDecision(v event.Verdict) {
	if v == event.None {
		return
	}
	s.decided.Add(1)
	if v == event.Deny {
		s.denied.Add(1)
	}
}
