package guardcmd

import (
	"cmp"
	"context"
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
	"github.com/hookmux/hookmux/internal/selection/confirmed"
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
			err := hooksEdit(app, cmd, f, wire.MethodHooksSet, wire.HooksEditParams{ID: name, Patch: []byte(patch)},
				done)
			if err == nil && to != "off" && !f.asJSON {
				sayActiveVersion(app, cmd, c, strings.Fields(reg.Target)...)
			}
			return err
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
	sayActiveVersion(app, cmd, c, one.Path)
	return nil
}

// sayActiveVersion says which version of a hook's files is active where that is not the
// one on disk: changes count only once they are confirmed.
func sayActiveVersion(app *cmdutil.App, cmd *cobra.Command, c *client.Client, files ...string) {
	waiting := waitingChanges(cmd.Context(), c)
	for _, file := range files {
		if change := cmp.Or(waiting[file], waiting[expandHome(app, file)]); change != "" {
			app.Say("note: %s %s", termsafe.Line(app.Shorten(file), 200), describeWaiting(change))
		}
	}
}

func expandHome(app *cmdutil.App, file string) string {
	dirs, err := app.Dirs()
	if rest, ok := strings.CutPrefix(file, "~/"); ok && err == nil {
		return filepath.Join(dirs.Home, rest)
	}
	return file
}

// waitingChanges are the files whose changes wait to be confirmed, and how each
// changed.
func waitingChanges(ctx context.Context, c *client.Client) map[string]string {
	info, err := c.Info(ctx)
	if err != nil {
		return nil // only for a note
	}
	out := map[string]string{}
	for _, one := range info.Unconfirmed {
		out[one.File] = one.Change
	}
	return out
}

// describeWaiting says which version of a changed file is active, and what accepts the
// other one.
func describeWaiting(change string) string {
	const accept = "`hookmux config accept` accepts it"
	switch confirmed.Kind(change) {
	case confirmed.Added:
		return "is new and not confirmed: only what it refuses is active; " + accept
	case confirmed.Edited:
		return "was edited since you confirmed it: the confirmed version is active, not the one in the file; " + accept
	case confirmed.Removed:
		return "was removed: the version that you confirmed is still active; " + accept
	}
	return "cannot be read: the version that you confirmed last is active"
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
