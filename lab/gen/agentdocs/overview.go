package main

import (
	_ "embed"
	"fmt"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/ui/agentfacts"
)

const head = generated + `# Agents

Each agent has a page: what a hook can do there, how hookmux is installed, what's good to know. ` + "`hookmux agents`" + ` shows the agents on your machine, ` + "`hookmux agents show AGENT`" + ` everything about one.

- *tested*: a real agent did it. ✓ marks each ability that the last recorded [` + "`hookmux verify`" + `](contributing/verify.md) confirmed.
- *documented*: its vendor says so; *yes* is the same for a single ability.
- *untested*: neither.

What an agent can't express becomes the nearest safe answer: ask and changed input become deny, allow becomes no decision. ` + "`hookmux why`" + ` shows when that happened.

| Agent | Evidence | Block | Approve | Ask | Change input | Add context | Continue |
|---|---|---|---|---|---|---|---|
`

//go:embed own.yaml
var ownExample string

var ownAgents = `
## An agent that isn't listed

If your agent is unsupported, describe it in a file in ` + "`~/.config/hookmux/agents/`" + `, and hookmux installs, guards and shows it like the others. This one calls hooks the way Claude Code does:

` + "```yaml\n" + ownExample + "```" + `

` + "`hookmux agents check FILE`" + ` says what's wrong with it and what would be installed. ` + "`hookmux schema agent`" + ` prints the [schema](schema/agent.schema.json), so your editor can complete it. A file with the name of a known agent (see ` + "`agent/data`" + ` in the repository) adds to what hookmux knows about it.

An agent with a tool.before event must name the payload keys of the tool and its input (` + "`fields`" + `) and describe its tools; otherwise the file is refused, because guards would be blind. An agent without hooks that speaks ACP works through [` + "`hookmux acp`" + `](acp.md).
`

// overview is the page with the table of all agents.
func overview(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	var b strings.Builder
	b.WriteString(head)
	for _, a := range c.Agents() {
		f := agentfacts.Facts{Agent: a, Seen: seen[a.Name]}
		fmt.Fprintf(&b, "| [%s](agents/%s.md) | %s", a.Title, a.Name, f.Evidence())
		for _, name := range []string{"deny", "allow", "ask", "input", "context", "keep"} {
			switch {
			case !f.Claims(name):
				b.WriteString(" | –")
			case f.Proven(name):
				b.WriteString(" | ✓")
			default:
				b.WriteString(" | yes")
			}
		}
		b.WriteString(" |\n")
	}
	b.WriteString(ownAgents)
	listDriven(&b, c, seen)
	return b.String()
}

// listDriven lists agents that are not in the catalogue yet but can be run.
func listDriven(b *strings.Builder, c *agent.Catalogue, seen map[string]recordings.Summary) {
	var names []string
	for name := range seen {
		if _, known := c.Agent(name); !known {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	sort.Strings(names)
	b.WriteString("\n## Agents that are driven, not yet hooked\n\nThese play a scripted turn under `hookmux " +
		"verify`, and what they tell their hooks was recorded; the catalogue does not speak to them yet.\n\n| Agent " +
		"| Version | Turn | Payloads |\n|---|---|---|---|\n")
	for _, name := range names {
		s := seen[name]
		fmt.Fprintf(b, "| %s | %s |", s.Title, s.Version)
		for _, check := range []string{"turn", "payloads"} {
			text := " – |"
			for _, r := range s.Rows {
				if r.Check == check {
					text = " " + r.Mark + " " + cell(r.Why) + " |"
				}
			}
			b.WriteString(text)
		}
		b.WriteString("\n")
	}
}
