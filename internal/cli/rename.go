package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/termsafe"
)

func (w *world) renameCommand() *cobra.Command {
	var auto bool
	cmd := &cobra.Command{
		Use:   "rename SESSION TITLE | SESSION --auto",
		Short: "Give a session a title that stays; --auto gives it back its own",
		Long:  "A title you give stays until --auto: the agent's own titles no longer replace it.\n" + sessionNames,
		Example: `  hookmux rename %3 "payment bug"
  hookmux rename "payment bug" --auto`,
		Args: func(cmd *cobra.Command, args []string) error {
			if auto {
				return exactly("SESSION")(cmd, args)
			}
			return exactly("SESSION", "TITLE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			title := ""
			if !auto {
				if title = args[1]; strings.TrimSpace(title) == "" {
					return usage("the title is empty; --auto gives a session its own title back")
				}
			}
			return w.rename(cmd.Context(), args[0], title)
		},
	}
	cmd.Flags().BoolVar(&auto, "auto", false, "let the agent name it again")
	return cmd
}

func (w *world) rename(ctx context.Context, name, title string) error {
	c, err := w.hub(ctx)
	if err != nil {
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
	w.say("%s %s: %s", s.Agent, termsafe.Line(s.ID, 80), termsafe.Line(now, 200))
	return nil
}
