package main

import (
	_ "embed"
	"fmt"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/agentfacts"
	"github.com/hookmux/hookmux/internal/verify/recordings"
)

const head = generated + `# Agents

Each agent has a page: what a hook can do there, how hookmux is installed, what's good to know. ` + "`hookmux agents`" + ` shows the agents on your machine, ` + "`hookmux agents show AGENT`" + ` everything about one.

- *tested*: a real agent of the version named did it. ✓ marks each ability that the last recorded [` + "`hookmux verify`" + `](verify.md) confirmed.
- *documented*: its vendor says so.
- *untested*: neither.

What an agent can't express becomes the nearest safe answer: ask and changed input become deny, allow becomes no opinion. ` + "`hookmux why`" + ` shows when that happened.

| Agent | Evidence | Version | Events | Block | Approve | Ask | Change input | Add context | Continue |
|---|---|---|---|---|---|---|---|---|---|
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
		fmt.Fprintf(&b, "| [%s](agents/%s.md) | %s | %s | %d", a.Title, a.Name, f.Evidence(), version(f),
			len(a.Events))
		for _, name := range []string{"deny", "allow", "ask", "input", "context", "keep"} {
			switch {
			case !f.Claims(name):
				b.WriteString(" | no")
			case f.Proven(name):
				b.WriteString(" | yes ✓")
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

// version returns the version that was tested, or the one that is described.
func version(f agentfacts.Facts) string {
	if f.Verified() {
		return f.Seen.Version + " (" + f.Seen.Day + ")"
	}
	return dash(f.Agent.Tried)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
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
