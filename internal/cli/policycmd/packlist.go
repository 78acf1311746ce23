package policycmd

import (
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/spf13/cobra"
)

func packList(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "The packs that were taken in", Example: "  hookmux rules list\n  hookmux rules list --json",
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
				app.Say("there are no packs; `hookmux rules add FOLDER` takes one in")
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
		Use: "show NAME", Short: "Show all of a pack that was taken in", Example: "  hookmux rules show team",
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
