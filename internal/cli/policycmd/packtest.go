package policycmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/spf13/cobra"
)

func packTest(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [FOLDER|NAME|git+URL@VERSION]",
		Short: "Run every example of a pack",
		Long: `Reads a pack and tries every example of its rules: of the folder that is named, of
the folder the command runs in, or of a pack that was taken in. The exit code is 1
when a rule is wrong or an example fails.`,
		Example: "  hookmux why\n  hookmux why ./team-pack --json\n  hookmux why team",
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
