package rulescmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/spf13/cobra"
)

// This file has the commands for packs of rules, for the replay of rules over what really
// happened, and for importing agents' own permission rules.

func openStore(app *cmdutil.App) (*packstore.Store, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	return packstore.New(dirs.State), nil
}

// packFlags are the flags of a command that adds a pack.
type packFlags struct {
	app                 *cmdutil.App
	yes, dryRun, asJSON bool
}

func (f *packFlags) addTo(cmd *cobra.Command, dryRun string) {
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "don't ask")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, dryRun)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// PackNames returns the packs that you added.
func PackNames(app *cmdutil.App) []string {
	store, err := openStore(app)
	if err != nil {
		return nil
	}
	list, _ := store.List() // completion stays silent about errors
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	return names
}

// findKept returns a pack that was added.
func findKept(app *cmdutil.App, store *packstore.Store, name string) (packstore.Kept, error) {
	kept, ok, err := store.Find(name)
	if err == nil && !ok {
		err = cmdutil.UnknownName("pack", name, PackNames(app), "hookmux rules list")
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
		err = packError(app, origin.Folder, err)
	}
	return pack, origin, err
}

// packError says why a folder isn't a pack.
func packError(app *cmdutil.App, folder string, err error) error {
	shown := folder
	if rel, relErr := filepath.Rel(app.Cwd(), folder); relErr == nil && !strings.HasPrefix(rel, "..") {
		shown = "./" + rel
	}
	if info, statErr := os.Stat(folder); statErr == nil && !info.IsDir() {
		return cmdutil.UsageError("%s is a file; a pack is a folder with a pack.yaml", shown)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if _, statErr := os.Stat(folder); statErr == nil {
			return cmdutil.UsageError("%s has no pack.yaml, so it isn't a pack", shown)
		}
		return cmdutil.FolderError(shown, err)
	}
	return fmt.Errorf("%s: %w", shown, err)
}
