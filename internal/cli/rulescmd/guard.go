package rulescmd

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/configcmd"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/guards"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/packs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// GuardCommand is `hookmux guard`.
func GuardCommand(app *cmdutil.App) *cobra.Command {
	list := guardList(app)
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Block dangerous calls in every agent",
		Long: `Built-in guards read what a command line really runs (behind wrappers, pipes and
substitutions) and stop what you don't want. Each guard has a mode:

  off    does nothing
  log    records what it would have stopped
  ask    asks you first
  block  stops the call and tells the agent why

Each rule of a guard may have a mode of its own, which overrides the guard's;
` + "`hookmux guard list --rules`" + ` shows them. Without a command, lists the guards. own-files,
which protects hookmux itself, blocks from the start.`,
		Example: `  hookmux guard                        # the guards and their modes
  hookmux guard on destructive         # block rm -rf ~, git push --force …
  hookmux guard mode secrets ask       # ask before an agent reads .env
  hookmux guard pause destructive 10m
  hookmux why 'sudo bash -c "rm -rf ~"'`,
		Args: cmdutil.SubcommandArgs,
		RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, guardShow(app), guardOn(app), guardOff(app), guardMode(app),
		PauseCommand(app, PauseGuard), guardException(app))
	return cmd
}

// guardModes reads the modes of the guards and the exceptions.
func guardModes(app *cmdutil.App, cmd *cobra.Command) (map[string]string, []string, error) {
	modes, _, exceptions, err := allModes(app, cmd)
	return modes, exceptions, err
}

// allModes reads the modes of the guards and of single rules, and the exceptions.
func allModes(app *cmdutil.App, cmd *cobra.Command) (modes, own map[string]string, exceptions []string, err error) {
	settings, err := configcmd.ReadSettings(app, cmd)
	if err != nil {
		return nil, nil, nil, err
	}
	modes, own = map[string]string{}, map[string]string{}
	exceptions = []string{}
	for _, s := range settings {
		if s.Key == config.RulesModes {
			var list []string
			_ = json.Unmarshal(s.Value, &list)
			for _, one := range list {
				id, mode, _ := strings.Cut(one, "=")
				own[id] = mode
			}
			continue
		}
		if s.Key == config.GuardAllow {
			_ = json.Unmarshal(s.Value, &exceptions)
			continue
		}
		if name, ok := hook.GuardName(s.Key); ok {
			modes[name] = cmdutil.PlainValue(s.Value)
		}
	}
	return modes, own, exceptions, nil
}

func guardList(app *cmdutil.App) *cobra.Command {
	var asJSON, showRules bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the guards and their modes", Example: "  hookmux guard list --rules",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			modes, own, exceptions, err := allModes(app, cmd)
			if err != nil {
				return err
			}
			if asJSON {
				list := []guardRow{}
				for _, g := range guards.List() {
					list = append(list, guardRow{g, modes[g.Name]})
				}
				return app.PrintJSON(map[string]any{"guards": list, "rules": own, "exceptions": exceptions})
			}
			list := guards.List()
			slices.SortStableFunc(list, func(a, b guards.Info) int { // what is on comes first
				return strings.Compare(offLast(modes[a.Name]), offLast(modes[b.Name]))
			})
			SayPauses(app, func(name string) bool { _, ok := hook.GuardName(name); return ok })
			rows := [][]string{{"GUARD", "MODE", "STOPS"}}
			for i, g := range list {
				if showRules {
					if i > 0 {
						app.Say("")
					}
					sayGuard(app, g, modeNow(app, hook.GuardID(g.Name), modes[g.Name]), own)
				}
				rows = append(rows, []string{g.Name, modeNow(app, hook.GuardID(g.Name), modes[g.Name]), g.What})
			}
			if !showRules {
				text.Table(app.Stdout, rows, app.Columns())
			}
			sayExceptions(app, exceptions)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&showRules, "rules", false, "show the rules of each guard")
	return cmd
}

