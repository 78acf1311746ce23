package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// DoctorCommand is `hookmux doctor`.
func DoctorCommand(app *cmdutil.App) *cobra.Command {
	var fix, yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [AGENT…]",
		Short: "Check that hooks work, and say how to fix what doesn't",
		Long: `Checks for each agent that its hooks are installed, complete, in the file the
agent reads, trusted and enabled, then runs a hook with an empty environment and
makes sure it reaches the daemon. Every finding names the command that fixes it;
--fix runs the ones that only touch what hookmux wrote, shows what it changes, and
asks before it tells an agent to trust hooks. Exits 0 if nothing is wrong, else 1.`,
		Example: "  hookmux doctor\n  hookmux doctor codex --fix",
		RunE: func(cmd *cobra.Command, args []string) error {
			return examineAgents(cmd.Context(), app, args, fix, yes, asJSON)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "repair what hookmux wrote itself")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --fix: don't ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func examineAgents(ctx context.Context, app *cmdutil.App, args []string, fix, yes, asJSON bool) error {
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	agents, err := findAgents(app, c, args)
	if err != nil {
		return err
	}
	h, err := InstallHost(app)
	if err != nil {
		return err
	}
	h.Known = c.Agents()
	if len(args) == 0 {
		for _, found := range h.Find(c.Agents()) {
			agents = append(agents, found.Agent)
		}
	}
	d := &install.Doctor{Host: h, All: c.Agents(),
		Plugins: func(a *agent.Agent, args []string) (string, error) { return agentPrints(app, a, args...) },
		Hooks: func(a *agent.Agent, cwd string) ([]install.ListedHook, error) {
			return appServer(app, a, cwd).Hooks(cwd)
		}}
	if daemon, err := app.ConnectDaemon(ctx); err == nil {
		d.Daemon = daemon
	} else {
		d.DaemonError = err
	}
	findings := d.Examine(ctx, agents, len(args) > 0)
	if fix {
		if err := UserOnly(ctx, app, c, wire.MethodDoctor, true); err != nil {
			return err
		}
		disk := &install.Disk{Trust: func(g *install.OwnHooks) error { return appServer(app, g.Agent, g.Cwd).Trust(g) }}
		if !asJSON {
			disk.Show = &install.Diff{Out: app.Stdout, Color: app.Style().Color, Home: h.Dirs.Home, Full: true}
		}
		may, err := mayTrust(app, d.Trusts(findings), yes, asJSON)
		if err != nil {
			return err
		}
		fixed, err := d.Fix(findings, may, disk)
		if err != nil {
			return err
		}
		if err := cleanEarlier(app, h.Dirs, false); err != nil {
			return err
		}
		if fixed {
			app.PrintNotes(d.Said)
			findings = d.Examine(ctx, agents, len(args) > 0)
		}
	}
	findings = addVersionFindings(app, agents, findings)
	findings = append(findings, earlierFindings(h.Dirs)...)
	findings = append(upgradeFindings(h, findings, time.Now()), findings...)
	if app.Facts == nil { // of this machine, not of a test's
		findings = append(findings, examineMachine()...)
	}
	findings = append(findings, examineSettings(ctx, app)...)
	return sayFindings(app, findings, fix, asJSON)
}

// addVersionFindings notes, after what was found about each agent that is hooked, a version
// that wasn't verified.
func addVersionFindings(app *cmdutil.App, agents []*agent.Agent, findings []install.Finding) []install.Finding {
	versions := installedVersions(app, agents)
	for _, a := range agents {
		what := beyondProof(a, versions[a.Name])
		last := -1
		for i, f := range findings {
			if f.Agent == a.Name {
				last = i
			}
		}
		if what == "" || last < 0 {
			continue
		}
		findings = slices.Insert(findings, last+1, install.Finding{Agent: a.Name, Check: "version",
			Level: install.Note, What: what, Fix: askItself(a.Name)})
	}
	return findings
}

// examineSettings notes settings that changed and weren't accepted yet, and what is wrong
// with rules.
func examineSettings(ctx context.Context, app *cmdutil.App) []install.Finding {
	var findings []install.Finding
	for _, p := range daemonProblems(ctx, app) {
		if strings.HasPrefix(p.Key, hooksKey) {
			continue // the checks of that agent say so, too
		}
		findings = append(findings, install.Finding{Agent: "your settings", Check: p.Key, Level: install.Bad,
			What: app.Shorten(p.What), Fix: app.Shorten(p.Fix)})
	}
	dirs, err := app.Dirs()
	if err != nil {
		return findings
	}
	base, project, _ := evaluate.New(dirs, app.LiveSettings).RulesAt(app.Cwd())
	for _, p := range slices.Concat(base.Problems, project.Problems) {
		if slices.ContainsFunc(findings, func(f install.Finding) bool { return strings.Contains(f.What, p.Text) }) {
			continue // the daemon says so, too
		}
		findings = append(findings, install.Finding{Agent: "your rules", Check: "rules", Level: install.Bad,
			What: app.Shorten(p.String()), Fix: "hookmux rules check"})
	}
	return findings
}

