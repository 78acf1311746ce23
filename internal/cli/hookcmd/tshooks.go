package hookcmd

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func hookTypesCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use: "types", Short: "Print the TypeScript types for editors (hookmux.d.ts)", Args: cmdutil.ExactArgs(),
		Example: "  hookmux hooks types > hookmux.d.ts",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprint(app.Stdout, tshook.Types())
			return nil
		},
	}
}

// showTSHooks lists the hooks that are TypeScript files.
func showTSHooks(app *cmdutil.App, list []wire.TSHookInfo, waiting map[string]string, all bool) error {
	rows := [][]string{{"TYPESCRIPT", "SCOPE", "MODE", "CALLS", "MEAN", "LISTENS TO"}}
	var below []string
	here := agentsHere(app)
	for _, one := range list {
		var info tshook.Info
		if len(one.Info) > 0 {
			if err := json.Unmarshal(one.Info, &info); err != nil {
				return err
			}
		}
		mean := "-"
		if info.Runs > 0 {
			mean = formatMilliseconds(info.Total / tshook.Milliseconds(info.Runs))
		}
		name := hook.TSHookFile(one.ID)
		mode, more := tsHookState(&one, waiting)
		rows = append(rows, []string{termsafe.Line(name, 40), one.Scope, mode, fmt.Sprint(info.Runs), mean,
			termsafe.Line(strings.Join(info.Events, ", "), 80)})
		for _, text := range more {
			below = append(below, name+": "+text)
		}
		below = append(below, tsHookNotes(name, &info, func(agent string) bool { return all || here[agent] })...)
	}
	text.Table(app.Stdout, rows, app.Columns())
	if len(below) > 0 {
		app.Say("")
	}
	for _, line := range below {
		app.Say("%s", text.Wrap(termsafe.Line(app.Shorten(line), 400), app.Columns(), 2))
	}
	return nil
}

// tsHookState returns the mode of a TypeScript hook, and what else there is to say: why it
// isn't active, or which version of it is if its file changed since you accepted it.
func tsHookState(one *wire.TSHookInfo, waiting map[string]string) (mode string, more []string) {
	mode = "on"
	switch {
	case !one.InForce:
		mode = "inactive"
	case one.LogOnly:
		mode = "log"
	}
	if one.Why != "" && mode != "log" {
		more = append(more, one.Why)
	}
	if change := waiting[one.Path]; change != "" {
		more = append(more, describeWaiting(change))
	}
	return mode, more
}

// agentsHere returns the agents whose programs are on this machine, and "*" for all.
func agentsHere(app *cmdutil.App) map[string]bool {
	here := map[string]bool{hook.Any: true}
	c, err := app.Catalogue()
	if err != nil {
		return here
	}
	for _, a := range c.Agents() {
		for _, program := range append([]string{a.Launch.Program}, a.Marks.Programs...) {
			if program != "" && paths.OnPath(program, app.Getenv("PATH")) != "" {
				here[a.Name] = true
			}
		}
	}
	return here
}

func formatMilliseconds(ms tshook.Milliseconds) string { return fmt.Sprintf("%.2f ms", float64(ms)) }

// tsHookNotes returns what is wrong with a file, and what some agents can't do of it.
func tsHookNotes(name string, info *tshook.Info, shown func(agent string) bool) []string {
	var out []string
	for i := range info.Errors {
		p := &info.Errors[i]
		line := name + ": error: " + p.Error()
		if p.Event != "" {
			line += " (at " + p.Event + ")"
		}
		out = append(out, line)
	}
	for _, l := range lacksOf(info, shown) {
		out = append(out, name+": "+l)
	}
	return out
}

// lacksOf gathers limits by what is lacking.
func lacksOf(info *tshook.Info, shown func(agent string) bool) []string {
	var texts []string
	agents := map[string][]string{}
	for _, l := range info.Limits {
		if !shown(l.Agent) {
			continue
		}
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
