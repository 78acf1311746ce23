package configcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// TrustCommand is `hookmux trust`.
func TrustCommand(app *cmdutil.App) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let this project's own hooks and rules run",
		Long: `Shows what the project's .hookmux would run and asks. You trust exactly this content:
if a file changes, the copy you trusted stays active until you decide again. Other
worktrees of the same repository don't ask again.`,
		Example: "  hookmux trust\n  hookmux trust show\n  hookmux trust remove ~/src/old-project",
		Args:    cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return trustProject(cmd.Context(), app, yes, false, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(trustAdd(app), trustList(app), trustShow(app), trustRemove(app))
	return cmd
}

// trustAdd is `hookmux trust` under the name that other nouns have for it.
func trustAdd(app *cmdutil.App) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "add", Short: "Trust this project, the same as hookmux trust", Example: "  hookmux trust add", Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return trustProject(cmd.Context(), app, yes, false, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func trustShow(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Show what this project would run", Example: "  hookmux trust show", Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return trustProject(cmd.Context(), app, false, true, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func trustList(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the projects you trust", Example: "  hookmux trust list", Args: cmdutil.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			list, err := trustedProjects(app)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			if len(list) == 0 {
				app.Say("you don't trust any project's own hooks; run `hookmux trust` in a project")
			}
			for _, root := range list {
				app.Say("%s", termsafe.Line(app.Shorten(root), 300))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// trustedProjects returns the folders of the projects you trust, sorted.
func trustedProjects(app *cmdutil.App) ([]string, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	list := append([]string{}, evaluate.New(dirs, app.LiveSettings).Trust.Roots()...)
	slices.Sort(list)
	return list, nil
}

func trustProject(ctx context.Context, app *cmdutil.App, yes, look, asJSON bool) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	var view wire.TrustView
	if err := c.Call(ctx, wire.MethodTrustLook, wire.TrustParams{Cwd: app.Cwd()}, &view); err != nil {
		return err
	}
	if asJSON && look {
		return app.PrintJSON(view)
	}
	if !asJSON {
		showTrust(app, &view)
	}
	if look || view.Status == "none" || view.Status == "trusted" {
		if asJSON {
			return app.PrintJSON(view)
		}
		return nil
	}
	if view.Problem != "" {
		return errors.New("correct that first; nothing was trusted")
	}
	if !yes {
		f, ok := app.Stdin.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return cmdutil.UsageError("trusting a project needs your yes: run `hookmux trust` in a terminal, or add --yes")
		}
		fmt.Fprint(app.Stdout, "Trust exactly this? [y/N] ")
		said, err := app.ReadYes()
		if err != nil {
			return err
		}
		if !said {
			return errors.New("nothing was trusted")
		}
	}
	var trusted wire.TrustView
	if err := c.Call(ctx, wire.MethodTrust, wire.TrustParams{Cwd: app.Cwd(), Hash: view.Hash}, &trusted); err != nil {
		return err
	}
	return printTrustChange(app, &trusted, "trusted", asJSON)
}

func showTrust(app *cmdutil.App, v *wire.TrustView) {
	if v.Status == "none" {
		app.Say("nothing to trust: there are no hooks in .hookmux here")
		if roots, err := trustedProjects(app); err == nil && len(roots) > 0 {
			app.Say("you trust %s; `hookmux trust list` lists them", text.Count(int64(len(roots)), "project"))
		}
		return
	}
	app.Say("project %s: %s", termsafe.Line(app.Shorten(v.Project), 200), map[string]string{
		"trusted": "you trust it as it is", "changed": "changed since you trusted it; the copy you trusted is active",
		"untrusted": "not trusted; its hooks don't run",
	}[v.Status])
	if v.Problem != "" {
		app.Say("  problem   %s", termsafe.Line(app.Shorten(v.Problem), 300))
	}
	for _, r := range v.Runs {
		app.Say("  runs      %s", termsafe.Line(app.Shorten(r), 300))
	}
	for _, f := range v.Files {
		if strings.HasPrefix(f, ".hookmux/agents/") {
			sayProjectAgent(app, v.Project, f)
			continue
		}
		app.Say("  covers    %s", termsafe.Line(app.Shorten(f), 200))
		if strings.HasPrefix(f, ".hookmux/rules/") {
			sayProjectRules(app, v.Project, f)
		}
	}
	for _, id := range v.Replaces {
		app.Say("  replaces  your global hook %s", termsafe.Line(id, 80))
	}
	for _, ch := range v.Changes {
		app.Say("  changed   %s", termsafe.Line(ch, 300))
	}
}

// sayProjectAgent says what becomes of a project's description of an agent.
func sayProjectAgent(app *cmdutil.App, root, rel string) {
	shown := termsafe.Line(rel, 200)
	file := agent.File{Name: filepath.Join(root, rel)}
	var err error
	if file.Data, err = userfile.ReadFile(file.Name, 1<<20); err != nil {
		app.Say("  not used  %s: %s", shown, termsafe.Line(err.Error(), 300))
		return
	}
	name, wrong, err := app.InspectProjectAgent(file)
	switch {
	case err != nil:
		app.Say("  not used  %s: %s", shown, termsafe.Line(err.Error(), 300))
	case len(wrong) > 0:
		app.Say("  not used  %s: %s", shown, termsafe.Line(wrong[0].Text, 300))
	default:
		app.Say("  describes %s: the agent %s, known to the next daemon that starts once you trust this", shown, name)
	}
}

// sayProjectRules says which rules a project's file adds, and which are not used.
func sayProjectRules(app *cmdutil.App, root, rel string) {
	data, err := userfile.ReadFile(filepath.Join(root, rel), 4<<20)
	if err != nil {
		return // covered all the same
	}
	list, wrong := rules.Parse(rules.Source{Name: rel, Data: data, Layer: rules.Project})
	for _, r := range list {
		app.Say("  rule      %s", termsafe.Line(fmt.Sprintf("%s (%s): %s: %s", r.ID, r.Mode, r.Decide, r.Why), 300))
	}
	for _, p := range wrong {
		app.Say("  not used  %s", termsafe.Line(p.String(), 300))
	}
}

// printTrustChange says what became of the project's trust.
func printTrustChange(app *cmdutil.App, view *wire.TrustView, done string, asJSON bool) error {
	if asJSON {
		return app.PrintJSON(view)
	}
	app.Say("%s %s", done, termsafe.Line(app.Shorten(view.Project), 200))
	return nil
}

func trustRemove(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "remove [DIR]", Short: "Stop trusting a project's own hooks", Args: cmdutil.OptionalArg(),
		Example: "  hookmux trust remove\n  hookmux trust remove ~/src/old-project",
		RunE: func(cmd *cobra.Command, args []string) error {
			p := wire.TrustParams{Cwd: app.Cwd()}
			if len(args) > 0 {
				dir, err := filepath.Abs(args[0])
				if err != nil {
					return err
				}
				p.Cwd = dir
			}
			if err := checkTrusted(app, p.Cwd); err != nil {
				return err
			}
			var view wire.TrustView
			if err := app.CallDaemon(cmd.Context(), wire.MethodUntrust, p, &view); err != nil {
				return err
			}
			return printTrustChange(app, &view, "no longer trusted:", asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkTrusted rejects a folder that is in no project you trust.
func checkTrusted(app *cmdutil.App, dir string) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	j := evaluate.New(dirs, app.LiveSettings)
	root := j.Registry.FindProject(dir)
	for _, trusted := range j.Trust.Roots() {
		if trusted == root || trusted == dir {
			return nil
		}
	}
	return cmdutil.UsageError("you don't trust %s; `hookmux trust list` shows the projects you do", app.Shorten(dir))
}