// sayGuard shows a guard and its rules; a rule's mode only if it has its own.
func sayGuard(app *cmdutil.App, g guards.Info, mode string, own map[string]string) {
	app.Say("%s", text.Wrap(g.Name+" ("+mode+"): stops "+g.What, app.Columns(), 2))
	var rows [][]string
	for _, r := range g.Rules {
		what := r.What
		if own[r.ID] != "" {
			what = "(" + own[r.ID] + ") " + what
		}
		rows = append(rows, []string{"  " + r.ID, what})
	}
	text.Table(app.Stdout, rows, app.Columns())
}

// guardRow is a guard as programs read it.
type guardRow struct {
	guards.Info
	Mode string `json:"mode"`
}

// offLast orders modes: off after all others.
func offLast(mode string) string {
	if mode == config.GuardOff {
		return "1"
	}
	return "0"
}

func sayExceptions(app *cmdutil.App, list []string) {
	if len(list) > 0 {
		app.Say("%s", text.Wrap("exceptions: "+termsafe.Line(strings.Join(list, ", "), 300), app.Columns(), 2))
	}
}

func guardShow(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a guard or one of its rules",
		Long: `Shows a guard: its mode, rules and exceptions. For the id of a rule, shows what it
stops, its mode and the commands it was tried with; for recommended, the guards that
` + "`hookmux setup`" + ` offers.`,
		Example: "  hookmux guard show destructive\n  hookmux guard show git-history.force-push",
		Args:    cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			shown := []string{args[0]}
			switch {
			case isRule(args[0]):
				return showRule(app, cmd, args[0], asJSON)
			case args[0] == recommended:
				shown = names.Recommended()
			}
			modes, own, exceptions, err := allModes(app, cmd)
			for _, arg := range shown {
				name, unknown := findGuard(arg)
				if unknown != nil {
					return unknown
				}
				if err != nil {
					return err
				}
				if err := showGuard(app, name, modes[name], own, exceptions, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showGuard(app *cmdutil.App, name, mode string, own map[string]string, exceptions []string, asJSON bool) error {
	if !asJSON {
		SayPauses(app, func(paused string) bool { return paused == hook.GuardID(name) })
	}
	list := guards.List()
	g := list[slices.IndexFunc(list, func(g guards.Info) bool { return g.Name == name })]
	exceptions = slices.DeleteFunc(slices.Clone(exceptions), func(rule string) bool {
		id, _, _ := strings.Cut(rule, ":")
		return id != name && !slices.ContainsFunc(g.Rules, func(r packs.RuleInfo) bool { return r.ID == id })
	})
	if asJSON {
		return app.PrintJSON(map[string]any{"guard": guardRow{g, mode}, "exceptions": exceptions})
	}
	sayGuard(app, g, modeNow(app, hook.GuardID(name), mode), own)
	sayExceptions(app, exceptions)
	return nil
}

// showRule shows a rule of a guard: what it stops, its mode, and the calls it was tried with.
func showRule(app *cmdutil.App, cmd *cobra.Command, id string, asJSON bool) error {
	name, _, _ := strings.Cut(id, ".")
	pack, err := packs.Load(name)
	if err != nil {
		return err
	}
	rule := pack.Rules[slices.IndexFunc(pack.Rules, func(r *rules.Rule) bool { return r.ID == id })]
	modes, own, exceptions, err := allModes(app, cmd)
	if err != nil {
		return err
	}
	exceptions = slices.DeleteFunc(exceptions, func(e string) bool { return e != id && !strings.HasPrefix(e, id+":") })
	var in []string // the guards that have it
	for _, g := range guards.List() {
		if slices.ContainsFunc(g.Rules, func(r packs.RuleInfo) bool { return r.ID == id }) {
			in = append(in, g.Name+" ("+modes[g.Name]+")")
		}
	}
	if asJSON {
		return app.PrintJSON(map[string]any{"rule": rule, "mode": own[id], "guards": in, "exceptions": exceptions})
	}
	does := map[rules.Verdict]string{rules.Deny: "denies", rules.Ask: "asks"}[rule.Decide]
	app.Say("%s", text.Wrap(id+" ("+does+"): "+rule.Why, app.Columns(), 2))
	rows := [][]string{{"  guards", strings.Join(in, ", ")}}
	if own[id] != "" {
		rows = append(rows, []string{"  mode", own[id] + ", whatever the guards' modes are"})
	}
	for _, e := range rule.Examples.Hit {
		rows = append(rows, []string{"  stopped", termsafe.Line(e.String(), 200)})
	}
	for _, e := range rule.Examples.Miss {
		rows = append(rows, []string{"  passes", termsafe.Line(e.String(), 200)})
	}
	text.Table(app.Stdout, rows, app.Columns())
	sayExceptions(app, exceptions)
	return nil
}

// GuardNames returns the names of the guards.
func GuardNames() []string {
	var list []string
	for _, g := range names.All() {
		list = append(list, g.Name)
	}
	return list
}

// findGuard returns the name of a guard, which may be written guard.NAME.
func findGuard(name string) (string, error) {
	short, _ := hook.GuardName(name)
	if short == "all" || short == "*" {
		return "", cmdutil.UsageError("there's no guard %q; name the ones you want, as in `hookmux guard on destructive secrets`", name)
	}
	if !slices.Contains(GuardNames(), short) {
		if strings.Contains(short, ".") {
			return "", cmdutil.UnknownName("rule", short, guardRules(), "hookmux guard list --rules")
		}
		known := GuardNames()
		if isShort := func(rule string) bool { return strings.HasSuffix(rule, "."+short) }; slices.ContainsFunc(guardRules(), isShort) {
			known = guardRules()
		}
		return "", cmdutil.UnknownName("guard", name, known, "hookmux guard list")
	}
	return short, nil
}

func guardOn(app *cmdutil.App) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use: "on NAME…", Short: "Turn a guard, or one of its rules, on: block what it stops",
		Example: "  hookmux guard on destructive secrets\n  hookmux guard on recommended",
		Args:    needGuards,
		RunE: func(cmd *cobra.Command, args []string) error {
			return setGuards(app, cmd, args, config.GuardBlock, project)
		},
	}
	addProjectFlag(cmd, &project)
	return cmd
}

func guardOff(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use: "off NAME…", Short: "Turn a guard, or one of its rules, off",
		Example: "  hookmux guard off secrets\n  hookmux guard off secrets.commit",
		Args:    needGuards,
		RunE: func(cmd *cobra.Command, args []string) error {
			return setGuards(app, cmd, args, config.GuardOff, false)
		},
	}
}

