package rulescmd

import (
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// Packs returns the packs that you added, and what is wrong with them.
func Packs(app *cmdutil.App) ([]packstore.Kept, []rules.Problem, error) {
	store, err := openStore(app)
	if err != nil {
		return nil, nil, err
	}
	list, err := store.List()
	if err != nil {
		return nil, nil, err
	}
	_, problems := store.Sources()
	return append([]packstore.Kept{}, list...), append([]rules.Problem{}, problems...), nil
}

// SayPacks lists packs.
func SayPacks(app *cmdutil.App, list []packstore.Kept) {
	if len(list) == 0 {
		return
	}
	app.Say("packs")
	var rows [][]string
	for _, k := range list {
		rows = append(rows, []string{"  " + k.Name, termsafe.Line(k.Version, 40),
			termsafe.Line(app.Shorten(k.Origin.String()), 120), termsafe.Line(k.What, 200)})
	}
	text.Table(app.Stdout, rows, app.Columns())
}

// ShowPack shows all of a pack that you added; false if there is none of this name.
func ShowPack(app *cmdutil.App, name string, asJSON bool) (bool, error) {
	store, err := openStore(app)
	if err != nil {
		return false, err
	}
	kept, there, err := store.Find(name)
	if err != nil || !there {
		return false, err
	}
	pack, err := store.Read(kept)
	if err != nil {
		return true, err
	}
	list, _ := pack.Rules() // hookmux rejected packs with wrong rules when they were added
	if !asJSON {
		showPack(app, pack, list, kept.Origin)
	}
	return true, lookedAt(app, asJSON, pack, list, kept.Origin)
}
