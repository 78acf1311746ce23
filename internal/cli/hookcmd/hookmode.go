package hookcmd

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/configcmd"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/wire"
)

// setHookMode is `hookmux hooks on|off|mode`: of a registered hook by its ID, or of a
// TypeScript file by its name.
func setHookMode(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, to rules.Mode, name string) error {
	if to == rules.Asks {
		return cmdutil.UsageError("a hook's mode is off, log or block")
	}
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	found, err := findHook(app, cmd, c, name, to)
	if err != nil {
		return err
	}
	if found.tsHook != nil {
		return setTSHookMode(app, cmd, c, to, found.tsHook)
	}
	patch := map[rules.Mode]string{
		rules.Block:   `{"enabled": null, "log": false}`,
		rules.Off:     `{"enabled": false}`,
		rules.LogOnly: `{"enabled": null, "log": true}`,
	}[to]
	done := map[rules.Mode]string{rules.Block: "turned on", rules.Off: "turned off", rules.LogOnly: "set to only log:"}[to]
	err = hooksEdit(app, cmd, f, wire.MethodHooksSet, wire.HooksEditParams{ID: name, Patch: []byte(patch)}, done)
	if err == nil && to != rules.Off && !f.asJSON {
		sayActiveVersion(app, cmd, c, strings.Fields(found.target)...)
	}
	return err
}

// foundHook is a hook that was named on the command line.
type foundHook struct {
	id     string
	tsHook *wire.TSHookInfo // nil for a registered hook
	target string           // what a registered hook runs
}

// findHook finds a hook by its ID, or a TypeScript file by its name.
func findHook(app *cmdutil.App, cmd *cobra.Command, c *client.Client, name string, to rules.Mode) (foundHook, error) {
	list, known, err := listHooks(cmd.Context(), app, c)
	if err != nil {
		return foundHook{}, err
	}
	for _, one := range list {
		if one.id == name || one.tsHook != nil && isNamed(one.tsHook, name) {
			return one, nil
		}
	}
	if short, _ := hook.GuardName(name); slices.Contains(rulescmd.GuardNames(), short) {
		return foundHook{}, cmdutil.UsageError("%s is a guard: `hookmux guard mode %s %s`", name, short, to)
	}
	return foundHook{}, cmdutil.UnknownName("hook", name, known, "hookmux hooks list")
}

// listHooks returns the hooks here, and what they are called.
func listHooks(ctx context.Context, app *cmdutil.App, c *client.Client) (list []foundHook, known []string, err error) {
	var registered []wire.ListedHook
	if err := c.Call(ctx, wire.MethodHooksList, wire.HooksListParams{Cwd: app.Cwd()}, &registered); err != nil {
		return nil, nil, err
	}
	for _, one := range registered {
		var reg hook.Registration
		if json.Unmarshal(one.Registration, &reg) != nil {
			continue
		}
		list, known = append(list, foundHook{id: reg.ID, target: reg.Target}), append(known, reg.ID)
	}
	var tsHooks []wire.TSHookInfo
	if err := c.Call(ctx, wire.MethodTSHooks, wire.TSHooksParams{Cwd: app.Cwd()}, &tsHooks); err != nil {
		return nil, nil, err
	}
	for i := range tsHooks {
		list = append(list, foundHook{id: tsHooks[i].ID, tsHook: &tsHooks[i]})
		known = append(known, filepath.Base(tsHooks[i].Path))
	}
	return list, known, nil
}

// pauseHook is `hookmux hooks pause`.
func pauseHook(app *cmdutil.App, cmd *cobra.Command, name string, given []string, end bool) error {
	span, err := rulescmd.PauseSpan(given, end, "hooks mode "+name)
	if err != nil {
		return err
	}
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	found, err := findHook(app, cmd, c, name, rules.LogOnly)
	if err != nil {
		return err
	}
	return rulescmd.Pause(cmd, app, wire.PauseParams{Name: hook.PauseName(found.id), Seconds: span.Seconds(), Cwd: app.Cwd()})
}

// isNamed reports whether a name means a TypeScript file: its id, its
// path, or its file name with or without the ending.
func isNamed(one *wire.TSHookInfo, name string) bool {
	base := filepath.Base(one.Path)
	return name == one.ID || name == one.Path || name == base || name == strings.TrimSuffix(base, filepath.Ext(base))
}

// setTSHookMode makes a TypeScript file decide, or only log.
func setTSHookMode(app *cmdutil.App, cmd *cobra.Command, c *client.Client, to rules.Mode, one *wire.TSHookInfo) error {
	shown := termsafe.Line(app.Shorten(one.Path), 200)
	if to == rules.Off {
		return cmdutil.UsageError("%s is a hook because it is in that folder: move it elsewhere to turn it off, or let it only "+
			"log with `hookmux hooks mode %s log`", shown, filepath.Base(shown))
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	list, err := logOnlyTSHooks(app, cmd)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s string) bool { return sources.TSHookPath(dirs, s) == one.Path })
	said := "is on"
	if to == rules.LogOnly {
		list = append(list, shortTSHookName(dirs, one.Path))
		said = "only logs now: hookmux records what it would have done"
	}
	b, _ := json.Marshal(append([]string{}, list...))
	var s wire.Setting
	p := wire.ConfigSetParams{Key: config.ModulesLog, Value: b}
	if err := c.Call(cmd.Context(), wire.MethodConfigSet, p, &s); err != nil {
		return err
	}
	app.Say("%s %s", shown, said)
	sayActiveVersion(app, cmd, c, one.Path)
	return nil
}

// shortModuleName returns how a file is written in the setting modules.log.
func shortTSHookName(dirs paths.Dirs, path string) string {
	if filepath.Dir(path) == filepath.Join(dirs.Config, "hooks") {
		return filepath.Base(path)
	}
	return path
}

// logOnlyModules reads the setting modules.log.
func logOnlyTSHooks(app *cmdutil.App, cmd *cobra.Command) ([]string, error) {
	settings, err := configcmd.ReadSettings(app, cmd)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range settings {
		if s.Key == config.ModulesLog {
			err = json.Unmarshal(s.Value, &list)
		}
	}
	return list, err
}

// HookNames returns the IDs and file names of the hooks that a running daemon has here.
func HookNames(app *cmdutil.App) []string {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil // only for a suggestion
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, known, _ := listHooks(ctx, app, c)
	return known
}

// checkHook rejects a hook that doesn't exist, before you are asked to prove that you may
// change it. One that a project replaced or that can't be read isn't listed, so the file
// decides if no list names it.
func checkHook(app *cmdutil.App, cmd *cobra.Command, id string) error {
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	found, err := findHook(app, cmd, c, id, rules.Off)
	if err == nil && found.tsHook != nil {
		return cmdutil.UsageError("%s is a file; edit or delete it", app.Shorten(found.tsHook.Path))
	}
	return err
}
