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
	"github.com/hookmux/hookmux/internal/agentfacts"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// AgentsCommand is `hookmux agents`.
func AgentsCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Every agent: is it here, is it hooked, what hooks can do there",
		Long: `Lists every agent that hookmux knows, those of this machine first: the version
that is here, whether hookmux is in its config, what hooks can do there, when the
last event came (from the daemon, where one runs; none is started), and with which
version it was last verified.

What hooks can do: observe (they hear of calls), veto (they can refuse one),
answer (they can also approve one, so that you can answer from elsewhere).`,
		Example: `  hookmux agents
  hookmux agents show claude       # places, events, answers, time limits, traps, proof
  hookmux agents check mine.yaml   # a description of an agent of your own
  hookmux agents --json | jq '.[] | select(.here) | .name'`,
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return listAgents(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: [{name, title, here, program, version, hooked, wrong, "+
		"can, tier, last, verified, verifiedOn, tried, newer, own}]")
	cmd.AddCommand(showAgentCommand(app), checkAgentCommand(app), agentSchemaCommand(app))
	return cmd
}

// AgentState is an agent as it stands on this machine.
type AgentState struct {
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Here     bool             `json:"here"`
	Program  string           `json:"program,omitempty"`
	Config   string           `json:"config,omitempty"` // its folder, where it is there
	Version  string           `json:"version,omitempty"`
	Hooked   bool             `json:"hooked"`
	Wrong    string           `json:"wrong,omitempty"`
	Can      agentfacts.Power `json:"can"`
	Tier     string           `json:"tier"`
	Last     *time.Time       `json:"last,omitempty"`
	Verified string           `json:"verified,omitempty"` // the version of the last recorded verification
	Day      string           `json:"verifiedOn,omitempty"`
	Tried    string           `json:"tried,omitempty"`
	Newer    bool             `json:"newer,omitempty"` // the version here is newer than what is known was tried with
	Own      bool             `json:"own,omitempty"`   // it is not among those that come with hookmux

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
			Name: a.Name, Title: a.Title, Can: facts.ClaimedPower(), Tier: facts.Tier(), Tried: a.Tried, Own: !builtin,
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

// addLastEvents takes from the daemon, where one runs, when each agent was last
// heard, and its version where the program did not tell.
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
			app.PrintNotes([]string{"the daemon does not say when agents were last heard: " + err.Error()})
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

// lookingHost is this machine as far as it is only looked at.
func lookingHost(app *cmdutil.App) (*install.Host, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return &install.Host{Dirs: dirs, Project: projectFolder(app.Cwd()), Getenv: app.Getenv}, nil
}

func listAgents(ctx context.Context, app *cmdutil.App, asJSON bool) error {
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
		rows = append(rows, text.AgentRow{
			Name: one.Name, Here: one.Here, Version: one.Version, Hooked: word, Wrong: one.Wrong != "",
			Can: string(one.Can), Last: one.Last, Verified: one.Verified, Day: one.Day, Newer: one.Newer,
		})
	}
	style := app.Style()
	style.Agents(app.Stdout, rows, time.Now())
	app.Say("%d agents, %d here, %d hooked; `hookmux agents show AGENT` tells more of one", len(list), here, hooked)
	if len(newer) > 0 {
		app.Say("%s", text.Wrap("newer here than what was verified: "+strings.Join(newer, ", ")+"; `hookmux verify "+
			strings.Join(newer, " ")+"` asks what is here", style.Width, 0))
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
