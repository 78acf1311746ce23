package packs

import "github.com/hookmux/hookmux/internal/policy/rules"

// outside is the rule about every host that the user didn't list.
const outside = "network.outside"

// ExceptHosts returns a list of rules that leave some hosts alone. Without any host, the rule
// about all other hosts is left out, and only hosts known for what they are remain. With some,
// you are asked about a host that isn't known before the call runs.
func ExceptHosts(list []*rules.Rule, hosts []string) []*rules.Rule {
	own := len(hosts) > 0
	out := make([]*rules.Rule, 0, len(list))
	for _, r := range list {
		if r.ID == outside && !own {
			continue
		}
		changed := *r
		changed.Match.Host = r.Match.Host.Except(hosts)
		if r.ID == outside {
			changed.OnUnknown = "ask"
		}
		out = append(out, &changed)
	}
	return out
}
