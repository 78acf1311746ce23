package pipeline

import "github.com/hookmux/hookmux/agent"

// callerMark is a variable by which an agent is known.
type callerMark struct{ variable, agent string }

// callerMarks lists, for every agent, the variables that tell who calls a command in
// its files: itself, or an agent that reads its files. An agent that is started by
// another inherits the other's variables, so its own come first.
func callerMarks(c *agent.Catalogue) map[string][]callerMark {
	all := map[string][]callerMark{}
	add := func(named string, a *agent.Agent) {
		for _, variable := range a.Marks.Caller {
			all[named] = append(all[named], callerMark{variable, a.Name})
		}
	}
	for _, a := range c.Agents() {
		add(a.Name, a)
	}
	for _, a := range c.Agents() {
		if a.Install == nil || a.Guest {
			continue
		}
		for _, named := range a.Install.Reads {
			if named != a.Name {
				add(named, a)
			}
		}
	}
	return all
}

// markedCaller is the agent that the variables of a hook process name, for when its
// process is not known.
func markedCaller(marks []callerMark, env func(string) string) string {
	for _, m := range marks {
		if env(m.variable) != "" {
			return m.agent
		}
	}
	return ""
}
