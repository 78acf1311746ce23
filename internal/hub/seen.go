package hub

import (
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// seenAgents counts what came from whom.
type seenAgents struct {
	total, decided, denied atomic.Uint64
	mu                     sync.Mutex
	agents                 map[string]*seenAgent
}

type seenAgent struct {
	events  uint64
	last    time.Time
	version string
}

func (s *seenAgents) note(ev *event.Event) {
	s.total.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agents == nil {
		s.agents = map[string]*seenAgent{}
	}
	one := s.agents[ev.Agent]
	if one == nil {
		if len(s.agents) > 256 {
			return // names come from outside
		}
		one = &seenAgent{}
		s.agents[ev.Agent] = one
	}
	one.events++
	one.last = ev.Time
	if ev.AgentVersion != "" {
		one.version = ev.AgentVersion
	}
}

// agentInfos is the catalogue with what was seen of each agent.
func (h *Hub) agentInfos() []wire.AgentInfo {
	h.seen.mu.Lock()
	defer h.seen.mu.Unlock()
	var list []wire.AgentInfo
	named := map[string]bool{}
	fill := func(info *wire.AgentInfo) {
		if one := h.seen.agents[info.Name]; one != nil {
			last := one.last
			info.Events, info.Last, info.Version = one.events, &last, one.version
		}
	}
	for _, a := range h.deps.Catalogue.Agents() {
		info := wire.AgentInfo{Name: a.Name, Title: a.Title}
		if path, err := exec.LookPath(a.Launch.Program); err == nil {
			info.Program = path
		}
		fill(&info)
		named[a.Name] = true
		list = append(list, info)
	}
	for name := range h.seen.agents {
		if !named[name] {
			info := wire.AgentInfo{Name: name, Title: name}
			fill(&info)
			list = append(list, info)
		}
	}
	return list
}
