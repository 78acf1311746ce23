// Package rulescmd implements the commands for the user's rules, and for who decided about a
// call.
package rulescmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// RulesCommand is `hookmux rules`.
func RulesCommand(app *cmdutil.App) *cobra.Command {
	list := listCommand(app)
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Write your own rules, or add packs of them",
		Long: `Rules say what agents may do: deny, ask, warn or allow, depending on what a call
really does. They live in ~/.config/hookmux/rules/*.yaml, in a project's
.hookmux/rules (after ` + "`hookmux trust`" + `; these can only be stricter), in packs that you
add, and in /etc/hookmux/rules (set by your administrator; they can't be turned off).

Each rule has a mode: off, log (only record), ask (ask where it would deny) or block.
Without a command, lists the rules and packs.`,
		Example: `  hookmux rules new                        # write a file to start from
  hookmux why 'git push -f origin main'    # what would happen, which rule, why
  hookmux rules on no-push-to-main
  hookmux rules add git+https://git.example.com/team/rules@v1.2.3`,
		Args: cmdutil.SubcommandArgs,
		RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, showCommand(app), newCommand(app), checkCommand(app),
		switchCommand(app, "on", "Turn a rule or a pack on: let it block", rules.Block),
		switchCommand(app, "off", "Turn a rule or a pack off", rules.Off), modeCommand(app), PauseCommand(app, PauseRules),
		ReplayCommand(app), ImportCommand(app), AddCommand(app),
		UpdateCommand(app), RemoveCommand(app))
	return cmd
}

// openEvaluator reads the rules and settings that are in force, whether a daemon runs or
// not.
func openEvaluator(app *cmdutil.App) (*evaluate.Evaluator, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return evaluate.New(dirs, app.LiveSettings), nil
}

// ListedRule is a rule as programs read it.
type ListedRule struct {
	*rules.Rule
	// InForce is the mode that applies, whatever the file says.
	InForce rules.Mode `json:"inForce"`
}

// listed returns the rules that apply in the current folder, and what is wrong with others.
func listed(app *cmdutil.App) ([]ListedRule, []rules.Problem, error) {
	j, err := openEvaluator(app)
	if err != nil {
		return nil, nil, err
	}
	base, project, modes := j.RulesAt(app.Cwd())
	list := []ListedRule{}
	for _, r := range slices.Concat(base.Rules, project.Rules) {
		list = append(list, ListedRule{r, r.ModeBy(modes)})
	}
	return list, append([]rules.Problem{}, slices.Concat(base.Problems, project.Problems)...), nil
}

func listCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List rules and packs, with their modes",
		Example: "  hookmux rules list\n  hookmux rules list --json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			list, problems, err := listed(app)
			if err != nil {
				return err
			}
			packs, _, err := Packs(app)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(map[string]any{"rules": list, "packs": packs, "problems": problems})
			}
			SayPauses(app, func(name string) bool {
				_, isGuard := hook.GuardName(name)
				_, isHook := hook.PausedHook(name)
				return !isGuard && !isHook
			})
			waiting := pendingRules(app, list)
			if len(list)+len(waiting)+len(problems) == 0 {
				app.Say("no rules here; `hookmux rules new` writes a file to start from")
			}
			rows := [][]string{{"RULE", "MODE", "DECIDES", "WHY"}}
			for _, r := range list {
				rows = append(rows, []string{r.ID, modeNow(app, r.ID, string(r.InForce)), string(r.Decide), termsafe.Line(r.Why, 300)})
			}
			for _, r := range waiting {
				rows = append(rows, []string{r.ID, "not accepted", string(r.Decide), termsafe.Line(r.Why, 300)})
			}
			if len(rows) > 1 {
				text.Table(app.Stdout, rows, app.Columns())
			}
			SayPacks(app, packs)
			sayProblems(app, problems)
			sayWaiting(app, list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {rules, packs, problems}")
	return cmd
}

func showCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a rule, or all of a pack", Example: "  hookmux rules show no-push-to-main",
		Args: cmdutil.ExactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			if there, err := ShowPack(app, args[0], asJSON); there || err != nil {
				return err
			}
			list, _, err := listed(app)
			if err != nil {
				return err
			}
			r, err := findRuleHere(app, list, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(r)
			}
			app.Say("%s (%s): %s", r.ID, modeNow(app, r.ID, string(r.InForce)), r.Decide)
			app.Say("  why       %s", termsafe.Line(r.Why, 500))
			app.Say("  from      %s", termsafe.Line(app.Shorten(fmt.Sprintf("%s:%d (%s)", r.File, r.Line, r.Layer)), 300))
			for _, one := range r.Examples.Hit {
				app.Say("  matches   %s", termsafe.Line(one.String(), 300))
			}
			for _, one := range r.Examples.Miss {
				app.Say("  ignores   %s", termsafe.Line(one.String(), 300))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// Names returns the rules that apply here and the packs, for completion.
func Names(app *cmdutil.App) []string {
	names := PackNames(app)
	list, _, err := listed(app)
	if err != nil {
		return names // completion stays silent about errors
	}
	for _, r := range list {
		names = append(names, r.ID)
	}
	return names
}

// pendingRules returns the rules in your files that you haven't accepted yet, so that they
// aren't in force.
func pendingRules(app *cmdutil.App, inForce []ListedRule) []*rules.Rule {
	files, err := filesHere(app)
	if err != nil {
		return nil // only more about the list
	}
	list, _, _ := readFiles(files)
	return slices.DeleteFunc(list, func(r *rules.Rule) bool {
		return slices.ContainsFunc(inForce, func(one ListedRule) bool { return one.ID == r.ID })
	})
}

// findRuleHere is [findRule], and says so if a rule isn't accepted yet.
func findRuleHere(app *cmdutil.App, list []ListedRule, name string) (*ListedRule, error) {
	r, err := findRule(list, name)
	if err == nil {
		return r, nil
	}
	var known []string
	for _, one := range list {
		known = append(known, one.ID)
	}
	for _, one := range pendingRules(app, list) {
		if one.ID == name {
			accept := "hookmux config accept"
			if one.Layer == rules.Project {
				accept = "hookmux trust"
			}
			return nil, cmdutil.UsageError("rule %s isn't accepted yet; run `%s` first", name, accept)
		}
		known = append(known, one.ID)
	}
	if short, isGuard := hook.GuardName(name); isGuard || slices.Contains(GuardNames(), short) || isRule(name) {
		return nil, cmdutil.UsageError("there's no rule %q, but a guard; guards have their own commands: `hookmux guard --help`", name)
	}
	if len(known) == 0 {
		return nil, cmdutil.UsageError("there's no rule %q: you have none yet; `hookmux rules new` writes a file to start from", name)
	}
	return nil, cmdutil.UnknownName("rule", name, known, "hookmux rules list")
}

// findRule returns a rule by its ID, or the first one of a pack.
func findRule(list []ListedRule, name string) (*ListedRule, error) {
	var known []string
	for i, r := range list {
		pack, _, _ := strings.Cut(r.ID, "/")
		if r.ID == name || r.Layer == rules.Pack && pack == name {
			return &list[i], nil
		}
		known = append(known, r.ID)
	}
	return nil, cmdutil.UnknownName("rule", name, known, "hookmux rules list")
}

func sayProblems(app *cmdutil.App, problems []rules.Problem) {
	for _, p := range problems {
		app.Say("%s", termsafe.Line(app.Shorten(p.String()), 500))
	}
}

func switchCommand(app *cmdutil.App, name, short string, to rules.Mode) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short, Example: "  hookmux rules " + name + " no-push-to-main",
		Args: cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error { return switchRule(app, cmd, args[0], to) },
	}
}

func modeCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use: "mode NAME MODE", Short: "Set the mode of a rule or a pack: off, log, ask or block",
		Example: "  hookmux rules mode no-push-to-main ask", Args: cmdutil.ExactArgs("NAME", "MODE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			mode, err := ParseMode(args[1])
			if _, swapped := ParseMode(args[0]); err != nil && swapped == nil {
				return cmdutil.UsageError("the rule comes first: `hookmux rules mode %s %s`", args[1], args[0])
			}
			if err != nil {
				return err
			}
			return switchRule(app, cmd, args[0], mode)
		},
	}
}

// switchRule writes the mode of a rule into the user's settings.
func switchRule(app *cmdutil.App, cmd *cobra.Command, id string, to rules.Mode) error {
	list, _, err := listed(app)
	if err != nil {
		return err
	}
	r, err := findRuleHere(app, list, id)
	if err != nil {
		return err
	}
	if r.Layer == rules.System {
		return cmdutil.UsageError("%s is a rule of this machine's administrator (%s); you can't change its mode", id, r.File)
	}
	return SetRuleMode(app, cmd, id, to)
}

// SetRuleMode writes the mode of a rule, built in or not, into your settings.
func SetRuleMode(app *cmdutil.App, cmd *cobra.Command, id string, to rules.Mode) error {
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	var settings []wire.Setting
	err = c.Call(cmd.Context(), wire.MethodConfigGet, wire.ConfigListParams{Cwd: app.Cwd()}, &settings)
	if err != nil {
		return err
	}
	modes := []string{}
	for _, s := range settings {
		if s.Key == config.RulesModes {
			if err := json.Unmarshal(s.Value, &modes); err != nil {
				return err
			}
		}
	}
	modes = slices.DeleteFunc(modes, func(one string) bool { return strings.HasPrefix(one, id+"=") })
	value, _ := json.Marshal(append(modes, id+"="+string(to)))
	var done wire.Setting
	if err := c.Call(cmd.Context(), wire.MethodConfigSet, wire.ConfigSetParams{Key: config.RulesModes, Value: value},
		&done); err != nil {
		return err
	}
	app.Say("%s is now %s", id, to)
	return nil
}

// settingsFolder returns where a file of rules, or one that describes programs, belongs.
func settingsFolder(app *cmdutil.App, name string, project bool) (string, error) {
	if project {
		return ".hookmux/" + name, nil
	}
	dirs, err := app.Dirs()
	return dirs.Config + "/" + name, err
}
