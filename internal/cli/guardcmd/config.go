package guardcmd

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/schema"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// ConfigCommand is `hookmux config`.
func ConfigCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Read and change settings",
		Long: `Settings come in layers: default, system (/etc/hookmux/config.json), user
(~/.config/hookmux/config.json), HOOKMUX_* variables of a daemon you start yourself,
and a project's .hookmux/config.json, which may only tighten.`,
		Example: "  hookmux config list\n  hookmux config set journal.keep 7d\n  hookmux config get guard.destructive",
		Args:    cmdutil.SubcommandArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON, project bool
	list := &cobra.Command{
		Use: "list", Short: "All settings, with where they come from", Example: "  hookmux config list --json",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := readSettings(app, cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(settings)
			}
			var rows [][]string
			for _, s := range settings {
				rows = append(rows, []string{s.Key, cmdutil.PlainValue(s.Value), s.Origin, s.Doc})
			}
			text.Table(app.Stdout, rows, app.Columns())
			return nil
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "for programs")
	get := &cobra.Command{
		Use: "get KEY", Short: "One setting", Example: "  hookmux config get journal.keep",
		Args: cmdutil.ExactArgs("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := readSettings(app, cmd)
			if err != nil {
				return err
			}
			for _, s := range settings {
				if s.Key == args[0] {
					if asJSON {
						return app.PrintJSON(s)
					}
					app.Say("%s", cmdutil.PlainValue(s.Value))
					return nil
				}
			}
			return cmdutil.UsageError("%v", config.Unknown(args[0]))
		},
	}
	get.Flags().BoolVar(&asJSON, "json", false, "for programs")
	unset := &cobra.Command{
		Use: "unset KEY", Short: "Take a setting out again", Example: "  hookmux config unset journal.keep",
		Args: cmdutil.ExactArgs("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, ok := config.Find(args[0]); !ok {
				return cmdutil.UsageError("%v", config.Unknown(args[0]))
			}
			if args[0] == config.ApprovalsPIN {
				return setPIN(app, cmd, false)
			}
			return setSetting(app, cmd, args[0], nil, project)
		},
	}
	unset.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/config.json")
	cmd.AddCommand(list, get, configSetCommand(app), unset, configSchemaCommand(app))
	return cmd
}

// configSetCommand is `hookmux config set`.
func configSetCommand(app *cmdutil.App) *cobra.Command {
	var project bool
	set := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting",
		Long: `Changes a setting of yours. The VALUE - reads it from standard input, so that a
secret stands neither in the list of processes nor in your shell's history.`,
		Example: "  hookmux config set guard.destructive block\n  hookmux config set journal.keep.codex 3d\n" +
			"  hookmux config set notify.webhook - < address",
		Args: cmdutil.ExactArgs("KEY", "VALUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, ok := config.Find(args[0])
			if !ok {
				return cmdutil.UsageError("%v", config.Unknown(args[0]))
			}
			given, err := readValue(app, key, args[1])
			if err != nil {
				return err
			}
			value, err := key.FromText(given)
			if err != nil {
				return cmdutil.UsageError("%v", err)
			}
			if key.Name == config.ApprovalsPIN {
				return setPIN(app, cmd, args[1] == "on")
			}
			return setSetting(app, cmd, args[0], value, project)
		},
	}
	set.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/config.json (may only tighten)")
	return set
}

// configSchemaCommand is `hookmux config schema`.
func configSchemaCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [config|hooks|agent|rules|facts]",
		Short: "Print the JSON Schema of a file that you edit, for editors",
		Long: `Prints the JSON Schema of config.json, of hooks.json, of a description of an
agent, of a file of rules, or of the facts that rules are written about. An editor
that knows JSON Schema completes and checks the file if its first member names the
schema: {"$schema": "./config.schema.json"}; in YAML a comment does:
# yaml-language-server: $schema=./rules.schema.json`,
		Example:   "  hookmux config schema > ~/.config/hookmux/config.schema.json\n  hookmux config schema hooks",
		ValidArgs: schema.Names(),
		Args:      cmdutil.OptionalArg(),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "config"
			if len(args) > 0 {
				name = args[0]
			}
			data, err := schema.Write(name)
			if err != nil {
				return cmdutil.UsageError("%v", err)
			}
			_, err = app.Stdout.Write(data)
			return err
		},
	}
}

// readSettings are the settings in force: those of the daemon, or, where none runs,
// those that the next one will read.
func readSettings(app *cmdutil.App, cmd *cobra.Command) ([]wire.Setting, error) {
	c, err := app.RunningDaemon()
	if err != nil {
		return nil, err
	}
	var settings []wire.Setting
	err = c.Call(cmd.Context(), wire.MethodConfigGet, wire.ConfigListParams{Cwd: app.Cwd()}, &settings)
	if errors.Is(err, client.ErrNoDaemon) {
		return settingsFromFiles(app)
	}
	return settings, err
}

// settingsFromFiles reads the files of the system, the user and this project. A
// project counts as not trusted: it may then only tighten.
func settingsFromFiles(app *cmdutil.App) ([]wire.Setting, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	root := registry.New(registry.Options{Home: dirs.Home,
		OwnDirs: []string{dirs.Config, dirs.State, dirs.System}}).FindProject(app.Cwd())
	var list []wire.Setting
	for _, e := range config.New(config.Options{System: dirs.System, User: dirs.Config}).For(root, false).List() {
		s := selection.SettingOf(e)
		if config.Sealed(s.Key) {
			s.Value, s.Default = json.RawMessage(`"not known: the daemon is not running"`), false
		}
		list = append(list, s)
	}
	return list, nil
}

// maxValue bounds a value from standard input.
const maxValue = 64 << 10

// readValue is what was typed; "-" for a text stands for standard input.
func readValue(app *cmdutil.App, key config.Key, given string) (string, error) {
	if given != "-" || key.Type != config.Text {
		return given, nil
	}
	b, err := io.ReadAll(io.LimitReader(app.Stdin, maxValue))
	if err != nil {
		return "", err
	}
	if len(b) == maxValue {
		return "", cmdutil.UsageError("standard input is too long for a setting")
	}
	return strings.TrimSpace(string(b)), nil
}

func setSetting(app *cmdutil.App, cmd *cobra.Command, key string, value json.RawMessage, project bool) error {
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	p := wire.ConfigSetParams{Key: key, Value: value}
	if project {
		p.Project = app.Cwd()
	}
	var s wire.Setting
	err = c.Call(cmd.Context(), wire.MethodConfigSet, p, &s)
	if client.NeedsPIN(err) {
		if p.PIN, err = app.AskPIN("PIN in force: ", err); err != nil {
			return err
		}
		err = c.Call(cmd.Context(), wire.MethodConfigSet, p, &s)
	}
	if err != nil {
		return err
	}
	where := app.Shorten(s.File)
	if where == "" {
		where = s.Origin
	}
	if project && s.Origin != "project" {
		app.Say("written for this project; %s is %s already (%s)", key, cmdutil.PlainValue(s.Value),
			termsafe.Line(where, 200))
		return nil
	}
	app.Say("%s is now %s (%s)", key, cmdutil.PlainValue(s.Value), termsafe.Line(where, 200))
	return nil
}
