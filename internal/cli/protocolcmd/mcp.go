package protocolcmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/protocols/mcp"
	"github.com/hookmux/hookmux/internal/version"
)

// MCPCommand is `hookmux mcp`.
func MCPCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:    "mcp",
		Hidden: true, // agents start it
		Short:  "Show an agent its own project: an MCP server on stdin and stdout",
		Long: `An MCP server for agents. Its tools only read: sessions lists the agents at work in the
same project, history searches what happened there, budgets tells what may still be
used. Which project that is, the daemon finds out from the process that asks; of other
projects nothing is shown unless you allow it (the setting mcp.projects), and nothing can
be approved or changed.`,
		Example: "  hookmux mcp\n  claude mcp add hookmux -- hookmux mcp   # Claude Code\n  codex mcp add hookmux -- hookmux mcp    # Codex",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := app.RunningDaemon()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			return mcp.Serve(ctx, c, version.String, io.NopCloser(app.Stdin), nopCloser{app.Stdout})
		},
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
