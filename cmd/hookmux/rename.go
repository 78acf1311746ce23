package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/visible"
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
	w.say("%s %s: %s", s.Agent, visible.Line(s.ID, 80), visible.Line(now, 200))
	return nil
}

func (w *world) forgetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "forget SESSION",
		Short: "Take a session out of the list and forget how to resume it",
		Long: `Takes a session out of ps and deletes how it is taken up again. The agent's own
files stay as they are, and so does the journal; if the session reports again, it
is listed again.
` + sessionNames,
		Example: "  hookmux forget 0199a1",
		Args:    exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			s, err := c.ForgetSession(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			w.say("forgot %s %s", s.Agent, visible.Line(s.ID, 80))
			return nil
		},
	}
}

func (w *world) sendCommand() *cobra.Command {
	var typed bool
	cmd := &cobra.Command{
		Use:   "send SESSION TEXT",
		Short: "Give a session a text, typed into its tmux pane with --type",
		Long: `Gives a session a text as its next prompt. No agent hookmux knows takes messages
from outside of its terminal, so the text is typed there, and only when you say
--type; never while the session waits for an answer, which the text would be
taken for.
` + sessionNames,
		Example: `  hookmux send %3 --type "now run the tests"`,
		Args:    exactly("SESSION", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return usage("the text is empty")
			}
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			s, err := c.SendToSession(cmd.Context(), args[0], args[1], typed)
			if err != nil {
				return err
			}
			w.say("typed into %s (%s)", s.Pane, s.Agent)
			return nil
		},
	}
	cmd.Flags().BoolVar(&typed, "type", false, "type it into the session's tmux pane")
	return cmd
}
