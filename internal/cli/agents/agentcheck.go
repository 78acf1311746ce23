package agents

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// checkAgentCommand is `hookmux agents check`.
func checkAgentCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check an agent description you wrote",
		Long: `Reads a description of an agent as if it were in ~/.config/hookmux/agents and says
what's wrong with it, by file and line, what guards couldn't see, and what hookmux
install would write. Nothing is written. Exits 1 if the file couldn't be used.`,
		Example: `  hookmux agents check ~/.config/hookmux/agents/mine.yaml
  hookmux schema agent > ~/.config/hookmux/agent.schema.json   # for editors`,
		Args: cmdutil.ExactArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return checkAgent(app, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {file, agent, adds, errors: [{file, line, text}], "+
		"warnings, installs: [{agent, path, events}]}")
	return cmd
}

type checkedLine struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

type checkedAgent struct {
	File     string              `json:"file"`
	Agent    string              `json:"agent,omitempty"`
	Adds     bool                `json:"adds"`
	Errors   []checkedLine       `json:"errors"`
	Warnings []checkedLine       `json:"warnings"`
	Installs []install.AgentPlan `json:"installs"`
	// Refused is why `hookmux install` would write nothing.
	Refused string `json:"refused,omitempty"`
}

func checkAgent(app *cmdutil.App, name string, asJSON bool) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return cmdutil.FileError(name, err)
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	// The catalogue without the file itself, in case it is in its place already.
	var files []agent.File
	for _, dir := range []string{filepath.Join(dirs.Config, "agents"), filepath.Join(dirs.System, "agents")} {
		found, _ := agent.ReadFiles(dir) // `hookmux status` reports those
		for _, f := range found {
			if !paths.SameFile(f.Name, name) {
				files = append(files, f)
			}
		}
	}
	c, _ := agent.LoadFiles(files)
	seen := c.Inspect(agent.File{Name: name, Data: data})
	out := checkedAgent{File: name, Adds: seen.Adds, Errors: linesOf(seen.Problems), Warnings: linesOf(seen.Warnings),
		Installs: []install.AgentPlan{}}
	var plan *install.Plan
	if seen.Agent != nil {
		out.Agent = seen.Agent.Name
		if plan, err = planFor(app, seen.Agent); err != nil {
			out.Refused = err.Error()
		} else {
			out.Installs = append(out.Installs, plan.Agents...)
		}
	}
	if asJSON {
		err = app.PrintJSON(out)
	} else {
		err = sayChecked(app, &out, plan)
	}
	if err == nil && len(out.Errors) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

func linesOf(problems []agent.Problem) []checkedLine {
	list := []checkedLine{}
	for _, p := range problems {
		list = append(list, checkedLine{p.File, p.Line, p.Text})
	}
	return list
}

// planFor returns what `hookmux install` would do for an agent that was unknown before. The
// agent's program isn't run.
func planFor(app *cmdutil.App, a *agent.Agent) (*install.Plan, error) {
	h, err := InstallHost(app)
	if err != nil {
		return nil, err
	}
	h.AgentVersion = nil
	scope := install.Project
	if a.Install != nil {
		for _, p := range a.Install.Places {
			if p.Scope == install.User {
				scope = install.User
			}
		}
	}
	return h.Install(install.Options{Agents: []*agent.Agent{a}, Scope: scope, Known: []*agent.Agent{a}})
}

func sayChecked(app *cmdutil.App, out *checkedAgent, plan *install.Plan) error {
	style := app.Style()
	say := func(head func(string) string, list []checkedLine) {
		for _, l := range list {
			p := agent.Problem{File: app.Shorten(l.File), Line: l.Line, Text: l.Text}
			app.Say("%s", text.Wrap(head(termsafe.Text(p.String())), style.Width, 2))
		}
	}
	say(style.Fault, out.Errors)
	say(style.Warning, out.Warnings)
	if len(out.Errors) > 0 {
		return nil
	}
	what := "changes what is known about "
	if out.Adds {
		what = "adds the agent "
	}
	app.Say("%s%s", what, out.Agent)
	if out.Refused != "" {
		app.Say("%s", text.Wrap("installs nothing: "+termsafe.Text(app.Shorten(out.Refused)), style.Width, 2))
		return nil
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	app.Say("`hookmux install %s` would write:", out.Agent)
	return plan.Apply(&install.Diff{Out: app.Stdout, Color: style.Color, Home: dirs.Home, Full: true})
}
