package guardcmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// ModuleCommand is `hookmux hooks`.
func ModuleCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "module",
		Short: "Hooks in TypeScript, written once for every agent",
		Long: `A TypeScript or JavaScript file is a hook on every agent: no build step, no Node.
It counts as soon as it lies in ~/.config/hookmux/hooks, in a project's
.hookmux/hooks (after ` + "`hookmux trust`" + `), in the setting modules, in a registration
(hooks add … --handler module --target ./gate.ts), or for one session with
` + "`hookmux run AGENT --hook ./gate.ts`" + `. docs/modules.md has it all.`,
		Example: `  hookmux hooks new gate
  hookmux hooks test gate.ts --event tool_call --agent codex --input '{"command":"ls"}'
  hookmux hooks list`,
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(moduleNewCommand(app), moduleTestCommand(app), moduleListCommand(app), moduleTypesCommand(app))
	return cmd
}

func moduleTypesCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use: "types", Short: "Print the types for editors (hookmux.d.ts)", Args: cmdutil.ExactArgs(),
		Example: "  hookmux hooks types > hookmux.d.ts",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprint(app.Stdout, tshook.Types())
			return nil
		},
	}
}

func moduleListCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Which files are loaded, what is wrong with them, how often and how long they ran",
		Long: `Shows every file that is a hook here, with its events, how often it ran and how
long that took, what went wrong with file and line, and what it asks for that an
agent cannot carry. A file that does not load refuses what it would have judged.`,
		Example: "  hookmux hooks list\n  hookmux hooks list --json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			var list []wire.ModuleInfo
			if err := c.Call(cmd.Context(), wire.MethodModules, wire.ModulesParams{Cwd: app.Cwd()}, &list); err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			return showModules(app, list, waitingChanges(cmd.Context(), c))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func showModules(app *cmdutil.App, list []wire.ModuleInfo, waiting map[string]string) error {
	if len(list) == 0 {
		app.Say("no file is a hook here; `hookmux hooks new NAME` makes one")
		return nil
	}
	rows := [][]string{{"MODULE", "SCOPE", "LISTENS TO", "RUNS", "MEAN", "LONGEST", "STATE"}}
	var below []string
	for _, one := range list {
		var info tshook.Info
		if len(one.Info) > 0 {
			if err := json.Unmarshal(one.Info, &info); err != nil {
				return err
			}
		}
		mean := "-"
		longest := "-"
		if info.Runs > 0 {
			mean, longest = formatMilliseconds(info.Total/tshook.Milliseconds(info.Runs)),
				formatMilliseconds(info.Longest)
		}
		rows = append(rows, []string{termsafe.Line(hook.ModuleFile(one.ID), 60), one.Scope,
			termsafe.Line(strings.Join(info.Events, ","), 80), fmt.Sprint(info.Runs), mean, longest,
			termsafe.Line(moduleState(&one, waiting), 200)})
		below = append(below, moduleNotes(one.Path, &info)...)
	}
	text.Table(app.Stdout, rows, app.Columns())
	if len(below) > 0 {
		app.Say("")
	}
	for _, line := range below {
		app.Say("%s", termsafe.Line(line, 400))
	}
	return nil
}

// moduleState says how a TypeScript hook stands, and which version of it is active
// where its file changed since it was confirmed.
func moduleState(one *wire.ModuleInfo, waiting map[string]string) string {
	state := "in force"
	switch {
	case !one.InForce:
		state = one.Why
	case one.LogOnly:
		state = "log"
	case one.Why != "":
		state = one.Why
	}
	if change := waiting[one.Path]; change != "" {
		state += "; " + describeWaiting(change)
	}
	return state
}

func formatMilliseconds(ms tshook.Milliseconds) string { return fmt.Sprintf("%.2f ms", float64(ms)) }

// moduleNotes are what is wrong with a file, and what agents cannot carry of
// it: one line for each lack, with every agent that has it.
func moduleNotes(path string, info *tshook.Info) []string {
	var out []string
	for i := range info.Errors {
		p := &info.Errors[i]
		line := "error  " + p.Error()
		if p.Event != "" {
			line += " (at " + p.Event + ")"
		}
		out = append(out, line)
	}
	for _, l := range lacksOf(info) {
		out = append(out, "lacks  "+path+": "+l)
	}
	return out
}

// lacksOf gathers limits by what is lacking.
func lacksOf(info *tshook.Info) []string {
	var texts []string
	agents := map[string][]string{}
	for _, l := range info.Limits {
		if !slices.Contains(texts, l.Text) {
			texts = append(texts, l.Text)
		}
		agents[l.Text] = append(agents[l.Text], l.Agent)
	}
	var out []string
	for _, t := range texts {
		who := strings.Join(agents[t], ", ")
		if who == hook.Any {
			out = append(out, t)
		} else {
			out = append(out, t+" ("+who+")")
		}
	}
	return out
}
