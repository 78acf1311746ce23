package pipeline

import (
	"os/exec"

	"github.com/hookmux/hookmux/internal/wire"
)

// Counts returns how many events came, were decided and denied.
func (p *Pipeline) Counts() wire.Counts {
	return wire.Counts{
		Events: p.stats.total.Load(), Decided: p.stats.decided.Load(), Denied: p.stats.denied.Load(),
		Waiting: p.open.waiting(),
	}
}

// AgentInfos returns the catalogue with what was seen of each agent.
func (p *Pipeline) AgentInfos() []wire.AgentInfo {
	p.stats.mu.Lock()
	defer p.stats.mu.Unlock()
	var list []wire.AgentInfo
	named := map[string]bool{}
	fill := func(info *wire.AgentInfo) {
		if one := p.stats.agents[info.Name]; one != nil {
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
	for name := range p.stats.agents {
		if !named[name] {
			info := wire.AgentInfo{Name: name, Title: name}
			fill(&info)
			list = append(list, info)
		}
	}
	return list
}
