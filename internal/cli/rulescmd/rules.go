// Package rulescmd has the verbs for rules that people write, and for who decided
// about a call.
package rulescmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/policycmd"
	"github.com/hookmux/hookmux/internal/judge"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// RulesCommand is `hookmux rules`.
func RulesCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Your own rules: what agents may do, in words that can be tested",
		Long: `Rules say what agents may do: deny, ask, warn or allow, by what a call really
does. They stand in ~/.config/hookmux/rules/*.yaml, in a project's .hookmux/rules
(after ` + "`hookmux trust`" + `, and only to make things tighter) and in
/etc/hookmux/rules (the administrator's; nobody switches these off).`,
		Example: `  hookmux rules new                          # a commented file to start from
  hookmux why 'git push -f origin x'  # what would happen, which rule, why
  hookmux rules on no-push-to-main`,
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCommand(app), listCommand(app), checkCommand(app), testCommand(app), policycmd.ReplayCommand(app),
		policycmd.ImportCommand(app))
	for _, to := range []rules.Mode{rules.Block, rules.Asks, rules.LogOnly, rules.Off} {
		cmd.AddCommand(switchCommand(app, to))
	}
	return cmd
}

// openJudge reads the rules and settings that are in force, whether a daemon runs or
// not.
func openJudge(app *cmdutil.App) (*judge.Judge, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return judge.New(dirs, app.LiveSettings), nil
}

// ListedRule is a rule as programs read it.
type ListedRule struct {
	*rules.Rule
	// InForce is what the rule is switched to.
	InForce rules.Mode `json:"inForce"`
}

// listed are the rules that count in the folder the program runs in, and what is
// wrong with others.
func listed(app *cmdutil.App) ([]ListedRule, []rules.Problem, error) {
	j, err := openJudge(app)
	if err != nil {
		return nil, nil, err
	}
	base, project, states := j.RulesAt(app.Cwd())
	list := []ListedRule{}
	for _, r := range slices.Concat(base.Rules, project.Rules) {
		list = append(list, ListedRule{r, r.ModeBy(states)})
	}
	return list, append([]rules.Problem{}, slices.Concat(base.Problems, project.Problems)...), nil
}

func listCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "The rules that count here, and how they are switched",
		Example: "  hookmux rules list\n  hookmux rules list --json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			list, problems, err := listed(app)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(map[string]any{"rules": list, "problems": problems})
			}
			if len(list) == 0 {
				app.Say("no rule counts here; `hookmux rules new` writes a file to start from")
			}
			var rows [][]string
			for _, r := range list {
				rows = append(rows, []string{r.ID, string(r.InForce), string(r.Decide), r.Why,
					termsafe.Line(app.Shorten(fmt.Sprintf("%s:%d", r.File, r.Line)), 120)})
			}
			text.Table(app.Stdout, rows, app.Columns())
			sayProblems(app, problems)
			sayWaiting(app, list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {rules, problems}")
	return cmd
}

func sayProblems(app *cmdutil.App, problems []rules.Problem) {
	for _, p := range problems {
		app.Say("%s", termsafe.Line(app.Shorten(p.String()), 500))
	}
}

func switchCommand(app *cmdutil.App, to rules.Mode) *cobra.Command {
	short := map[rules.Mode]string{
		rules.Block: "Switch a rule or a pack on", rules.Off: "Switch a rule or a pack off",
		rules.Asks:    "Let a rule or a pack ask where it would refuse",
		rules.LogOnly: "Let a rule or a pack only record what it would have done",
	}[to]
	return &cobra.Command{
		Use: string(to) + " ID", Short: short, Example: "  hookmux rules " + string(to) + " no-push-to-main",
		Args: cmdutil.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return switchRule(app, cmd, args[0], to) },
	}
}

// switchRule writes the state of a rule into the user's settings.
func switchRule(app *cmdutil.App, cmd *cobra.Command, id string, to rules.Mode) error {
	list, _, err := listed(app)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(r ListedRule) bool {
		pack, _, _ := strings.Cut(r.ID, "/")
		return r.ID == id || r.Layer == rules.Pack && pack == id
	})
	if i < 0 {
		return cmdutil.UsageError("there is no rule %q; `hookmux rules list` shows them", id)
	}
	if list[i].Layer == rules.System {
		return cmdutil.UsageError("%s is a rule of this machine's administrator (%s); nobody else switches it", id,
			list[i].File)
	}
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	var settings []wire.Setting
	err = c.Call(cmd.Context(), wire.MethodConfigGet, wire.ConfigListParams{Cwd: app.Cwd()}, &settings)
	if err != nil {
		return err
	}
	states := []string{}
	for _, s := range settings {
		if s.Key == config.RulesModes {
			if err := json.Unmarshal(s.Value, &states); err != nil {
				return err
			}
		}
	}
	states = slices.DeleteFunc(states, func(one string) bool { return strings.HasPrefix(one, id+"=") })
	value, _ := json.Marshal(append(states, id+"="+string(to)))
	var done wire.Setting
	if err := c.Call(cmd.Context(), wire.MethodConfigSet, wire.ConfigSetParams{Key: config.RulesModes, Value: value},
		&done); err != nil {
		return err
	}
	app.Say("%s is now %s", id, to)
	return nil
}

// rulesFolder is where a file of rules belongs.
func rulesFolder(app *cmdutil.App, project bool) (string, error) {
	if project {
		return ".hookmux/" + ruleset.FolderName, nil
	}
	dirs, err := app.Dirs()
	return dirs.Config + "/" + ruleset.FolderName, err
}
