package guardcmd

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// switchHook is `hookmux hooks on|off|only log ID`: a registered hook by its id,
// or a TypeScript file by its name.
func switchHook(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, to, name string) error {
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	var registered []wire.ListedHook
	if err := c.Call(cmd.Context(), wire.MethodHooksList, wire.HooksListParams{Cwd: app.Cwd()},
		&registered); err != nil {
		return err
	}
	for _, one := range registered {
		var reg hook.Registration
		if json.Unmarshal(one.Registration, &reg) == nil && reg.ID == name {
			patch := map[string]string{
				"on":  `{"enabled": null, "log": false}`,
				"off": `{"enabled": false}`,
				"log": `{"enabled": null, "log": true}`,
			}[to]
			done := map[string]string{"on": "switched on", "off": "switched off", "log": "only logs now:"}[to]
			return hooksEdit(app, cmd, f, wire.MethodHooksSet, wire.HooksEditParams{ID: name, Patch: []byte(patch)},
				done)
		}
	}
	var modules []wire.ModuleInfo
	if err := c.Call(cmd.Context(), wire.MethodModules, wire.ModulesParams{Cwd: app.Cwd()}, &modules); err != nil {
		return err
	}
	for _, one := range modules {
		if isNamed(&one, name) {
			return switchModule(app, cmd, c, to, &one)
		}
	}
	if short, _ := hook.GuardName(name); slices.Contains(guardNames(), short) {
		return cmdutil.UsageError("%s is a built-in guard: `hookmux guard %s %s`", name, to, short)
	}
	return cmdutil.UsageError("there is no hook %q; `hookmux hooks list` and `hookmux hooks list` list them", name)
}

// isNamed reports whether a person means a TypeScript file by a name: its id, its
// path, or its file name with or without the ending.
func isNamed(one *wire.ModuleInfo, name string) bool {
	base := filepath.Base(one.Path)
	return name == one.ID || name == one.Path || name == base || name == strings.TrimSuffix(base, filepath.Ext(base))
}

// switchModule lets a TypeScript file decide, or only logs.
func switchModule(app *cmdutil.App, cmd *cobra.Command, c *client.Client, to string, one *wire.ModuleInfo) error {
	shown := termsafe.Line(app.Shorten(one.Path), 200)
	if to == "off" {
		return cmdutil.UsageError(
			"%s counts because it lies there: move it elsewhere to switch it off, or let it only log with "+
				"`hookmux hooks log %s`",
			shown,
			filepath.Base(shown),
		)
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	list, err := logOnlyModules(app, cmd)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s string) bool { return sources.ModulePath(dirs, s) == one.Path })
	said := "decides now"
	if to == "log" {
		list = append(list, shortModuleName(dirs, one.Path))
		said = "only logs now: what it would have done is recorded, and nothing changes for agents"
	}
	b, _ := json.Marshal(append([]string{}, list...))
	var s wire.Setting
	p := wire.ConfigSetParams{Key: config.ModulesLog, Value: b}
	if err := c.Call(cmd.Context(), wire.MethodConfigSet, p, &s); err != nil {
		return err
	}
	app.Say("%s %s", shown, said)
	return nil
}

// shortModuleName is how a file is written in the setting modules.log.
func shortModuleName(dirs paths.Dirs, path string) string {
	if filepath.Dir(path) == filepath.Join(dirs.Config, "hooks") {
		return filepath.Base(path)
	}
	return path
}

// logOnlyModules reads the setting modules.log.
func logOnlyModules(app *cmdutil.App, cmd *cobra.Command) ([]string, error) {
	settings, err := readSettings(app, cmd)
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