// daemonProblems returns all the problems that `hookmux status` shows.
func daemonProblems(ctx context.Context, app *cmdutil.App) []client.Problem {
	if c, err := app.RunningDaemon(); err == nil {
		if info, err := c.Info(ctx); err == nil {
			return info.Problems
		}
	}
	return UnacceptedProblems(ctx, app)
}

// UnacceptedProblems returns which settings wait to be accepted: according to the daemon, or
// without one, according to the files.
func UnacceptedProblems(ctx context.Context, app *cmdutil.App) []client.Problem {
	dirs, err := app.Dirs()
	if err != nil || app.LiveSettings {
		return nil
	}
	if c, err := app.RunningDaemon(); err == nil {
		if info, err := c.Info(ctx); err == nil {
			return slices.DeleteFunc(info.Problems,
				func(p client.Problem) bool { return p.Key != accepted.ProblemKey })
		}
	}
	what, fix := evaluate.New(dirs, false).DescribeUnaccepted()
	if what == "" {
		return nil
	}
	return []client.Problem{{Key: accepted.ProblemKey, What: what, Fix: fix}}
}

// examineMachine notes what makes it easier for agents to pass for the user.
func examineMachine() []install.Finding {
	var findings []install.Finding
	for _, w := range terminal.Weaknesses() {
		findings = append(findings, install.Finding{Agent: "this machine", Check: w.Check, Level: install.Note,
			What: w.What, Fix: w.Fix})
	}
	return findings
}

// mayTrust asks for each agent whether it may trust hookmux's own hooks. Without a yes, or a
// terminal to ask at, the rest is fixed and this is left.
func mayTrust(app *cmdutil.App, agents []*agent.Agent, yes, asJSON bool) (func(string) bool, error) {
	may := map[string]bool{}
	in, ok := app.Stdin.(*os.File)
	ask := !asJSON && ok && term.IsTerminal(int(in.Fd()))
	for _, a := range agents {
		switch {
		case yes:
			may[a.Name] = true
		case ask:
			fmt.Fprintf(app.Stdout, "Have %s trust hookmux's own hooks, and only those? [y/N] ", a.Title)
			said, err := app.ReadYes()
			if err != nil {
				return nil, err
			}
			may[a.Name] = said
		default:
			app.PrintNotes([]string{fmt.Sprintf("%s doesn't trust its hooks yet, and that needs your yes; "+
				"run this in a terminal, or add --yes", a.Title)})
		}
	}
	return func(name string) bool { return may[name] }, nil
}

func sayFindings(app *cmdutil.App, findings []install.Finding, fixed, asJSON bool) error {
	bad := 0
	for _, f := range findings {
		if f.Level == install.Bad {
			bad++
		}
	}
	if asJSON {
		if err := app.PrintJSON(map[string]any{"ok": bad == 0, "findings": findings}); err != nil {
			return err
		}
	} else {
		style, last := app.Style(), ""
		for _, f := range findings {
			if f.Agent != last {
				app.Say("%s", f.Agent)
				last = f.Agent
			}
			mark, colour := "✓", "32"
			switch f.Level {
			case install.Bad:
				mark, colour = "✗", "31"
			case install.Note:
				mark, colour = "–", "33"
			}
			if style.Color {
				mark = "\x1b[" + colour + "m" + mark + "\x1b[0m"
			}
			app.Say("  %s %s", mark, text.Wrap(termsafe.Text(f.What), style.Width, 4))
			if f.Fix != "" {
				app.Say("    %s", text.Wrap(termsafe.Text(f.Fix), style.Width, 4))
			}
		}
	}
	if !asJSON && len(findings) > 0 {
		app.Say("%s", doctorVerdict(findings, fixed))
	}
	switch {
	case bad > 0:
		return cmdutil.Exit(cmdutil.ExitFailed)
	case len(findings) == 0 && !asJSON:
		return errors.New("no coding agent found on this machine; name one")
	}
	return nil
}

// doctorVerdict returns the last line: what all findings come to, with what is left after
// --fix.
func doctorVerdict(findings []install.Finding, fixed bool) string {
	hooked, bad := map[string]bool{}, map[string]bool{}
	fixable, wrong := false, 0
	var sick []string
	for _, f := range findings {
		if f.Level == install.Good && f.Agent != "hookmux" {
			hooked[f.Agent] = true
		}
		if f.Level != install.Bad {
			continue
		}
		wrong++
		fixable = fixable || f.Fixable()
		if !bad[f.Agent] {
			bad[f.Agent] = true
			sick = append(sick, f.Agent)
		}
	}
	if wrong > 0 {
		line := fmt.Sprintf("%d %s wrong with %s", wrong, pluralWord(wrong, "thing is", "things are"),
			strings.Join(sick, ", "))
		switch {
		case fixed && !fixable:
			line += "; --fix can't change that, because hookmux didn't write it; follow the steps above"
		case fixable:
			line += "; `hookmux doctor --fix` repairs what hookmux wrote"
		}
		return line
	}
	switch len(hooked) {
	case 0:
		return "no agents are hooked; run `hookmux install`"
	case 1:
		return "nothing is wrong: 1 agent is hooked"
	}
	return fmt.Sprintf("nothing is wrong: %d agents are hooked", len(hooked))
}

func pluralWord(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
