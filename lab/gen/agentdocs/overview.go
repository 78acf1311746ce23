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

hookmux knows %d agents; %d are tested with the real agent. Each has a page. What a hook can do there:

✓ tested with the real agent ([` + "`hookmux verify`" + `](contributing/verify.md)) · ○ documented by its vendor · – no

| Agent | Block | Approve | Ask you | Change input | Add context | Keep going |
|---|---|---|---|---|---|---|
`

const foot = `
What an agent can't express becomes the nearest safe answer: ask and changed input become deny, approve becomes no decision. ` + "`hookmux why`" + ` shows when that happened. Agents with – under *Approve* can only be blocked: after your yes, their own rules apply. *Keep going*: a hook can send the agent back to work when it wants to stop.

` + "`hookmux agents`" + ` shows the agents on your machine, ` + "`hookmux agents show AGENT`" + ` everything about one.
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

// overview returns the page with the table of all agents: first those that a real one tested.
func overview(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	var tested, documented, untested []agentfacts.Facts
	for _, a := range c.Agents() {
		f := agentfacts.Facts{Agent: a, Seen: seen[a.Name]}
		switch f.Evidence() {
		case agentfacts.Tested:
			tested = append(tested, f)
		case agentfacts.Documented:
			documented = append(documented, f)
		default:
			untested = append(untested, f)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, len(tested)+len(documented)+len(untested), len(tested))
	for _, f := range append(tested, documented...) {
		row(&b, f)
	}
	b.WriteString(foot)
	if len(untested) > 0 {
		b.WriteString("\nUntried so far:")
		for i, f := range untested {
			fmt.Fprintf(&b, "%s [%s](agents/%s.md)", map[bool]string{true: ","}[i > 0], f.Agent.Title, f.Agent.Name)
		}
		b.WriteString(".\n")
	}
	b.WriteString(ownAgents)
	listDriven(&b, c, seen)
	return b.String()
}

// row writes what hooks can do in one agent.
func row(b *strings.Builder, f agentfacts.Facts) {
	fmt.Fprintf(b, "| [%s](agents/%s.md)", f.Agent.Title, f.Agent.Name)
	for _, name := range []string{"deny", "allow", "ask", "input", "context", "keep"} {
		switch {
		case !f.Claims(name):
			b.WriteString(" | –")
		case f.Proven(name):
			b.WriteString(" | ✓")
		default:
			b.WriteString(" | ○")
		}
	}
	b.WriteString(" |\n")
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
