package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/visible"
)

func (w *world) doctorCommand() *cobra.Command {
	var fix, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [AGENT]",
		Short: "Find out what is wrong, and how to mend it",
		Long: `Proves for each agent that its hooks are there, whole, in the file that counts,
trusted and not switched off, runs its hook with nearly no environment and watches
it arrive at the hub, and says which events ever came. Every finding names the
command that mends it; --fix runs those that only touch what hookmux wrote.
Exit code 0 when nothing is wrong, 1 otherwise.`,
		Example: "  hookmux doctor\n  hookmux doctor codex --fix",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return w.doctor(cmd.Context(), args, fix, asJSON)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "mend what hookmux wrote itself")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (w *world) doctor(ctx context.Context, args []string, fix, asJSON bool) error {
	c, err := w.catalogue()
	if err != nil {
		return err
	}
	agents, err := named(c, args)
	if err != nil {
		return err
	}
	h, err := w.installHost()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		for _, found := range h.Find(c.Agents()) {
			agents = append(agents, found.Agent)
		}
	}
	d := &install.Doctor{Host: h, All: c.Agents(), Hooks: func(a *agent.Agent, cwd string) ([]install.ListedHook, error) {
		return w.appServer(a, cwd).Hooks(cwd)
	}}
	if hub, err := w.hub(ctx); err == nil {
		d.Hub = hub
	} else {
		d.HubError = err
	}
	findings := d.Examine(ctx, agents, len(args) > 0)
	if fix {
		if err := w.personOnly(c, true); err != nil {
			return err
		}
		mended, err := d.Mend(findings, &install.Disk{Trust: func(g *install.Grant) error { return w.appServer(g.Agent, g.Cwd).Trust(g) }})
		if err != nil {
			return err
		}
		if mended {
			findings = d.Examine(ctx, agents, len(args) > 0)
		}
	}
	return w.sayFindings(findings, asJSON)
}

func (w *world) sayFindings(findings []install.Finding, asJSON bool) error {
	bad := 0
	for _, f := range findings {
		if f.Level == install.Bad {
			bad++
		}
	}
	if asJSON {
		if err := w.printJSON(map[string]any{"ok": bad == 0, "findings": findings}); err != nil {
			return err
		}
	} else {
		style, last := w.style(), ""
		for _, f := range findings {
			if f.Agent != last {
				w.say("%s", f.Agent)
				last = f.Agent
			}
			mark, colour := "✓", "32"
			switch f.Level {
			case install.Bad:
				mark, colour = "✗", "31"
			case install.Note:
				mark, colour = "–", "33"
			}
			if style.Color {
				mark = "\x1b[" + colour + "m" + mark + "\x1b[0m"
			}
			w.say("  %s %s", mark, visible.Text(f.What))
			if f.Fix != "" {
				w.say("    %s", visible.Text(f.Fix))
			}
		}
	}
	switch {
	case bad > 0:
		return &codeError{code: exitError}
	case len(findings) == 0 && !asJSON:
		return errors.New("no agent was found on PATH or by its config; name one")
	}
	return nil
}
