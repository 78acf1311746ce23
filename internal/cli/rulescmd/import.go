package rulescmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/ruleimport"
	"github.com/hookmux/hookmux/internal/wire"
)

// importFlags are the flags of `hookmux rules import`.
type importFlags struct {
	app                                   *cmdutil.App
	write                                 string
	dryRun, strict, repair, force, asJSON bool
}

// ImportCommand is `hookmux rules import`.
func ImportCommand(app *cmdutil.App) *cobra.Command {
	f := &importFlags{app: app}
	cmd := &cobra.Command{
		Use:   "import AGENT",
		Short: "Import an agent's own permission rules for all your agents",
		Long: `Reads the permission rules in an agent's settings (yours and this project's), says
what becomes of each, and writes those that mean the same here into
~/.config/hookmux/rules/AGENT.yaml. It also tells you which rules the agent itself
silently ignores, and how to write them so that they work. Claude Code's rules decide
as they do in Claude Code. --strict also looks at what a command really runs, and
stops what a deny or ask rule would miss: eval, find -exec, git -C, rm -fr, less .env.`,
		Example: `  hookmux rules import claude --dry-run
  hookmux rules import claude --strict --repair
  hookmux rules import codex --write ~/rules/codex.yaml`,
		Args: cmdutil.ExactArgs("AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().BoolVar(&f.strict, "strict", false, "look at what a command really runs; never weaker than the agent")
	cmd.Flags().BoolVar(&f.repair, "repair", false, "import what the agent ignores, in the form that works")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only show what would be imported")
	cmd.Flags().StringVar(&f.write, "write", "", "write this file instead")
	cmd.Flags().BoolVar(&f.force, "replace", false, "overwrite what an earlier import wrote")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON: {sources, taken, ignored, left, file, rules}")
	return cmd
}

// imported is the result of an import, as programs read it.
type imported struct {
	Sources []ruleimport.Source `json:"sources"`
	Taken   int                 `json:"taken"`
	Ignored int                 `json:"ignored"`
	Left    int                 `json:"left"`
	File    string              `json:"file,omitempty"`
	Rules   string              `json:"rules,omitempty"`
	// Counts is true if the rules are in force.
	Counts bool `json:"counts"`
}

func (f *importFlags) run(ctx context.Context, name string) error {
	app := f.app
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	a, ok := catalogue.Agent(name)
	if !ok {
		return cmdutil.UnknownName("agent", name, importable(catalogue), "hookmux agents")
	}
	if a.Permissions == nil {
		return cmdutil.UsageError("hookmux can't import %s's permission rules, only those of %s", a.Title,
			strings.Join(importable(catalogue), ", "))
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	sources, err := readPermissions(a, dirs.Home, app.Cwd(), app.Getenv)
	if err != nil {
		return err
	}
	out := imported{Sources: sources}
	out.Taken, out.Ignored, out.Left = ruleimport.Counts(sources)
	if !f.asJSON && len(sources) == 0 {
		app.Say("%s has no permission rules here; nothing to import", a.Title)
		return nil
	}
	if !f.asJSON {
		f.show(a, &out)
	}
	text, err := ruleimport.RulesFile(sources, ruleimport.WriteOptions{ID: a.Name, Title: a.Title, Strict: f.strict,
		Repair: f.repair, Home: dirs.Home})
	switch {
	case errors.Is(err, ruleimport.ErrNothing):
		if f.asJSON {
			return app.PrintJSON(out)
		}
		app.Say("nothing to import")
		return nil
	case err != nil:
		return err
	}
	out.Rules = string(text)
	if !f.dryRun {
		if err := f.writeRules(ctx, a, dirs.Config, &out); err != nil {
			return err
		}
	}
	if f.asJSON {
		return app.PrintJSON(out)
	}
	return nil
}

// importable returns the agents whose rules can be taken over.
func importable(catalogue *agent.Catalogue) []string {
	var list []string
	for _, a := range catalogue.Agents() {
		if a.Permissions != nil {
			list = append(list, a.Name)
		}
	}
	return list
}

// readPermissions reads the rules in an agent's files, the user's own first.
func readPermissions(a *agent.Agent, home, project string, env func(string) string) ([]ruleimport.Source, error) {
	sources := []ruleimport.Source{}
	trusted := trustsProject(a.Permissions.Trusted, home, project, env)
	for _, file := range a.Permissions.Files {
		pattern := file.Resolve(home, project, env)
		if pattern == "" {
			continue
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		slices.Sort(found)
		for _, name := range found {
			if slices.ContainsFunc(sources, func(s ruleimport.Source) bool { return s.File == name }) {
				continue // in the home folder a project's file is the user's own
			}
			place := ruleimport.Place{File: name, Home: home}
			if file.Scope != "user" {
				place.Project, place.Local, place.Untrusted = project, file.Scope == "local", !trusted
			}
			data, err := userfile.ReadFile(name, 4<<20)
			if err != nil {
				sources = append(sources, ruleimport.Source{Place: place, Entries: []ruleimport.Entry{},
					Problem: err.Error()})
				continue
			}
			sources = append(sources, ruleimport.Read(ruleimport.Format(a.Permissions.Format), place, data))
		}
	}
	return sources, nil
}

// trustsProject reports whether the agent remembers that the user trusts a project; true for
// agents that don't go by that.
func trustsProject(spec *agent.ProjectTrust, home, project string, env func(string) string) bool {
	if spec == nil {
		return true
	}
	data, err := userfile.ReadFile(spec.Resolve(home, project, env), 64<<20)
	if err != nil {
		return false
	}
	var file map[string]json.RawMessage
	var projects map[string]map[string]json.RawMessage
	if json.Unmarshal(data, &file) != nil || json.Unmarshal(file[spec.At], &projects) != nil {
		return false
	}
	for dir := project; ; dir = filepath.Dir(dir) {
		if string(projects[dir][spec.Flag]) == "true" {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// show says what becomes of each rule.
func (f *importFlags) show(a *agent.Agent, out *imported) {
	app := f.app
	for _, s := range out.Sources {
		app.Say("%s", termsafe.Line(app.Shorten(s.File), 300))
		if s.Problem != "" {
			app.Say("  problem   %s", termsafe.Line(s.Problem, 300))
		}
		for _, e := range s.Entries {
			f.showEntry(a, &e)
		}
	}
	if ruleimport.Format(a.Permissions.Format).Ordered() && len(out.Sources) > 1 {
		app.Say("note: where several files have rules for a call, the strictest one wins here, whatever their order")
	}
	app.Say("%s imported; ignored by %s itself: %d; without an exact counterpart: %d", countRules(out.Taken), a.Title,
		out.Ignored, out.Left)
}

func (f *importFlags) showEntry(a *agent.Agent, e *ruleimport.Entry) {
	from, rule := termsafe.Line(e.From, 200), termsafe.Line(e.Rule, 200)
	switch {
	case e.Rule == e.From:
		f.app.Say("  %-9s %s", e.List, rule)
	case e.Rule != "":
		f.app.Say("  %-9s %s   from: %s", e.List, rule, from)
	case e.Ignored && e.Instead != "" && f.repair:
		f.app.Say("  %-9s %s   instead of %s, which %s ignores: %s", e.List, termsafe.Line(e.Instead, 200), from,
			a.Title, e.Note)
	case e.Ignored:
		line := fmt.Sprintf("  ignored   %s %s: %s", e.List, from, e.Note)
		if e.Instead != "" {
			line += "; this works: " + termsafe.Line(e.Instead, 200)
		}
		f.app.Say("%s", line)
	default:
		f.app.Say("  left out  %s: %s", from, e.Note)
	}
}

// writeRules writes the file and accepts it, if it is one of the user's rules.
func (f *importFlags) writeRules(ctx context.Context, a *agent.Agent, configDir string, out *imported) error {
	own := filepath.Join(configDir, "rules", a.Name+".yaml")
	out.File = own
	if f.write != "" {
		file, err := filepath.Abs(f.write)
		if err != nil {
			return err
		}
		out.File = file
	}
	old, err := userfile.ReadFile(out.File, 4<<20)
	switch {
	case err == nil && string(old) == out.Rules:
		return f.sayWritten(out, "nothing changed")
	case err == nil && !f.force:
		return fmt.Errorf("%s already exists; --replace overwrites it, --write FILE writes another file", out.File)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out.File), 0o755); err != nil {
		return err
	}
	if out.File != own {
		if err := userfile.Store(out.File, []byte(out.Rules)); err != nil {
			return err
		}
		return f.sayWritten(out, "")
	}
	return f.writeOwn(ctx, out, err == nil)
}

// writeOwn writes a file of the user's rules, which applies because the user runs this. One
// that is replaced waits for `hookmux config accept`, which shows the difference.
func (f *importFlags) writeOwn(ctx context.Context, out *imported, replaces bool) error {
	c, err := f.app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	if err := userfile.Store(out.File, []byte(out.Rules)); err != nil {
		return err
	}
	if replaces {
		return f.sayWritten(out, "the changes apply once you accept them with `hookmux config accept`")
	}
	err = c.Call(ctx, wire.MethodAcceptFile, wire.AcceptFileParams{File: out.File, Content: out.Rules}, nil)
	if err != nil {
		return f.sayWritten(out, "what it refuses applies now, the rest once you accept it with "+
			"`hookmux config accept`: "+err.Error())
	}
	out.Counts = true
	return f.sayWritten(out, "active now, in every agent; `hookmux rules replay` shows what it would have done")
}

func (f *importFlags) sayWritten(out *imported, what string) error {
	if f.asJSON {
		return nil
	}
	f.app.Say("wrote %s", termsafe.Line(f.app.Shorten(out.File), 300))
	if what != "" {
		f.app.Say("%s", termsafe.Line(what, 500))
	}
	return nil
}
