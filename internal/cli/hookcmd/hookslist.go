package hookcmd

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

func hooksDiscover(app *cmdutil.App, f *hookFlags, name string) error {
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	type row struct {
		Agent   string          `json:"agent"`
		Type    string          `json:"type"`
		Kind    event.Kind      `json:"kind"`
		Decides bool            `json:"decides"`
		Carries map[string]bool `json:"carries"`
		Install string          `json:"install"`
	}
	list := []row{}
	for _, a := range catalogue.Agents() {
		if name != hook.Any && a.Name != name {
			continue
		}
		for _, e := range a.Events {
			c := e.CarriesAt("")
			list = append(list, row{a.Name, e.Name, e.Kind, e.Decides(), map[string]bool{
				"allow": c.Allow, "deny": c.Deny, "ask": c.Ask, "input": c.Input, "output": c.Output,
				"context": c.Context, "keep": c.Keep,
			}, string(e.Install)})
		}
	}
	if f.asJSON {
		return app.PrintJSON(list)
	}
	rows := [][]string{{"EVENT", "KIND", "A HOOK MAY"}}
	for i, r := range list {
		if name == hook.Any && (i == 0 || list[i-1].Agent != r.Agent) {
			if i > 0 { // a table of its own, so that one agent's long names don't squeeze another's rows
				text.Table(app.Stdout, rows, app.Columns())
				app.Say("")
			}
			app.Say("%s:", r.Agent)
			rows = rows[:1]
		}
		var may []string
		for _, word := range []string{"deny", "allow", "ask", "input", "output", "context", "keep"} {
			if r.Carries[word] {
				may = append(may, map[string]string{"input": "change input", "output": "change result",
					"context": "add context", "keep": "keep going"}[word]+
					map[string]string{"deny": "deny", "allow": "allow", "ask": "ask"}[word])
			}
		}
		if len(may) == 0 {
			may = []string{"watch only"}
		}
		rows = append(rows, []string{r.Type, string(r.Kind), strings.Join(may, ", ")})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}

func hooksList(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, name string) error {
	c, err := app.ReadDaemon(cmd.Context())
	if err != nil {
		return err
	}
	p := wire.HooksListParams{Cwd: app.Cwd()}
	if name != hook.Any {
		p.Agent = name
	}
	var list []wire.ListedHook
	if err := c.Call(cmd.Context(), wire.MethodHooksList, p, &list); err != nil {
		return err
	}
	var tsHooks []wire.TSHookInfo
	if err := c.Call(cmd.Context(), wire.MethodTSHooks, wire.TSHooksParams{Cwd: app.Cwd()}, &tsHooks); err != nil {
		return err
	}
	if f.asJSON {
		all := []any{}
		for _, one := range list {
			all = append(all, one)
		}
		for _, one := range tsHooks {
			all = append(all, map[string]any{"file": one, "scope": one.Scope, "inForce": one.InForce, "why": one.Why})
		}
		return app.PrintJSON(all)
	}
	rulescmd.SayPauses(app, func(name string) bool { _, ok := hook.PausedHook(name); return ok })
	unread, err := sayHookProblems(app)
	if err != nil {
		return err
	}
	if len(list) == 0 && len(tsHooks) == 0 && unread {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	if len(list) == 0 && len(tsHooks) == 0 {
		app.Say("no hooks here; `hookmux hooks new NAME` writes one in TypeScript, `hookmux hooks add` adds a command")
		return nil
	}
	if err := sayRegistered(app, list); err != nil || len(tsHooks) == 0 {
		return err
	}
	if len(list) > 0 {
		app.Say("")
	}
	return showTSHooks(app, tsHooks, waitingChanges(cmd.Context(), c), f.all)
}

// sayHookProblems says what in your hooks.json and this project's can't be read.
func sayHookProblems(app *cmdutil.App) (any bool, err error) {
	dirs, err := app.Dirs()
	if err != nil {
		return false, err
	}
	r := evaluate.New(dirs, app.LiveSettings).Registry
	files := []string{r.GlobalFile()}
	if root := r.FindProject(app.Cwd()); root != "" {
		files = append(files, filepath.Join(root, ".hookmux", "hooks.json"))
	}
	for _, file := range files {
		_, problems := r.List(file)
		for _, p := range problems {
			any = true
			app.Say("%s; the last accepted version stays active until you fix it",
				app.Style().Fault(termsafe.Line(app.Shorten(p.String()), 400)))
		}
	}
	return any, nil
}

// sayRegistered lists the hooks that are registered.
func sayRegistered(app *cmdutil.App, list []wire.ListedHook) error {
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"ID", "AGENT", "KIND", "MODE", "SCOPE", "RUNS"}}
	var below []string
	for _, l := range list {
		var r hook.Registration
		if err := json.Unmarshal(l.Registration, &r); err != nil {
			return err
		}
		mode := "on"
		switch {
		case l.Why == "disabled":
			mode = "off"
		case !l.InForce:
			mode = "inactive"
			below = append(below, r.ID+": "+l.Why)
		case r.LogOnly:
			mode = "log"
		}
		rows = append(rows, []string{termsafe.Line(r.ID, 40), r.Agent, r.HookType, mode, l.Scope,
			termsafe.Line(r.Handler+" "+r.Target, 60)})
	}
	text.Table(app.Stdout, rows, app.Columns())
	for _, line := range below {
		app.Say("%s", text.Wrap(termsafe.Line(app.Shorten(line), 300), app.Columns(), 2))
	}
	return nil
}
