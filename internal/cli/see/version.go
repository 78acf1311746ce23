package see

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/version"
)

// VersionLine is printed by --version and version.
var VersionLine = "hookmux " + version.String + "\n"

// PrintVersion writes the version.
func PrintVersion(app *cmdutil.App) { fmt.Fprint(app.Stdout, VersionLine) }

// VersionCommand is `hookmux version`.
func VersionCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Example: "  hookmux version", Args: cmdutil.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return app.PrintJSON(map[string]string{"version": version.String})
			}
			PrintVersion(app)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {version}")
	return cmd
}
