package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/version"
)

// manCommand writes the manual pages, for packagers.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man-pages FOLDER",
		Short:  "Write the manual pages into a folder",
		Long:   "Writes a manual page for each command into a folder, for packages.",
		Hidden: true, Example: "  hookmux man-pages /usr/local/share/man/man1", Args: cmdutil.ExactArgs("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			for _, page := range Pages(root, version.String) {
				if err := os.WriteFile(filepath.Join(args[0], page.Name), page.Text, 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
