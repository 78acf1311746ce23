package rulescmd

import (
	"context"
	"os"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// FindPack reads the pack of a name: a folder with a pack.yaml, a git repository, or a pack
// that you added. It returns nil if it is none of these.
func FindPack(ctx context.Context, app *cmdutil.App, name string) (*packstore.Pack, error) {
	origin, err := packstore.ParseOrigin(name, app.Cwd())
	if err != nil {
		return nil, cmdutil.UsageError("%v", err)
	}
	if origin.Folder == "" {
		pack, _, err := fetchPack(ctx, app, origin)
		return pack, err
	}
	if info, err := os.Stat(origin.Folder); err == nil {
		if !info.IsDir() {
			return nil, nil
		}
		return packstore.ReadFolder(origin.Folder)
	}
	store, err := openStore(app)
	if err != nil {
		return nil, err
	}
	kept, there, err := store.Find(name)
	if err != nil || !there {
		return nil, err
	}
	return store.Read(kept)
}

// CheckPack runs every example of a pack.
func CheckPack(app *cmdutil.App, pack *packstore.Pack, asJSON bool) error {
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
		app.Say("pack %s %s: %s, %d examples, %d problems", pack.Name,
			termsafe.Line(pack.Version, 40), countRules(len(list)), examples, len(problems))
	}
	if len(problems) > 0 {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return nil
}
