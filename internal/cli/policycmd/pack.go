// Package policycmd has the verbs for packs of rules, for the replay of rules over
// what really happened, and for taking over agents' own permission rules.
package policycmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// PackCommand is `hookmux pack`.
func PackCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Packs of rules from a folder or a git repository",
		Long: `A pack is a folder with a pack.yaml (name, version, what) and rules/*.yaml. It is
shown whole before you take it in; from then on exactly that content counts, from
a copy of hookmux's own, and nothing is fetched again. Its rules have ids like
PACK/ID, and ` + "`hookmux rules on|ask|monitor|off`" + ` switches one of them, or all by
the pack's name.`,
		Example: `  hookmux pack add ./team-pack
  hookmux pack add git+https://git.example.com/team/rules@v1.2.3
  hookmux pack update team`,
		Args: cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(packAdd(app), packList(app), packShow(app), packUpdate(app), packRemove(app), packTest(app))
	return cmd
}

func openStore(app *cmdutil.App) (*packstore.Store, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return packstore.New(dirs.State), nil
}

// packFlags are the flags of a verb that takes a pack in.
type packFlags struct {
	app               *cmdutil.App
	yes, look, asJSON bool
}

func (f *packFlags) addTo(cmd *cobra.Command, look string) {
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.look, "look", false, look)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "for programs")
}

// PackNames are the packs that were taken in.
func PackNames(app *cmdutil.App) []string {
	store, err := openStore(app)
	if err != nil {
		return nil
	}
	list, _ := store.List() // who completes a word is told nothing
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	return names
}

// countRules is a number of rules in words.
func countRules(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}

// findKept is a pack that was taken in.
func findKept(store *packstore.Store, name string) (packstore.Kept, error) {
	kept, ok, err := store.Find(name)
	if err == nil && !ok {
		err = fmt.Errorf("there is no pack %q; `hookmux pack list` shows those there are", name)
	}
	return kept, err
}

// fetchPack reads a pack from where it comes from.
func fetchPack(ctx context.Context, app *cmdutil.App, origin packstore.Origin) (*packstore.Pack, packstore.Origin,
	error) {
	if origin.Folder == "" {
		return (&packstore.Git{Environ: app.Environ}).Fetch(ctx, origin)
	}
	pack, err := packstore.ReadFolder(origin.Folder)
	if err != nil {
		err = fmt.Errorf("%s: %w", origin.Folder, err)
	}
	return pack, origin, err
}

func packAdd(app *cmdutil.App) *cobra.Command {
	f := packFlags{app: app}
	cmd := &cobra.Command{
		Use:   "add FOLDER|git+URL@VERSION",
		Short: "Show a pack whole, and take it in",
		Long: `Reads a pack, shows all its rules and asks. VERSION is a tag, a branch or a
commit; a tag that names another commit later is refused. Git runs without any
configuration, hooks, submodules or passwords: use ssh for a private repository.
A pack is refused if it holds links or special files, if it is too large, or if its
rules are wrong or fail their own examples.`,
		Example: `  hookmux pack add ./team-pack
  hookmux pack add git+https://git.example.com/team/rules@v1.2.3
  hookmux pack add git+ssh://git@git.example.com/team/rules@v1.2.3 --look`,
		Args: cmdutil.ExactArgs("FOLDER|git+URL@VERSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.add(cmd.Context(), args[0])
		},
	}
	f.addTo(cmd, "only show what it holds")
	return cmd
}

// add shows a pack and takes it in.
func (f *packFlags) add(ctx context.Context, from string) error {
	app := f.app
	origin, err := packstore.ParseOrigin(from, app.Cwd())
	if err != nil {
		return cmdutil.UsageError("%v", err)
	}
	pack, origin, err := fetchPack(ctx, app, origin)
	if err != nil {
		return err
	}
	list, err := pack.CheckRules()
	if err != nil {
		return fmt.Errorf("pack %s is not taken in: %w", pack.Name, err)
	}
	if f.look {
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
				Rules: len(list)}, "is there already, as it is:")
		}
		return fmt.Errorf("there is a pack %s already, of %s; `hookmux pack update %s` renews it, `hookmux pack "+
			"remove %s` takes it away", old.Name, old.Origin, old.Name, old.Name)
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
	Allows []string         `json:"allows"` // rules that let calls pass
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

// takeIn asks the person and has the hub keep the pack.
func (f *packFlags) takeIn(ctx context.Context, pack *packstore.Pack, origin packstore.Origin, replaces string) error {
	app := f.app
	if err := app.Confirm("Let exactly these rules count?", f.yes); err != nil {
		return err
	}
	c, err := app.ConnectHub(ctx)
	if err != nil {
		return err
	}
	var done wire.PackResult
	if err := c.Call(ctx, wire.MethodPackAdd, pack.Params(origin, replaces), &done); err != nil {
		return err
	}
	return sayPack(app, f.asJSON, &done, "counts now:")
}

