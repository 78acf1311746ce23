package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *world) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Read and change settings",
		Long: `Settings come in layers: default, system (/etc/hookmux/config.json), user
(~/.config/hookmux/config.json), HOOKMUX_* variables of a hub you start yourself,
and a project's .hookmux/config.json, which may only tighten.`,
		Example: "  hookmux config list\n  hookmux config set journal.keep 7d\n  hookmux config get guard.destructive",
		Args:    group,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON, project bool
	list := &cobra.Command{
		Use: "list", Short: "All settings, with where they come from", Example: "  hookmux config list --json", Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := w.settings(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return w.printJSON(settings)
			}
			var rows [][]string
			for _, s := range settings {
				origin := s.Origin
				if s.File != "" {
					origin += " " + s.File
				}
				rows = append(rows, []string{s.Key, plainValue(s.Value), termsafe.Line(origin, 120), s.Doc})
			}
			text.Table(w.stdout, rows)
			return nil
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "for programs")
	get := &cobra.Command{
		Use: "get KEY", Short: "One setting", Example: "  hookmux config get journal.keep", Args: exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := w.settings(cmd)
			if err != nil {
				return err
			}
			for _, s := range settings {
				if s.Key == args[0] {
					if asJSON {
						return w.printJSON(s)
					}
					w.say("%s", plainValue(s.Value))
					return nil
				}
			}
			return usage("%v", config.Unknown(args[0]))
		},
	}
	get.Flags().BoolVar(&asJSON, "json", false, "for programs")
	set := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting", Example: "  hookmux config set guard.destructive on\n  hookmux config set journal.keep.codex 3d",
		Args: exactly("KEY", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, ok := config.Find(args[0])
			if !ok {
				return usage("%v", config.Unknown(args[0]))
			}
			value, err := key.FromText(args[1])
			if err != nil {
				return usage("%v", err)
			}
			if key.Name == config.ApprovalsPIN {
				return w.setPIN(cmd, args[1] == "on")
			}
			return w.setSetting(cmd, args[0], value, project)
		},
	}
	set.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/config.json (may only tighten)")
	unset := &cobra.Command{
		Use: "unset KEY", Short: "Take a setting out again", Example: "  hookmux config unset journal.keep", Args: exactly("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := config.Find(args[0]); !ok {
				return usage("%v", config.Unknown(args[0]))
			}
			if args[0] == config.ApprovalsPIN {
				return w.setPIN(cmd, false)
			}
			return w.setSetting(cmd, args[0], nil, project)
		},
	}
	unset.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/config.json")
	cmd.AddCommand(list, get, set, unset)
	return cmd
}

func (w *world) settings(cmd *cobra.Command) ([]wire.Setting, error) {
	c, err := w.hub(cmd.Context())
	if err != nil {
		return nil, err
	}
	var settings []wire.Setting
	err = c.Call(cmd.Context(), wire.MethodConfigGet, wire.ConfigListParams{Cwd: w.cwd()}, &settings)
	return settings, err
}

func (w *world) setSetting(cmd *cobra.Command, key string, value json.RawMessage, project bool) error {
	c, err := w.hub(cmd.Context())
	if err != nil {
		return err
	}
	p := wire.ConfigSetParams{Key: key, Value: value}
	if project {
		p.Project = w.cwd()
	}
	var s wire.Setting
	if err := c.Call(cmd.Context(), wire.MethodConfigSet, p, &s); err != nil {
		return err
	}
	w.say("%s is now %s (%s)", key, plainValue(s.Value), termsafe.Line(strings.TrimSpace(s.Origin+" "+s.File), 200))
	return nil
}

// plainValue shows a value as a person would type it.
func plainValue(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return termsafe.Line(s, 120)
	}
	var list []string
	if json.Unmarshal(v, &list) == nil {
		if len(list) == 0 {
			return "(none)"
		}
		return termsafe.Line(strings.Join(list, ","), 200)
	}
	return termsafe.Line(fmt.Sprintf("%s", v), 120)
}
