package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

func (w *world) awayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "away",
		Short: "Hold agents' requests while you are away",
		Long: `Until ` + "`hookmux back`" + `, requests wait as long as agents let them, also where an
agent's own dialog cannot be used meanwhile.`,
		Example: "  hookmux away",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			if err := c.Away(cmd.Context()); err != nil {
				return err
			}
			w.say("you are away: agents' requests wait for you until `hookmux back`")
			return nil
		},
	}
}

func (w *world) backCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "back",
		Short:   "Come back: what happened, and what waits",
		Example: "  hookmux back",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			digest, err := c.Back(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return w.printJSON(digest)
			}
			now, style := time.Now(), w.style()
			if !digest.WasAway {
				w.say("you were not away")
			} else {
				w.say("away since %s: %d requests ended, %d wait, grants let %d calls pass",
					text.Moment(*digest.Since, now), len(digest.Ended), len(digest.Waiting), digest.Granted)
			}
			if digest.Note != "" {
				w.say("%s", termsafe.Line(digest.Note, 0))
			}
			for i := range digest.Ended {
				item := &digest.Ended[i]
				w.say("%s  %s  %s", item.ID, style.About(item), style.Ended(item))
			}
			for i := range digest.Waiting {
				fmt.Fprint(w.stdout, "\n"+style.Request(&digest.Waiting[i], now))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {wasAway, since, waiting, ended, granted, note?}")
	return cmd
}
