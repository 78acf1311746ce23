package cmux

import (
	"slices"
	"strings"
)

// splitWorkstream splits <agent>-<session>. Names of agents may contain dashes themselves,
// so the longest name of the catalogue that fits is used.
func (s *Server) splitWorkstream(id, source string) (agent, session string) {
	agent = s.AgentName(source)
	names := []string{}
	for _, a := range s.Catalogue.Agents() {
		names = append(names, a.Name)
		names = append(names, a.Aliases...)
	}
	if source != "" {
		names = append(names, source)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, name := range names {
		if rest, ok := strings.CutPrefix(id, name+"-"); ok && rest != "" {
			if agent == "" {
				agent = s.AgentName(name)
			}
			if s.AgentName(name) == agent {
				return agent, rest
			}
		}
	}
	if agent == "" {
		agent = "unknown"
	}
	return agent, id
}
