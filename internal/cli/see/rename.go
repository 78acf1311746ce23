package see

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// RenameCommand is `hookmux rename`.
func RenameCommand(app *cmdutil.App) *cobra.Command {
	var auto bool
	cmd := &cobra.Command{
		Use:   "rename SESSION TITLE | SESSION --auto",
		Short: "Give a session a title; --auto lets the agent name it again",
		Long: "Gives a session a title, which the agent's own titles don't replace until --auto.\n" +
			cmdutil.SessionNames,
		Example: `  hookmux rename %3 "payment bug"
  hookmux rename "payment bug" --auto`,
		Args: func(cmd *cobra.Command, args []string) error {
			if auto {
				return cmdutil.ExactArgs("SESSION")(cmd, args)
			}
			return cmdutil.ExactArgs("SESSION", "TITLE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			title := ""
			if !auto {
				if title = args[1]; strings.TrimSpace(title) == "" {
					return cmdutil.UsageError("the title is empty; --auto lets the agent name the session again")
				}
			}
			return renameSession(cmd.Context(), app, args[0], title)
		},
	}
	cmd.Flags().BoolVar(&auto, "auto", false, "let the agent name it again")
	return cmd
}

func renameSession(ctx context.Context, app *cmdutil.App, name, title string) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	if _, err := c.Session(ctx, name); err != nil { // before the terminal is checked
		return err
	}
	s, err := c.RenameSession(ctx, name, title)
	if err != nil {
		return err
	}
	now := s.Title
	if now == "" {
		now = "(no title yet)"
	}
	app.Say("%s %s: %s", s.Agent, termsafe.Line(s.ID, 80), termsafe.Line(now, 200))
	return nil
}
