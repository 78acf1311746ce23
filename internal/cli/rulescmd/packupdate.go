package rulescmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

// UpdateCommand is `hookmux rules update`.
func UpdateCommand(app *cmdutil.App) *cobra.Command {
	f := packFlags{app: app}
	cmd := &cobra.Command{
		Use:   "update NAME [VERSION]",
		Short: "Update a pack of rules",
		Long: `Reads the pack again from where it came from, shows what changed and asks. A pack
that you added by a tag is updated to the newest version tag, or to VERSION. hookmux
refuses a tag that has moved to another commit.`,
		Example: "  hookmux rules update team\n  hookmux rules update team v1.3.0 --dry-run",
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
			kept, err := findKept(app, store, args[0])
			if err != nil {
				return err
			}
			origin := kept.Origin
			switch {
			case len(args) == 2 && origin.Folder != "":
				return cmdutil.UsageError("pack %s comes from a folder, so it has no versions", kept.Name)
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

// update shows what changes and applies it.
func (f *packFlags) update(ctx context.Context, store *packstore.Store, kept packstore.Kept,
	origin packstore.Origin) error {
	app := f.app
	pack, origin, err := fetchPack(ctx, app, origin)
	if err != nil {
		return err
	}
	if pack.Name != kept.Name {
		return fmt.Errorf("the pack there is now called %s, not %s; add it under its new name", pack.Name, kept.Name)
	}
	if err := packstore.CheckMoved(kept.Origin, origin); err != nil {
		return err
	}
	list, err := pack.CheckRules()
	if err != nil {
		return fmt.Errorf("pack %s was not updated: %w", pack.Name, err)
	}
	old, broken := store.Read(kept)
	if broken == nil && old.Hash() == pack.Hash() && origin == kept.Origin {
		return sayPack(app, f.asJSON, &wire.PackResult{Name: kept.Name, Version: kept.Version, Hash: kept.Hash,
			Rules: len(list)}, "is up to date:")
	}
	if broken != nil {
		app.PrintNotes([]string{broken.Error()})
		old = &packstore.Pack{}
	}
	before, _ := old.Rules()
	changes := packstore.Changes(before, list)
	if f.asJSON && f.dryRun {
		return app.PrintJSON(map[string]any{"pack": describe(pack, list, origin), "changes": changes})
	}
	if !f.asJSON {
		showChanges(app, old, pack, origin, changes)
	}
	if f.dryRun {
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
