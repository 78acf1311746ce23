package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) trustCommand() *cobra.Command {
	var yes, asJSON, look bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Let this project's own hooks run",
		Long: `Shows what the project's .hookmux would run and asks. What you trust is exactly
this content: when a file changes, the last trusted copy stays in force until
you decide again. Worktrees of the same repository do not ask again.`,
		Example: "  hookmux trust\n  hookmux trust --look   # only show",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return w.trust(cmd.Context(), yes, look, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&look, "look", false, "only show what would run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (w *world) trust(ctx context.Context, yes, look, asJSON bool) error {
	c, err := w.hub(ctx)
	if err != nil {
		return err
	}
	var view wire.TrustView
	if err := c.Call(ctx, wire.MethodTrustLook, wire.TrustParams{Cwd: w.cwd()}, &view); err != nil {
		return err
	}
	if asJSON && look {
		return w.printJSON(view)
	}
	if !asJSON {
		w.showTrust(&view)
	}
	if look || view.Status == "none" || view.Status == "trusted" {
		if asJSON {
			return w.printJSON(view)
		}
		return nil
	}
	if !yes {
		f, ok := w.stdin.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return usage("this needs a person's yes: run `hookmux trust` in a terminal, or add --yes")
		}
		fmt.Fprint(w.stdout, "Trust exactly this? [y/N] ")
		answer, _ := bufio.NewReader(w.stdin).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return errors.New("nothing was trusted")
		}
	}
	return w.trustCall(ctx, c, wire.MethodTrust, wire.TrustParams{Cwd: w.cwd(), Hash: view.Hash}, asJSON, "trusted")
}

func (w *world) showTrust(v *wire.TrustView) {
	if v.Status == "none" {
		w.say("there is no .hookmux with hooks here; nothing to trust")
		return
	}
	w.say("project %s: %s", termsafe.Line(v.Project, 200), map[string]string{
		"trusted": "trusted as it is", "changed": "changed since you trusted it; the trusted copy is in force", "untrusted": "not trusted; its hooks do not run",
	}[v.Status])
	if v.Problem != "" {
		w.say("  problem   %s", termsafe.Line(v.Problem, 300))
	}
	for _, r := range v.Runs {
		w.say("  runs      %s", termsafe.Line(r, 300))
	}
	for _, f := range v.Files {
		w.say("  covers    %s", termsafe.Line(f, 200))
	}
	for _, id := range v.Replaces {
		w.say("  replaces  your global hook %s", termsafe.Line(id, 80))
	}
	for _, ch := range v.Changes {
		w.say("  changed   %s", termsafe.Line(ch, 300))
	}
}

func (w *world) trustCall(ctx context.Context, c *client.Client, method string, p wire.TrustParams, asJSON bool, done string) error {
	var view wire.TrustView
	if err := c.Call(ctx, method, p, &view); err != nil {
		return err
	}
	if asJSON {
		return w.printJSON(view)
	}
	w.say("%s %s", done, termsafe.Line(view.Project, 200))
	return nil
}

func (w *world) untrustCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "untrust", Short: "Stop this project's own hooks", Example: "  hookmux untrust", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.hub(cmd.Context())
			if err != nil {
				return err
			}
			return w.trustCall(cmd.Context(), c, wire.MethodUntrust, wire.TrustParams{Cwd: w.cwd()}, asJSON, "no longer trusted:")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}
