package sources

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// LoadCatalogue returns the built-in agents, those of the machine's owner, those of the user
// as last accepted, and those that trusted projects add. store may be nil: then the user's
// files are used as they are. byUser says that you ask: if nothing was accepted yet, what is
// there is used, because you're about to be asked to accept it.
func LoadCatalogue(dirs paths.Dirs, store *accepted.Store, byUser bool) (*agent.Catalogue, []agent.Problem) {
	files, problems := filesOutsideProjects(dirs, store, byUser)
	c, wrong := agent.LoadFiles(files)
	problems = append(problems, wrong...)
	for _, folder := range []string{dirs.System, dirs.Config} {
		for _, name := range accepted.IgnoredIn(filepath.Join(folder, "agents"), accepted.IsAgentFile) {
			problems = append(problems, ignoredAgent(name))
		}
	}
	guests, ignored := projectsAgents(dirs)
	problems = append(problems, ignored...)
	for _, file := range guests {
		if wrong := refuseProject(c, file); len(wrong) > 0 {
			problems = append(problems, wrong...)
			continue
		}
		files = append(files, file)
		c, _ = agent.LoadFiles(files) // what is wrong with the others was said
	}
	return c, problems
}

func ignoredAgent(name string) agent.Problem {
	return agent.Problem{File: name, Text: "is not read: descriptions of agents lie in the folder itself and end in " +
		".yaml, in small letters; rename it, or move it elsewhere"}
}

// filesOutsideProjects returns the descriptions of agents that count everywhere.
func filesOutsideProjects(dirs paths.Dirs, store *accepted.Store, byUser bool) ([]agent.File, []agent.Problem) {
	files, problems := usersAgents(dirs, store, byUser)
	owners, wrong := agent.ReadFiles(filepath.Join(dirs.System, "agents"))
	return append(files, owners...), append(problems, wrong...)
}

// usersAgents are the user's own descriptions of agents that count.
func usersAgents(dirs paths.Dirs, store *accepted.Store, byUser bool) ([]agent.File, []agent.Problem) {
	if store != nil {
		if basis, _, _ := store.State(); basis != accepted.New || !byUser {
			var files []agent.File
			for _, c := range store.AgentsInForce() {
				files = append(files, agent.File{Name: c.Path, Data: c.Data})
			}
			return files, nil
		}
	}
	return agent.ReadFiles(filepath.Join(dirs.Config, "agents"))
}

// projectsAgents returns the descriptions of agents in projects that are trusted, from
// the trusted copies.
func projectsAgents(dirs paths.Dirs) ([]agent.File, []agent.Problem) {
	known := registry.Known{
		Agent: func(string) bool { return true }, Type: func(string, string) bool { return true },
	}
	store := trust.New(trust.Options{State: dirs.State, Parse: func(b []byte) ([]hook.Registration, error) {
		return parseHooks(b, known)
	}})
	var files []agent.File
	var problems []agent.Problem
	for _, root := range store.Roots() {
		trusted := store.InForce(root)
		for _, rel := range trusted.IgnoredAgents() {
			problems = append(problems, ignoredAgent(filepath.Join(trusted.Root, rel)))
		}
		for _, rel := range trusted.AgentFiles() {
			data, err := userfile.ReadFile(trusted.CopyOf(rel), maxAgentFile)
			if err == nil {
				files = append(files, agent.File{Name: filepath.Join(trusted.Root, rel), Data: data, Guest: true})
			}
		}
	}
	return files, problems
}

// maxAgentFile is the largest description of an agent that is read.
const maxAgentFile = 1 << 20

// InspectProjectAgent says what a project's description of an agent would be once
// the project is trusted.
func InspectProjectAgent(dirs paths.Dirs, store *accepted.Store, file agent.File) (string, []agent.Problem) {
	files, _ := filesOutsideProjects(dirs, store, true)
	c, _ := agent.LoadFiles(files)
	name := ""
	if seen := c.Inspect(file); seen.Agent != nil {
		name = seen.Agent.Name
	}
	return name, refuseProject(c, file)
}

// refuseProject says why a project's description of an agent does not count: it
// may add an agent, and change nothing about those that are known, or a
// repository could have guards see less everywhere.
func refuseProject(c *agent.Catalogue, file agent.File) []agent.Problem {
	seen := c.Inspect(file)
	if len(seen.Problems) > 0 {
		return seen.Problems
	}
	if !seen.Adds {
		return []agent.Problem{{File: file.Name, Text: fmt.Sprintf("%s is known already: a project adds agents and "+
			"changes none; put the file into ~/.config/hookmux/agents if you mean it", seen.Agent.Name)}}
	}
	if seen.Agent.Protocol {
		return []agent.Problem{{File: file.Name, Text: seen.Agent.Name + ": a project adds agents, and no protocol"}}
	}
	for _, known := range c.AllMarks() {
		for _, pair := range []struct{ own, theirs []string }{
			{seen.Agent.Marks.Programs, known.Programs}, {seen.Agent.Marks.Paths, known.Paths},
			{seen.Agent.Marks.Environment, known.Environment}, {seen.Agent.Marks.Caller, known.Caller},
		} {
			for _, mark := range pair.own {
				if known.Name != seen.Agent.Name && slices.Contains(pair.theirs, mark) {
					return []agent.Problem{{File: file.Name, Text: fmt.Sprintf("%s: its mark %s is one of %s, whose "+
						"processes a project must not take over", seen.Agent.Name, mark, known.Name)}}
				}
			}
		}
	}
	return nil
}
