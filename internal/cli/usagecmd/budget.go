package usagecmd

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func budgetCommand(app *cmdutil.App) *cobra.Command {
	list := budgetListCommand(app)
	cmd := &cobra.Command{
		Use: "budget", Short: "Limit what agents may use: ask or block at a share of a budget",
		Example: "  hookmux usage budget add --day 30usd --ask 80% --block 100%\n  hookmux usage budget list",
		Args:    cmdutil.SubcommandArgs, RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(budgetAddCommand(app), list, budgetRemoveCommand(app), budgetLiftCommand(app))
	return cmd
}

func budgetAddCommand(app *cmdutil.App) *cobra.Command {
	var day, session, window, project, agent, warn, ask, block string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add a budget for a day, a session, or a window of a plan",
		Long: `Adds a budget. It's checked before each turn and each tool call: at --warn you get a
notification, at --ask you decide about each step of 5%, at --block calls are refused
until the budget's day is over or you lift it. If part of the usage has no known price, a
budget in dollars asks. Several budgets all apply.`,
		Example: "  hookmux usage budget add --day 30usd --ask 80% --block 100%\n" +
			"  hookmux usage budget add --session 5usd --agent claude --block 100%\n" +
			"  hookmux usage budget add --window 5h --ask 90%",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := readBudget(app, day, session, window, project, agent, warn, ask, block)
			if err != nil {
				return cmdutil.UsageError("%v", err)
			}
			var added wire.Budget
			if err := app.CallDaemon(cmd.Context(), wire.MethodBudgetAdd, wire.BudgetParams{Budget: b.String()}, &added); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(added)
			}
			app.Say("added budget %s: %s", added.ID, termsText(app, &added))
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&day, "day", "", "for each local day: 30usd or 2mtokens")
	f.StringVar(&session, "session", "", "for each session: 5usd or 500ktokens")
	f.StringVar(&window, "window", "", "share of a plan's window: 5h or 7d")
	f.StringVar(&project, "project", "", "only in this folder")
	f.StringVarP(&agent, "agent", "a", "", "only this agent")
	f.StringVar(&warn, "warn", "", "notify you at this share: 60%")
	f.StringVar(&ask, "ask", "", "ask you from this share on: 80%")
	f.StringVar(&block, "block", "", "refuse calls from this share on: 100%")
	f.BoolVar(&asJSON, "json", false, "print JSON: {id, text, percent, …}")
	return cmd
}

// readBudget makes a budget of flags.
func readBudget(app *cmdutil.App, day, session, window, project, agent, warn, ask, block string) (*budget.Budget, error) {
	text := ""
	for _, w := range []struct{ key, value string }{{"day", day}, {"session", session}, {"window", window}, {"agent", agent},
		{"warn", warn}, {"ask", ask}, {"block", block}} {
		if w.value != "" {
			text += " " + w.key + "=" + w.value
		}
	}
	switch {
	case text == "" || day == "" && session == "" && window == "":
		return nil, errors.New("a budget for what? As in `hookmux usage budget add --day 30usd --ask 80% --block 100%`")
	case warn == "" && ask == "" && block == "":
		if _, err := budget.Parse(text + " block=100%"); err != nil {
			return nil, err
		}
		return nil, errors.New("what should the budget do? Add --warn 60%, --ask 80%, --block 100% or several")
	}
	b, err := budget.Parse(text)
	if err != nil {
		return nil, err
	}
	for flag, at := range map[string]float64{"warn": b.Warn, "ask": b.Ask, "block": b.Block} {
		if at > 100 {
			return nil, fmt.Errorf("--%s can't be over 100%%", flag)
		}
	}
	if agent != "" {
		catalogue, err := app.Catalogue()
		if err != nil {
			return nil, err
		}
		known, ok := catalogue.Agent(agent)
		if !ok {
			var names []string
			for _, a := range catalogue.Agents() {
				names = append(names, a.Name)
			}
			return nil, cmdutil.UnknownName("agent", agent, names, "hookmux agents list")
		}
		b.Agent = known.Name
	}
	if project != "" {
		if !filepath.IsAbs(project) {
			project = filepath.Join(app.Cwd(), project)
		}
		b.Project = filepath.Clean(project)
	}
	return b, nil
}

func budgetListCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List budgets and how much of each is used", Example: "  hookmux usage budget list --json",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var list []wire.Budget
			if err := app.CallDaemon(cmd.Context(), wire.MethodBudgets, nil, &list); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			if len(list) == 0 {
				app.Say("no budgets; `hookmux usage budget add --day 30usd --ask 80%% --block 100%%` adds one")
				return nil
			}
			width := cmp.Or(app.Columns(), noLimit)
			rows := [][]string{{"BUDGET", "USED", "WHAT IT DOES"}}
			var notes []string
			for i := range list {
				b := &list[i]
				if b.Problem != "" {
					notes = append(notes, fmt.Sprintf("%q in usage.budgets can't be read: %s; until you fix it, every call asks",
						termsafe.Line(b.Text, 100), termsafe.Line(b.Problem, 200)))
					continue
				}
				if b.Doubt != "" {
					notes = append(notes, b.ID+" asks before each session's next call: "+termsafe.Line(b.Doubt, 200))
				}
				rows = append(rows, []string{termsafe.Line(b.ID, 40), usedText(b), termsText(app, b)})
			}
			if len(rows) > 1 {
				text.Table(app.Stdout, rows, width)
			}
			for _, note := range notes {
				fmt.Fprintln(app.Stdout, text.Wrap(note, width, 2))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: [{id, text, percent, costUSD, tokens, lifted}]")
	return cmd
}

