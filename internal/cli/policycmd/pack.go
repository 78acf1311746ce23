// Package policycmd has the verbs for packs of rules, for the replay of rules over
// what really happened, and for taking over agents' own permission rules.
package policycmd

import (
	"context"
	"fmt"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/spf13/cobra"
)

// PackCommand is `hookmux rules`.
func PackCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Packs of rules from a folder or a git repository",
		Long: `A pack is a folder with a pack.yaml (name, version, what) and rules/*.yaml. It is
shown whole before you take it in; from then on exactly that content counts, from
a copy of hookmux's own, and nothing is fetched again. Its rules have ids like
PACK/ID, and ` + "`hookmux rules on|ask|log|off`" + ` switches one of them, or all by
the pack's name.`,
		Example: `  hookmux rules add ./team-pack
  hookmux rules add git+https://git.example.com/team/rules@v1.2.3
  hookmux rules update team`,
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

// packFlags are the flags of a verb that adds a pack.
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
		err = fmt.Errorf("there is no pack %q; `hookmux rules list` shows those there are", name)
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
