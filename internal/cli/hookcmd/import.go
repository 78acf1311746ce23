package hookcmd

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install/importer"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// hooksImport imports hooks from agent-mux's file or from Claude Code's settings. Importing
// again updates what was imported before.
func hooksImport(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, args []string) error {
	if len(args) > 1 {
		return cmdutil.UsageError("import from one place at a time: `hookmux hooks import %s`", args[0])
	}
	if len(args) == 0 {
		return cmdutil.UsageError("import what? Give agent-mux's hooks.json, or the agent whose hooks to import, as in " +
			"`hookmux hooks import claude`")
	}
	if f.global && f.project {
		return cmdutil.UsageError("use --global or --project, not both")
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	batches, err := readImported(app, f, dirs.Home, args[0])
	if err != nil {
		return err
	}
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	added := []wire.HooksEditResult{}
	var notes []string
	for _, b := range batches {
		scope := b.scope
		if f.global {
			scope = "global"
		} else if f.project {
			scope = "project"
		}
		for _, n := range b.result.Notes {
			notes = append(notes, n.String())
		}
		for _, h := range b.result.Hooks {
			reg, _ := json.Marshal(h.Registration)
			var done wire.HooksEditResult
			p := wire.HooksEditParams{Scope: scope, Cwd: app.Cwd(), Registration: reg, Replace: true}
			err := c.Call(cmd.Context(), wire.MethodHooksAdd, p, &done)
			var refused *wire.Error
			switch {
			case errors.As(err, &refused) && refused.Code == wire.CodeParams: // this one; the others may be good
				notes = append(notes, importer.Note{File: h.From, Text: h.ID + ": " + refused.Message,
					Skipped: true}.String())
			case err != nil:
				sayImported(app, added, notes)
				return err
			default:
				added = append(added, done)
			}
		}
		if b.from != "" && scope == b.scope {
			gone, err := dropOrphans(app, cmd, c, scope, b.result)
			if err != nil {
				return err
			}
			for _, id := range gone {
				notes = append(notes, "removed "+id+": it is no longer in "+b.from+"'s settings")
			}
		}
	}
	if f.asJSON {
		return app.PrintJSON(map[string]any{"imported": added, "notes": append([]string{}, notes...)})
	}
	sayImported(app, added, notes)
	return nil
}

// sayImported lists what was imported, and what was not and why.
func sayImported(app *cmdutil.App, added []wire.HooksEditResult, notes []string) {
	for _, a := range added {
		var r hook.Registration
		_ = json.Unmarshal(a.Registration, &r)
		app.Say("imported %s (%s): %s", termsafe.Line(r.ID, 60), a.Scope, termsafe.Line(r.HookType+" → "+r.Target, 160))
		for _, n := range a.Notes {
			app.Say("  %s", termsafe.Line(n, 300))
		}
	}
	for _, n := range notes {
		app.Say("%s", termsafe.Line(app.Shorten(n), 300))
	}
	if len(added) == 0 {
		app.Say("nothing to import")
	}
}

// importedBatch holds what was read from one place, and the scope it belongs to.
type importedBatch struct {
	scope  string
	result importer.Result
	from   string // the title of the agent whose settings they are from; empty for a file
}

// readImported reads the hooks that an import is about.
func readImported(app *cmdutil.App, f *hookFlags, home, from string) ([]importedBatch, error) {
	var batches []importedBatch
	if a, ok := agent.Builtin().Agent(from); ok && a.HookFormat == string(hook.Claude) {
		user, project := settingsFiles(app, a, home)
		for _, source := range []struct {
			scope string
			files []string
		}{{"global", user}, {"project", project}} {
			global := !f.project && (f.global || source.scope == "global")
			options := importer.ClaudeOptions{Global: global, Agents: agent.Builtin().Agents()}
			result, err := importer.ImportClaudeFiles(source.files, options, checkRegistration)
			if err != nil {
				return nil, err
			}
			batches = append(batches, importedBatch{source.scope, result, a.Title})
		}
	} else {
		file, err := filepath.Abs(from)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(file); err != nil {
			if _, ok := agent.Builtin().Agent(from); ok {
				return nil, cmdutil.UsageError("%s has no hooks that hookmux can import; it imports Claude Code's, and agent-mux's hooks.json", from)
			}
			if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(from, "/.") {
				return nil, cmdutil.UnknownAgent(agent.Builtin(), from)
			}
			return nil, cmdutil.FileError(from, err)
		}
		result, err := importer.ImportAmux(file, checkRegistration)
		if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) {
			return nil, cmdutil.FileError(from, err)
		}
		if err != nil {
			return nil, err
		}
		scope := "project"
		if file == filepath.Join(home, ".amux", "hooks.json") {
			scope = "global"
		}
		batches = append(batches, importedBatch{scope: scope, result: result})
	}
	return batches, nil
}

func checkRegistration(r *hook.Registration) error {
	catalogue := agent.Builtin()
	return r.Check(func(name string) bool {
		_, ok := catalogue.Agent(name)
		return ok
	}, nil)
}

// settingsFiles returns the files in which an agent keeps hooks: the user's own, and
// those of the project here.
func settingsFiles(app *cmdutil.App, a *agent.Agent, home string) (user, project []string) {
	for _, f := range a.Files {
		if f.GuardOnly {
			continue
		}
		file := f.Resolve(home, app.Cwd(), app.Getenv)
		switch f.Scope {
		case "user":
			user = append(user, file)
		case "project":
			project = append(project, file)
		}
	}
	// In the home itself the project's folder is the user's own.
	return user, slices.DeleteFunc(project, func(file string) bool {
		return slices.ContainsFunc(user, func(own string) bool { return filepath.Dir(own) == filepath.Dir(file) })
	})
}

// dropOrphans takes out what an earlier import brought and Claude's settings no
// longer have.
func dropOrphans(app *cmdutil.App, cmd *cobra.Command, c *client.Client, scope string,
	result importer.Result) ([]string, error) {
	var list []wire.ListedHook
	if err := c.Call(cmd.Context(), wire.MethodHooksList, wire.HooksListParams{Cwd: app.Cwd()}, &list); err != nil {
		return nil, err
	}
	var ids []string
	for _, l := range list {
		var r hook.Registration
		if l.Scope == scope && json.Unmarshal(l.Registration, &r) == nil {
			ids = append(ids, r.ID)
		}
	}
	gone := importer.Orphans(ids, result)
	for _, id := range gone {
		p := wire.HooksEditParams{Scope: scope, Cwd: app.Cwd(), ID: id}
		if err := c.Call(cmd.Context(), wire.MethodHooksDrop, p, nil); err != nil {
			return nil, err
		}
	}
	return gone, nil
}
