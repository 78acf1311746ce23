package pipeline

import (
	"os/exec"
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

func (s *agentStats) countEvent(ev *event.Event) {
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

// Counts is how many events came, were decided and denied.
func (p *Pipeline) Counts() wire.Counts {
	return wire.Counts{
		Events: p.seen.total.Load(), Decided: p.seen.decided.Load(), Denied: p.seen.denied.Load(),
		Waiting: p.open.waiting(),
	}
}

// AgentInfos is the catalogue with what was seen of each agent.
func (p *Pipeline) AgentInfos() []wire.AgentInfo {
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	var list []wire.AgentInfo
	named := map[string]bool{}
	fill := func(info *wire.AgentInfo) {
		if one := p.seen.agents[info.Name]; one != nil {
			last := one.last
			info.Events, info.Last, info.Version = one.events, &last, one.version
		}
	}
	for _, a := range p.Deps.Catalogue.Agents() {
		info := wire.AgentInfo{Name: a.Name, Title: a.Title}
		if path, err := exec.LookPath(a.Launch.Program); err == nil {
			info.Program = path
		}
		fill(&info)
		named[a.Name] = true
		list = append(list, info)
	}
	for name := range p.seen.agents {
		if !named[name] {
			info := wire.AgentInfo{Name: name, Title: name}
			fill(&info)
			list = append(list, info)
		}
	}
	return list
}
