package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/ui/agentfacts"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// AgentsCommand is `hookmux agents`.
func AgentsCommand(app *cmdutil.App) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List your agents and what hooks can do there",
		Long: `Lists the agents on this machine: their version, whether hookmux's hooks are
installed, what hooks can do there, when the last event arrived, and which
version we last verified. --all lists every agent hookmux knows.

What hooks can do: watch only (they see calls), block only (they can also block
one), approve and block (they can also approve one, so you can answer from
anywhere).`,
		Example: `  hookmux agents
  hookmux agents --all
  hookmux agents show claude       # its config files, events, pitfalls
  hookmux agents check mine.yaml   # an agent you described yourself
  hookmux agents --json | jq '.[] | select(.here) | .name'`,
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAgents(cmd.Context(), app, all, asJSON) },
	}
	list := &cobra.Command{
		Use: "list", Short: cmd.Short, Example: "  hookmux agents list --all", Args: cmdutil.ExactArgs(), RunE: cmd.RunE,
	}
	for _, c := range []*cobra.Command{cmd, list} {
		c.Flags().BoolVar(&all, "all", false, "every agent hookmux knows, not only those on this machine")
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON: every agent as {name, title, here, program, version, hooked, "+
			"wrong, can, evidence, last, verified, verifiedOn, tried, newer, own}")
	}
	cmd.AddCommand(list, showAgentCommand(app), checkAgentCommand(app))
	return cmd
}

// AgentState is the state of an agent on this machine.
type AgentState struct {
	Name     string              `json:"name"`
	Title    string              `json:"title"`
	Here     bool                `json:"here"`
	Program  string              `json:"program,omitempty"`
	Config   string              `json:"config,omitempty"` // its folder, if it exists
	Version  string              `json:"version,omitempty"`
	Hooked   bool                `json:"hooked"`
	Wrong    string              `json:"wrong,omitempty"`
	Can      agentfacts.Power    `json:"can"`
	Evidence agentfacts.Evidence `json:"evidence"`
	Last     *time.Time          `json:"last,omitempty"`
	Verified string              `json:"verified,omitempty"` // the version of the last recorded verification
	Day      string              `json:"verifiedOn,omitempty"`
	Tried    string              `json:"tried,omitempty"`
	Newer    bool                `json:"newer,omitempty"` // the version here is newer than what is known was tried with
	Own      bool                `json:"own,omitempty"`   // it is not among those that come with hookmux

	facts agentfacts.Facts
}

// agentStates looks at every agent of the catalogue, those of this machine
// first. Programs are asked for their versions; no daemon is started.
func agentStates(ctx context.Context, app *cmdutil.App, c *agent.Catalogue) ([]*AgentState, error) {
	h, err := lookingHost(app)
	if err != nil {
		return nil, err
	}
	var list []*AgentState
	for _, a := range c.Agents() {
		facts, err := agentfacts.FactsOf(a)
		if err != nil {
			return nil, err
		}
		_, builtin := agent.Builtin().Agent(a.Name)
		one := &AgentState{
			Name: a.Name, Title: a.Title, Can: facts.ClaimedPower(), Evidence: facts.Evidence(), Tried: a.Tried, Own: !builtin,
			facts: facts,
		}
		if facts.Verified() {
			one.Verified, one.Day = facts.Seen.Version, facts.Seen.Day
		}
		one.Program, one.Config = h.ProgramAndConfigDir(a)
		one.Here = one.Program != "" || one.Config != ""
		if a.Install != nil {
			d := h.Delivery(a)
			one.Hooked, one.Wrong = d.Ours, d.Why
		}
		list = append(list, one)
	}
	addVersions(app, list)
	addLastEvents(ctx, app, list)
	for _, one := range list {
		one.Newer = one.facts.Agent.NewerThanTried(one.Version)
	}
	slices.SortStableFunc(list, func(a, b *AgentState) int { return rankAgent(a) - rankAgent(b) })
	return list, nil
}

// rankAgent puts those that are here first.
func rankAgent(a *AgentState) int {
	if a.Here || a.Hooked {
		return 0
	}
	return 1
}

// addVersions asks the programs that are here, all at once.
func addVersions(app *cmdutil.App, list []*AgentState) {
	var agents []*agent.Agent
	for _, one := range list {
		if one.Program != "" {
			agents = append(agents, one.facts.Agent)
		}
	}
	versions := installedVersions(app, agents)
	for _, one := range list {
		one.Version = versions[one.Name]
	}
}

// addLastEvents asks the daemon, if one runs, when each agent last called, and for its
// version if the program didn't report it.
func addLastEvents(ctx context.Context, app *cmdutil.App, list []*AgentState) {
	daemon, err := app.RunningDaemon()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cmdutil.DaemonWait)
	defer cancel()
	info, err := daemon.Info(ctx)
	if err != nil {
		if !errors.Is(err, client.ErrNoDaemon) {
			app.PrintNotes([]string{"the daemon didn't say when agents last called: " + err.Error()})
		}
		return
	}
	for _, one := range list {
		for _, seen := range info.Agents {
			if seen.Name == one.Name {
				one.Last = seen.Last
				if one.Version == "" {
					one.Version = seen.Version
				}
			}
		}
	}
}

// lookingHost returns this machine for reading only.
func lookingHost(app *cmdutil.App) (*install.Host, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return &install.Host{Dirs: dirs, Project: ProjectFolder(app.Cwd()), Getenv: app.Getenv}, nil
}

func listAgents(ctx context.Context, app *cmdutil.App, all, asJSON bool) error {
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	list, err := agentStates(ctx, app, c)
	if err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(list)
	}
	rows := make([]text.AgentRow, 0, len(list))
	here, hooked, newer := 0, 0, []string{}
	for _, one := range list {
		word := "no"
		switch {
		case one.Wrong != "" && !one.Hooked:
			word = "removed"
		case one.Wrong != "":
			word = "not all"
		case one.Hooked:
			word = "yes"
		}
		if one.Here {
			here++
		}
		if one.Hooked {
			hooked++
		}
		if one.Newer {
			newer = append(newer, one.Name)
		}
		if !all && rankAgent(one) > 0 {
			continue
		}
		rows = append(rows, text.AgentRow{
			Name: one.Name, Here: one.Here, Version: one.Version, Hooked: word, Wrong: one.Wrong != "",
			Can: string(one.Can), Last: one.Last, Verified: one.Verified, Day: one.Day, Newer: one.Newer,
		})
	}
	style := app.Style()
	if len(rows) > 0 {
		style.Agents(app.Stdout, rows, time.Now())
	}
	switch {
	case here == 0 && hooked == 0 && all:
		app.Say("%d agents, none found on this machine", len(list))
	case here == 0 && hooked == 0:
		app.Say("no agents found on this machine; `hookmux agents --all` lists the %d that hookmux knows", len(list))
	case all:
		app.Say("%d agents, %d on this machine, %d hooked", len(list), here, hooked)
	default:
		app.Say("%d on this machine, %d hooked; `hookmux agents --all` lists all %d, `agents show NAME` one of them", here,
			hooked, len(list))
	}
	if len(newer) > 0 {
		app.Say("%s", text.Wrap("newer than the version we verified: "+strings.Join(newer, ", ")+"; to test yours, run `hookmux verify "+
			strings.Join(newer, " ")+"`", style.Width, 0))
	}
	app.PrintNotes(problemLines(app.CatalogueProblems()))
	return nil
}

func problemLines(problems []agent.Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return lines
}