// usedText says how much of a budget is used.
func usedText(b *wire.Budget) string {
	limit, err := budget.Parse(b.Text)
	switch {
	case b.Lifted && err == nil && limit.Period == budget.Session:
		return "lifted for one"
	case b.Lifted:
		return "lifted"
	case err != nil:
		return "–"
	case limit.Period == budget.Session:
		return "see hookmux ps"
	case b.Percent == nil:
		return "unknown"
	case limit.Dollars > 0 && b.CostUSD != nil:
		return fmt.Sprintf("%.0f%%: %s of %s", *b.Percent, wire.Dollars(*b.CostUSD), wire.Dollars(limit.Dollars))
	case limit.Tokens > 0 && b.Tokens != nil:
		return fmt.Sprintf("%.0f%%: %s of %s tokens", *b.Percent, wire.Count(*b.Tokens), wire.Count(limit.Tokens))
	}
	return fmt.Sprintf("%.0f%%", *b.Percent)
}

// termsText says what a budget does, and when.
func termsText(app *cmdutil.App, b *wire.Budget) string {
	terms, err := budget.Parse(b.Text)
	if err != nil {
		return termsafe.Line(b.Text, 100)
	}
	var words []string
	for _, one := range []struct {
		does string
		at   float64
	}{{"warns from", terms.Warn}, {"asks from", terms.Ask}, {"blocks from", terms.Block}} {
		switch {
		case one.at == 0:
		case terms.Dollars > 0:
			words = append(words, one.does+" "+wire.Dollars(terms.Dollars*one.at/100))
		case terms.Tokens > 0:
			words = append(words, one.does+" "+wire.Count(int64(float64(terms.Tokens)*one.at/100))+" tokens")
		default:
			words = append(words, fmt.Sprintf("%s %g%%", one.does, one.at))
		}
	}
	is := strings.Join(words, ", ")
	switch terms.Period {
	case budget.Day:
		is += " a day"
	case budget.Session:
		is += " a session"
	}
	if terms.Agent != "" {
		is += ", only " + terms.Agent
	}
	if terms.Project != "" {
		is += ", only in " + termsafe.Line(app.Shorten(terms.Project), 60)
	}
	return is
}

func budgetRemoveCommand(app *cmdutil.App) *cobra.Command {
	return budgetChange(app, "remove ID", "Remove a budget", "remove budget", "removed budget %s", wire.MethodBudgetRemove)
}

func budgetLiftCommand(app *cmdutil.App) *cobra.Command {
	cmd := budgetChange(app, "lift ID", "Lift a budget once: until midnight, or for the next session that it stops",
		"lift budget", "budget %s stops nothing until midnight", wire.MethodBudgetLift)
	cmd.Long = "Lifts a budget once: for the rest of the day, or for the session that it\n" +
		"stops next. A restart of the daemon ends it."
	return cmd
}

func budgetChange(app *cmdutil.App, use, short, question, said, method string) *cobra.Command {
	var yes, asJSON bool
	verb, _, _ := cutWord(use)
	cmd := &cobra.Command{
		Use: use, Short: short, Example: "  hookmux usage budget " + verb + " day-30usd", Args: cmdutil.ExactArgs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var list []wire.Budget
			if err := app.CallDaemon(cmd.Context(), wire.MethodBudgets, nil, &list); err != nil {
				return err
			}
			var ids []string
			for _, b := range list {
				if b.ID == args[0] || b.Text == args[0] {
					return changeBudget(cmd, app, b, question, said, method, yes, asJSON)
				}
				ids = append(ids, b.ID)
			}
			return cmdutil.UnknownName("budget", args[0], ids, "hookmux usage budget list")
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {id, text}")
	return cmd
}

func changeBudget(cmd *cobra.Command, app *cmdutil.App, b wire.Budget, question, said, method string, yes, asJSON bool) error {
	if err := app.ConfirmByCode(fmt.Sprintf("%s %s?", upperFirst(question), b.ID), yes); err != nil {
		return err
	}
	name := b.ID
	if b.Problem != "" {
		name = b.Text
	}
	var done wire.Budget
	if err := app.CallDaemon(cmd.Context(), method, wire.BudgetParams{Budget: name}, &done); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(done)
	}
	if limit, err := budget.Parse(b.Text); method == wire.MethodBudgetLift && err == nil && limit.Period == budget.Session {
		said = "budget %s doesn't stop the session that meets it next"
	}
	app.Say(said, done.ID)
	return nil
}