func guardMode(app *cmdutil.App) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use: "mode NAME… MODE", Short: "Set the mode of a guard, or of one of its rules: off, log, ask or block",
		Example: "  hookmux guard mode secrets ask\n  hookmux guard mode git-history.force-push ask\n  hookmux guard mode network log --project",
		Args: func(cmd *cobra.Command, args []string) error {
			return cmdutil.ExactArgs("NAME", "MODE")(cmd, args[:min(len(args), 2)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			mode, err := ParseMode(args[last])
			if _, isMode := ParseMode(args[0]); err != nil && isMode == nil {
				if _, isGuard := findGuard(args[last]); isGuard == nil {
					return cmdutil.UsageError("the guard comes first: `hookmux guard mode %s %s`", args[last], args[0])
				}
			}
			if err != nil {
				return err
			}
			return setGuards(app, cmd, args[:last], string(mode), project)
		},
	}
	addProjectFlag(cmd, &project)
	return cmd
}

func addProjectFlag(cmd *cobra.Command, project *bool) {
	cmd.Flags().BoolVar(project, "project", false, "only in this project (.hookmux/config.json)")
}

// needGuards requires at least one guard, and names them all if there is none.
func needGuards(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmdutil.UsageError("which guard? Choose from %s", strings.Join(GuardNames(), ", "))
	}
	return nil
}

// recommended is the preset that `hookmux setup` turns on.
const recommended = "recommended"

