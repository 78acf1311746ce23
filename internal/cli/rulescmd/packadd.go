package rulescmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// AddCommand is `hookmux rules add`.
func AddCommand(app *cmdutil.App) *cobra.Command {
	f := packFlags{app: app}
	cmd := &cobra.Command{
		Use:   "add SOURCE",
		Short: "Add a pack of rules from a folder or a git repository",
		Long: `SOURCE is a folder or git+URL@VERSION, where VERSION is a tag, a branch or a commit.
A pack is a folder with a pack.yaml (name, version, what) and rules/*.yaml. hookmux
shows all of it and asks; from then on exactly that content applies, from hookmux's
own copy. Its rules are called PACK/ID.

Git runs without configuration, hooks, submodules or passwords: use ssh for a private
repository. hookmux refuses a pack that contains links or special files, that is too
large, or whose rules are wrong or fail their own examples.`,
		Example: `  hookmux rules add ./team-pack
  hookmux rules add git+https://git.example.com/team/rules@v1.2.3
  hookmux rules add git+ssh://git@git.example.com/team/rules@v1.2.3 --dry-run`,
		Args: cmdutil.ExactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.add(cmd.Context(), args[0])
		},
	}
	f.addTo(cmd, "only show what it contains")
	return cmd
}

// add shows a pack and adds it.
func (f *packFlags) add(ctx context.Context, from string) error {
	app := f.app
	origin, err := packstore.ParseOrigin(from, app.Cwd())
	if err != nil {
		return cmdutil.UsageError("%v", err)
	}
	if origin.Folder != "" {
		if _, err := os.Stat(origin.Folder); errors.Is(err, fs.ErrNotExist) {
			return cmdutil.UsageError("there's no folder %s; a pack is a folder, or a git repository: git+URL@VERSION", app.Shorten(from))
		}
	}
	pack, origin, err := fetchPack(ctx, app, origin)
	if err != nil {
		return err
	}
	list, err := pack.CheckRules()
	if err != nil {
		return fmt.Errorf("pack %s was not added: %w", pack.Name, err)
	}
	if f.dryRun {
		if !f.asJSON {
			showPack(app, pack, list, origin)
		}
		return lookedAt(app, f.asJSON, pack, list, origin)
	}
	store, err := openStore(app)
	if err != nil {
		return err
	}
	if old, there, _ := store.Find(pack.Name); there {
		if old.Hash == pack.Hash() && old.Origin.SamePlace(origin) {
			return sayPack(app, f.asJSON, &wire.PackResult{Name: old.Name, Version: old.Version, Hash: old.Hash,
				Rules: len(list)}, "is already added:")
		}
		return fmt.Errorf("there's already a pack %s, from %s; `hookmux rules update %s` updates it, `hookmux rules "+
			"remove %s` removes it", old.Name, old.Origin, old.Name, old.Name)
	}
	if !f.asJSON {
		showPack(app, pack, list, origin)
	}
	return f.takeIn(ctx, pack, origin, "")
}

// shownPack is a pack as programs read it.
type shownPack struct {
	packstore.Manifest
	Hash   string           `json:"hash"`
	Origin packstore.Origin `json:"origin"`
	Rules  []*rules.Rule    `json:"rules"`
	Allows []string         `json:"allows"` // rules that allow calls
}

func describe(pack *packstore.Pack, list []*rules.Rule, origin packstore.Origin) shownPack {
	return shownPack{pack.Manifest, pack.Hash(), origin, list, allowing(list)}
}

func lookedAt(app *cmdutil.App, asJSON bool, pack *packstore.Pack, list []*rules.Rule, origin packstore.Origin) error {
	if asJSON {
		return app.PrintJSON(describe(pack, list, origin))
	}
	return nil
}

// takeIn asks you and has the daemon keep the pack.
func (f *packFlags) takeIn(ctx context.Context, pack *packstore.Pack, origin packstore.Origin, replaces string) error {
	app := f.app
	confirm := app.Confirm
	if list, err := pack.Rules(); replaces != "" || err == nil && len(allowing(list)) > 0 {
		confirm = app.ConfirmByCode
	}
	if err := confirm("Add exactly these rules?", f.yes); err != nil {
		return err
	}
	var done wire.PackResult
	if err := app.CallDaemon(ctx, wire.MethodPackAdd, pack.Params(origin, replaces), &done); err != nil {
		return err
	}
	return sayPack(app, f.asJSON, &done, "added:")
}

func sayPack(app *cmdutil.App, asJSON bool, done *wire.PackResult, what string) error {
	if asJSON {
		return app.PrintJSON(done)
	}
	app.Say("pack %s %s %s %s", done.Name, termsafe.Line(done.Version, 40), what, countRules(done.Rules))
	return nil
}

// allowing returns the rules that allow calls without asking.
func allowing(list []*rules.Rule) []string {
	out := []string{}
	for _, r := range list {
		if r.MayAllow() {
			out = append(out, r.ID)
		}
	}
	return out
}

// showPack shows all of a pack: whose it is, what it decides, and every line of it.
func showPack(app *cmdutil.App, pack *packstore.Pack, list []*rules.Rule, origin packstore.Origin) {
	app.Say("pack %s %s: %s", pack.Name, termsafe.Line(pack.Version, 40), termsafe.Line(pack.What, 300))
	from := origin.String()
	if origin.Commit != "" {
		from += fmt.Sprintf(" (%s, commit %.12s)", origin.Is, origin.Commit)
	}
	app.Say("  from    %s", termsafe.Line(app.Shorten(from), 300))
	app.Say("  hash    %.16s", pack.Hash())
	for _, r := range list {
		app.Say("  %-7s %s: %s", r.Decide, r.ID, termsafe.Line(r.Why, 200))
	}
	sayAllowing(app, list)
	for _, f := range pack.Files {
		app.Say("")
		app.Say("%s", f.Path)
		for line := range strings.Lines(string(f.Data)) {
			app.Say("  | %s", termsafe.Line(line, 0))
		}
	}
	app.Say("")
}

func sayAllowing(app *cmdutil.App, list []*rules.Rule) {
	if ids := allowing(list); len(ids) > 0 {
		app.Say("  these allow calls without asking: %s", termsafe.Line(strings.Join(ids, ", "), 1000))
	}
}
