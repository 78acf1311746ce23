package pipeline

import "github.com/hookmux/hookmux/agent"

// callerVariable is a variable by which an agent is known.
type callerVariable struct{ variable, agent string }

// callerVariablesOf lists, for every agent, the variables that show which agent runs a
// command from its files: itself, or one that reads its files. An agent started by another
// inherits the other's variables, so its own come first.
func callerVariablesOf(c *agent.Catalogue) map[string][]callerVariable {
	all := map[string][]callerVariable{}
	add := func(named string, a *agent.Agent) {
		for _, variable := range a.Marks.Caller {
			all[named] = append(all[named], callerVariable{variable, a.Name})
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

// markedCaller returns the agent that the variables of a hook process name, for when its
// process is not known.
func markedCaller(marks []callerVariable, env func(string) string) string {
	for _, m := range marks {
		if env(m.variable) != "" {
			return m.agent
		}
	}
	return ""
}