// guardRules returns the ids of the guards' rules.
func guardRules() (ids []string) {
	for _, g := range guards.List() {
		for _, r := range g.Rules {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// isRule reports whether a guard has a rule of that id.
func isRule(id string) bool {
	return slices.ContainsFunc(guards.List(), func(g guards.Info) bool {
		return slices.ContainsFunc(g.Rules, func(r packs.RuleInfo) bool { return r.ID == id })
	})
}

// setGuards sets the mode of guards and of single rules; a name that is wrong changes
// none of them.
func setGuards(app *cmdutil.App, cmd *cobra.Command, args []string, mode string, project bool) error {
	var list, single []string
	for _, arg := range args {
		if arg == recommended {
			list = append(list, names.Recommended()...)
			continue
		}
		if isRule(arg) {
			if project {
				return cmdutil.UsageError("a project can switch guards, not single rules; leave --project out")
			}
			single = append(single, arg)
			continue
		}
		name, err := findGuard(arg)
		if err != nil {
			return err
		}
		list = append(list, name)
	}
	for _, id := range single {
		if err := SetRuleMode(app, cmd, id, rules.Mode(mode)); err != nil {
			return err
		}
	}
	value, _ := json.Marshal(mode)
	for _, name := range list {
		if err := configcmd.SetSetting(app, cmd, hook.GuardID(name), value, project); err != nil {
			return err
		}
	}
	return nil
}

// guardException is `hookmux guard exception`.
func guardException(app *cmdutil.App) *cobra.Command {
	list := exceptionList(app)
	cmd := &cobra.Command{
		Use:   "exception",
		Short: "Let what one rule stops pass, once or always",
		Long: `An exception lets calls pass that one rule of a guard would stop. Without a
subcommand, lists the exceptions.`,
		Example: "  hookmux guard exception add git-history.force-push --once\n" +
			"  hookmux guard exception remove git-history.force-push",
		Args: cmdutil.SubcommandArgs,
		RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, exceptionAdd(app), &cobra.Command{
		Use: "remove RULE", Short: "Remove an exception",
		Example: "  hookmux guard exception remove git-history.force-push", Args: cmdutil.ExactArgs("RULE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeException(app, cmd, wire.AllowParams{Rule: args[0], Drop: true})
		},
	})
	return cmd
}

func exceptionList(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the exceptions", Example: "  hookmux guard exception list", Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, list, err := guardModes(app, cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			if len(list) == 0 {
				app.Say("no exceptions; `hookmux guard exception add RULE` adds one")
			}
			for _, rule := range list {
				app.Say("%s", termsafe.Line(rule, 300))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func exceptionAdd(app *cmdutil.App) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "add RULE",
		Short: "Let what a rule stops pass",
		Long: `Lets calls pass that RULE stops, until you remove the exception. With --once, only
the next such call passes, within ten minutes. RULE:COMMAND lets exactly one command
pass. The message that stopped the call names the rule.`,
		Example: "  hookmux guard exception add git-history.force-push --once\n" +
			"  hookmux guard exception add 'destructive.rm-broad:rm -rf /srv/cache'",
		Args: cmdutil.ExactArgs("RULE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeException(app, cmd, wire.AllowParams{Rule: args[0], Once: once})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "only for the next call, within ten minutes")
	return cmd
}

func changeException(app *cmdutil.App, cmd *cobra.Command, p wire.AllowParams) error {
	if err := checkException(app, cmd, p); err != nil {
		return err
	}
	var said struct{ Text string }
	if err := app.CallDaemon(cmd.Context(), wire.MethodAllow, p, &said); err != nil {
		return err
	}
	app.Say("%s", termsafe.Line(said.Text, 300))
	return nil
}

// checkException rejects a rule that doesn't exist. An exception that is there can always
// be removed.
func checkException(app *cmdutil.App, cmd *cobra.Command, p wire.AllowParams) error {
	rule, _, oneCommand := strings.Cut(p.Rule, ":")
	if p.Once && oneCommand {
		return cmdutil.UsageError("--once takes a rule alone: %s", rule)
	}
	known := Names(app)
	for _, g := range guards.List() {
		for _, r := range g.Rules {
			known = append(known, r.ID)
		}
	}
	slices.Sort(known) // a rule may be in several guards
	known = slices.Compact(known)
	if slices.Contains(known, rule) || slices.Contains(known, p.Rule) {
		return nil
	}
	if p.Drop {
		_, list, err := guardModes(app, cmd)
		if err != nil {
			return err
		}
		if slices.Contains(list, p.Rule) {
			return nil
		}
		return cmdutil.UnknownName("exception", p.Rule, list, "hookmux guard exception list")
	}
	if slices.Contains(GuardNames(), rule) {
		return cmdutil.UsageError("%s is a guard; name one of its rules, which `hookmux guard show %s` lists", rule, rule)
	}
	return cmdutil.UnknownName("rule", rule, known, "hookmux guard list --rules")
}
