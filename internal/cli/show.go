package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/wire"
)

// sessionNames is said by every command that takes a session.
const sessionNames = `SESSION is an id, the beginning of one, a title or a tmux pane (%3).`

func (w *world) showCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show SESSION",
		Short:   "One session: turns, failed calls, files, last words, how to resume it",
		Long:    "Shows everything hookmux knows about a session.\n" + sessionNames,
		Example: "  hookmux show %3\n  hookmux show 0199a1 --json",
		Args:    exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return w.show(cmd.Context(), args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: what ps --json says, and {earlier, files, errors, helpers, resume}")
	return cmd
}

func (w *world) show(ctx context.Context, name string, asJSON bool) error {
	c, err := w.hub(ctx)
	if err != nil {
		return err
	}
	d, err := c.Session(ctx, name)
	if err != nil {
		return err
	}
	if asJSON {
		return w.printJSON(d)
	}
	quoted := ""
	if d.Resume != nil {
		quoted = quotedResume(d.Resume)
	}
	w.style().Session(w.stdout, d, time.Now(), quoted)
	return nil
}

// quotedResume is a record as a line that can be pasted into a shell.
func quotedResume(r *wire.ResumeRecord) string {
	words := r.Argv
	if r.Run {
		words = append([]string{"hookmux", "run"}, words...)
	}
	if len(r.Env) > 0 {
		words = append(append([]string{"env"}, r.Env...), words...)
	}
	line := launch.ShellWords(words)
	if r.Dir != "" {
		line = "cd " + launch.ShellWords([]string{r.Dir}) + " && " + line
	}
	return line
}
