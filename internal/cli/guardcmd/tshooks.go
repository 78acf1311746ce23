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

// showModules lists the hooks that are TypeScript files.
func showModules(app *cmdutil.App, list []wire.ModuleInfo, waiting map[string]string) error {
	rows := [][]string{{"TYPESCRIPT", "SCOPE", "LISTENS TO", "RUNS", "MEAN", "LONGEST", "MODE"}}
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

// moduleState returns the mode of a TypeScript hook, and which version of it is active if its file changed since you
// accepted it.
func moduleState(one *wire.ModuleInfo, waiting map[string]string) string {
	state := "on"
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