func sayPack(app *cmdutil.App, asJSON bool, done *wire.PackResult, what string) error {
	if asJSON {
		return app.PrintJSON(done)
	}
	app.Say("pack %s %s %s %s", done.Name, termsafe.Line(done.Version, 40), what, countRules(done.Rules))
	return nil
}

// allowing are the rules that let calls pass without a question.
func allowing(list []*rules.Rule) []string {
	out := []string{}
	for _, r := range list {
		if r.MayAllow() {
			out = append(out, r.ID)
		}
	}
	return out
}

// showPack shows all of a pack: who it is, what it decides, and every line of it.
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
		app.Say("  these let calls pass without a question: %s", termsafe.Line(strings.Join(ids, ", "), 1000))
	}
}

func packList(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "The packs that were taken in", Example: "  hookmux pack list\n  hookmux pack list --json",
		Args: cmdutil.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			store, err := openStore(app)
			if err != nil {
				return err
			}
			list, err := store.List()
			if err != nil {
				return err
			}
			_, problems := store.Sources()
			if asJSON {
				return app.PrintJSON(map[string]any{"packs": append([]packstore.Kept{}, list...),
					"problems": append([]rules.Problem{}, problems...)})
			}
			if len(list) == 0 {
				app.Say("there are no packs; `hookmux pack add FOLDER` takes one in")
			}
			var rows [][]string
			for _, k := range list {
				rows = append(rows, []string{k.Name, termsafe.Line(k.Version, 40), k.Hash[:16],
					termsafe.Line(app.Shorten(k.Origin.String()), 120), termsafe.Line(k.What, 200)})
			}
			text.Table(app.Stdout, rows, app.Columns())
			for _, p := range problems {
				app.Say("%s", termsafe.Line(app.Shorten(p.Text), 500))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {packs, problems}")
	return cmd
}

func packShow(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show all of a pack that was taken in", Example: "  hookmux pack show team",
		Args: cmdutil.ExactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := openStore(app)
			if err != nil {
				return err
			}
			kept, err := findKept(store, args[0])
			if err != nil {
				return err
			}
			pack, err := store.Read(kept)
			if err != nil {
				return err
			}
			list, _ := pack.Rules() // what is wrong with them was refused when it was taken in
			if !asJSON {
				showPack(app, pack, list, kept.Origin)
			}
			return lookedAt(app, asJSON, pack, list, kept.Origin)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func packUpdate(app *cmdutil.App) *cobra.Command {
	f := packFlags{app: app}
	cmd := &cobra.Command{
		Use:   "update NAME [VERSION]",
		Short: "Show what a newer version of a pack changes, and take it in",
		Long: `Reads the pack again from where it came from, shows the difference and asks. Of a
repository that was taken in by a tag the newest version tag is read, or VERSION.
A tag that names another commit than before was moved, and is refused.`,
		Example: "  hookmux pack update team\n  hookmux pack update team v1.3.0 --look",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return cmdutil.ExactArgs("NAME")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openStore(app)
			if err != nil {
				return err
			}
			kept, err := findKept(store, args[0])
			if err != nil {
				return err
			}
			origin := kept.Origin
			switch {
			case len(args) == 2 && origin.Folder != "":
				return cmdutil.UsageError("pack %s comes from a folder, which has no versions", kept.Name)
			case len(args) == 2:
				if origin, err = packstore.ParseOrigin(origin.WithRef(args[1]), app.Cwd()); err != nil {
					return cmdutil.UsageError("%v", err)
				}
			case origin.Folder == "":
				if origin, err = (&packstore.Git{Environ: app.Environ}).Newest(cmd.Context(), origin); err != nil {
					return err
				}
			}
			return f.update(cmd.Context(), store, kept, origin)
		},
	}
	f.addTo(cmd, "only show what would change")
	return cmd
}

// update shows what changes and takes it in.
func (f *packFlags) update(ctx context.Context, store *packstore.Store, kept packstore.Kept,
	origin packstore.Origin) error {
	app := f.app
	pack, origin, err := fetchPack(ctx, app, origin)
	if err != nil {
		return err
	}
	if pack.Name != kept.Name {
		return fmt.Errorf("the pack there is called %s now, and not %s; add it under its name", pack.Name, kept.Name)
	}
	if err := packstore.CheckMoved(kept.Origin, origin); err != nil {
		return err
	}
	list, err := pack.CheckRules()
	if err != nil {
		return fmt.Errorf("pack %s stays as it is: %w", pack.Name, err)
	}
	old, broken := store.Read(kept)
	if broken == nil && old.Hash() == pack.Hash() && origin == kept.Origin {
		return sayPack(app, f.asJSON, &wire.PackResult{Name: kept.Name, Version: kept.Version, Hash: kept.Hash,
			Rules: len(list)}, "is up to date:")
	}
	if broken != nil {
		app.Tell([]string{broken.Error()})
		old = &packstore.Pack{}
	}
	before, _ := old.Rules()
	changes := packstore.Changes(before, list)
	if f.asJSON && f.look {
		return app.PrintJSON(map[string]any{"pack": describe(pack, list, origin), "changes": changes})
	}
	if !f.asJSON {
		showChanges(app, old, pack, origin, changes)
	}
	if f.look {
		return nil
	}
	return f.takeIn(ctx, pack, origin, kept.Hash)
}

// showChanges shows what becomes of each rule, and the lines that change.
func showChanges(app *cmdutil.App, old, pack *packstore.Pack, origin packstore.Origin, changes []packstore.Change) {
	app.Say("pack %s %s → %s, from %s", pack.Name, termsafe.Line(old.Version, 40), termsafe.Line(pack.Version, 40),
		termsafe.Line(app.Shorten(origin.String()), 300))
	var now []*rules.Rule
	for _, c := range changes {
		switch {
		case c.Before == nil:
			app.Say("  new       %s (%s): %s", c.ID, c.After.Decide, termsafe.Line(c.After.Why, 200))
		case c.After == nil:
			app.Say("  gone      %s (%s): %s", c.ID, c.Before.Decide, termsafe.Line(c.Before.Why, 200))
		default:
			app.Say("  changed   %s (%s → %s): %s", c.ID, c.Before.Decide, c.After.Decide,
				termsafe.Line(c.After.Why, 200))
		}
		if c.After != nil {
			now = append(now, c.After)
		}
	}
	sayAllowing(app, now)
	style := app.Style()
	names := map[string][2][]byte{}
	for i, p := range []*packstore.Pack{old, pack} {
		for _, f := range p.Files {
			pair := names[f.Path]
			pair[i] = f.Data
			names[f.Path] = pair
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pair := names[name]
		lines := strings.Split(strings.TrimSuffix(string(diff.Diff(name, pair[0], name, pair[1])), "\n"), "\n")
		if len(lines) < 2 {
			continue
		}
		app.Say("%s", style.DiffTitle("changed", name))
		for _, line := range lines[1:] {
			app.Say("%s", style.DiffLine(termsafe.Text(line)))
		}
	}
}

func packRemove(app *cmdutil.App) *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Forget a pack: its rules count no more", Example: "  hookmux pack remove team",
		Args: cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := app.Confirm(fmt.Sprintf("Remove the pack %s and its rules?", args[0]), yes); err != nil {
				return err
			}
			c, err := app.ConnectHub(cmd.Context())
			if err != nil {
				return err
			}
			var done wire.PackResult
			err = c.Call(cmd.Context(), wire.MethodPackDrop, wire.PackDropParams{Name: args[0]}, &done)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(done)
			}
			app.Say("pack %s is removed", done.Name)
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func packTest(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [FOLDER|NAME|git+URL@VERSION]",
		Short: "Run every example of a pack",
		Long: `Reads a pack and tries every example of its rules: of the folder that is named, of
the folder the command runs in, or of a pack that was taken in. The exit code is 1
when a rule is wrong or an example fails.`,
		Example: "  hookmux pack test\n  hookmux pack test ./team-pack --json\n  hookmux pack test team",
		Args:    cmdutil.OptionalArg(),
		RunE: func(cmd *cobra.Command, args []string) error {
			pack, err := packToTest(cmd.Context(), app, args)
			if err != nil {
				return err
			}
			return testPack(app, pack, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {pack, rules, examples, problems}")
	return cmd
}

// packToTest reads the pack that is meant: a name of one that was taken in counts
// where no folder of this name is.
func packToTest(ctx context.Context, app *cmdutil.App, args []string) (*packstore.Pack, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	origin, err := packstore.ParseOrigin(args[0], app.Cwd())
	if err != nil {
		return nil, cmdutil.UsageError("%v", err)
	}
	pack, _, err := fetchPack(ctx, app, origin)
	if err == nil || !cmdutil.PlainName(args[0]) {
		return pack, err
	}
	store, storeErr := openStore(app)
	if storeErr != nil {
		return nil, storeErr
	}
	kept, there, _ := store.Find(args[0])
	if !there {
		return nil, errors.Join(err, fmt.Errorf("and there is no pack %q", args[0]))
	}
	return store.Read(kept)
}

func testPack(app *cmdutil.App, pack *packstore.Pack, asJSON bool) error {
	list, problems := pack.Rules()
	examples := 0
	for _, r := range list {
		examples += len(r.Examples.Hit) + len(r.Examples.Miss)
	}
	if asJSON {
		if err := app.PrintJSON(map[string]any{"pack": pack.Manifest, "rules": len(list), "examples": examples,
			"problems": append([]rules.Problem{}, problems...)}); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			app.Say("%s", termsafe.Line(p.String(), 500))
		}
		app.Say("pack %s %s: %s right, examples tried: %d; problems: %d", pack.Name,
			termsafe.Line(pack.Version, 40), countRules(len(list)), examples, len(problems))
	}
	if len(problems) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}
