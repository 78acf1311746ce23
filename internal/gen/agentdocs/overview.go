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

Each agent has a page: what hooks can do there, how hookmux gets in, what to look out for, and how all of it is known. ` + "`hookmux agents`" + ` shows the same for the agents of your machine, ` + "`hookmux agents show AGENT`" + ` one of them.

Claims are *tested* (a real agent of the version named did it), *documented* (its vendor says so) or *untested*.
A mark behind a claim is what the last recorded ` + "`hookmux verify`" + ` saw a real agent do: ✓ it works, – it wasn't confirmed; see [verify.md](verify.md).
What an agent can't express becomes the nearest safe answer (ask and changed input become deny, allow becomes no opinion), and ` + "`hookmux why`" + ` shows it.

| Agent | How it's known | Version tried | Verified | Events | Block a call | Approve | Ask | Change input | Add context | Continue |
|---|---|---|---|---|---|---|---|---|---|---|
`

//go:embed own.yaml
var ownExample string

var ownAgents = `
## An agent that is not listed

Describe it in a file under ` + "`~/.config/hookmux/agents/`" + `, and it is installed, guarded and shown like the others. This one calls hooks in the way of Claude Code:

` + "```yaml\n" + ownExample + "```" + `

` + "`hookmux agents check FILE`" + ` says what is wrong with it, and what would be installed. ` + "`hookmux schema agent`" + ` prints the [schema](schema/agent.schema.json), with which editors complete it. The files of known agents are in ` + "`agent/data`" + ` of the repository; one of the same name changes what is known about an agent.

A description with a tool.before event must name the payload keys of the tool and its input (fields), and describe its tools. It is refused otherwise, because guards would be blind. An agent that has no hooks but speaks ACP works through [` + "`hookmux acp`" + `](acp.md).
`

// overview is the page with the table of all agents.
func overview(c *agent.Catalogue, seen map[string]recordings.Summary) string {
	var b strings.Builder
	b.WriteString(head)
	for _, a := range c.Agents() {
		f := agentfacts.Facts{Agent: a, Seen: seen[a.Name]}
		fmt.Fprintf(&b, "| [%s](agents/%s.md) | %s | %s | %s | %d", a.Title, a.Name, f.Evidence(), dash(a.Tried),
			verifiedWord(f), len(a.Events))
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

// verifiedWord is when and with which version; what was only driven was not.
func verifiedWord(f agentfacts.Facts) string {
	if !f.Verified() {
		return "–"
	}
	return f.Seen.Version + " on " + f.Seen.Day
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
