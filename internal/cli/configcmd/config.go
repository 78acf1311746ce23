package configcmd

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/schema"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// ConfigCommand is `hookmux config`.
func ConfigCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Read and change settings",
		Long: `Settings come in layers: the default, the system's (/etc/hookmux/config.json), yours
(~/.config/hookmux/config.json), HOOKMUX_* variables of a daemon you start yourself,
and a project's .hookmux/config.json, which can only be stricter. Without a command,
lists the settings that differ from their default.`,
		Example: "  hookmux config list\n  hookmux config set journal.keep 7d\n  hookmux config get guard.destructive",
		Args:    cmdutil.SubcommandArgs,
	}
	var asJSON, project bool
	list := configListCommand(app)
	cmd.RunE = list.RunE
	cmd.Flags().AddFlagSet(list.Flags())
	get := &cobra.Command{
		Use: "get KEY", Short: "Print a setting", Example: "  hookmux config get journal.keep",
		Args: cmdutil.ExactArgs("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettingName(app, args[0]); err != nil {
				return err
			}
			settings, err := ReadSettings(app, cmd)
			if err != nil {
				return err
			}
			s := settingFor(settings, args[0])
			if asJSON {
				return app.PrintJSON(s)
			}
			app.Say("%s", cmdutil.PlainValue(s.Value))
			return nil
		},
	}
	get.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	unset := &cobra.Command{
		Use: "unset KEY", Short: "Put a setting back to its default", Example: "  hookmux config unset journal.keep",
		Args: cmdutil.ExactArgs("KEY"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettingName(app, args[0]); err != nil {
				return err
			}
			if args[0] == config.ApprovalsPIN {
				return SetPIN(app, cmd, false)
			}
			return SetSetting(app, cmd, args[0], nil, project)
		},
	}
	unset.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/config.json")
	cmd.AddCommand(list, get, configSetCommand(app), unset, acceptCommand(app))
	return cmd
}

func configListCommand(app *cmdutil.App) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "list [GROUP]", Short: "List the settings you changed; --all lists every setting",
		Example: "  hookmux config list\n  hookmux config list --all\n  hookmux config list guard", Args: groupArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := ReadSettings(app, cmd)
			if err != nil {
				return err
			}
			all := all
			if len(args) > 0 {
				all = true
				settings = slices.DeleteFunc(settings, func(s wire.Setting) bool { return !strings.HasPrefix(s.Key, args[0]+".") })
			}
			if asJSON {
				return app.PrintJSON(settings)
			}
			sayConfigProblems(app)
			sayConfig(app, settings, all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with every setting")
	cmd.Flags().BoolVar(&all, "all", false, "list every setting, with what it means")
	return cmd
}

// groupArg allows the first word of settings, such as guard or notify.
func groupArg(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && isGroup(args[0]) {
		return nil
	}
	if err := cmdutil.ExactArgs()(cmd, args); len(args) != 1 || isSetting(args[0]) || cmdutil.FlagNamed(cmd, args[0]) != nil {
		return err
	}
	return cmdutil.UnknownName("group", args[0], groups(), "")
}

// groups returns the first words of settings.
func groups() (list []string) {
	for _, k := range config.Keys() {
		if group, _, ok := strings.Cut(k.Name, "."); ok && !slices.Contains(list, group) {
			list = append(list, group)
		}
	}
	return list
}

func isSetting(name string) bool {
	_, ok := config.Find(name)
	return ok
}

func isGroup(name string) bool {
	return slices.Contains(groups(), name)
}

// sayConfig lists settings: what differs from the default, or all with their meaning
// below.
func sayConfig(app *cmdutil.App, settings []wire.Setting, all bool) {
	shown, last := 0, ""
	for _, s := range settings {
		key, _ := config.Find(s.Key)
		if (s.Default || s.Origin == originUnknown) && (!all || key.State) {
			continue
		}
		if group, _, _ := strings.Cut(s.Key, "."); all && group != last {
			if shown > 0 {
				app.Say("")
			}
			if group == "guard" {
				app.Say("guards can be off, log (record only), ask or block:")
			}
			last = group
		}
		shown++
		line := termsafe.Line(s.Key+" = "+shownValue(key, s.Value), 0)
		if !s.Default && s.Origin != originUnknown {
			line += "  (" + s.Origin + ")"
		}
		app.Say("%s", line)
		if all {
			app.Say("%s", text.Wrap("    "+s.Doc, app.Columns(), 4))
		}
	}
	switch {
	case shown == 0:
		app.Say("every setting has its default; `hookmux config list --all` lists them")
	case !all:
		app.Say("%d more have their default; `hookmux config list --all` lists them", len(settings)-shown)
	}
}

// shownValue returns a value in a list of settings: not every entry if it has all there are.
func shownValue(key config.Key, value json.RawMessage) string {
	var list []string
	if json.Unmarshal(value, &list) == nil && len(key.Items) > 0 && len(list) == len(key.Items) {
		return "(all)"
	}
	if plain := cmdutil.PlainValue(value); plain != "" {
		return plain
	}
	return "(none)"
}

// configSetCommand is `hookmux config set`.
func configSetCommand(app *cmdutil.App) *cobra.Command {
	var project bool
	set := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting",
		Long: `Changes one of your settings. With - as VALUE it reads the value from stdin, so that a
secret ends up neither in the process list nor in your shell's history.`,
		Example: "  hookmux config set guard.destructive block\n  hookmux config set journal.keep.codex 3d\n" +
			"  hookmux config set notify.webhook - < address",
		Args: setArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSettingName(app, args[0]); err != nil {
				return err
			}
			key, _ := config.Find(args[0])
			given, err := readValue(app, key, args[1])
			if err != nil {
				return err
			}
			value, err := key.FromText(given)
			if err != nil {
				return cmdutil.UsageError("%v", err)
			}
			if key.Name == config.ApprovalsPIN {
				return SetPIN(app, cmd, args[1] == "on")
			}
			return SetSetting(app, cmd, args[0], value, project)
		},
	}
	set.Flags().BoolVar(&project, "project", false, "in this project's .hookmux/config.json (can only be stricter)")
	return set
}

// SchemaCommand is `hookmux schema`, for editors.
func SchemaCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:    "schema [config|hooks|agent|rules|facts]",
		Short:  "Print the JSON Schema of a file that you edit",
		Hidden: true,
		Long: `Prints the JSON Schema of config.json, of hooks.json, of an agent's description, of a
file of rules, or of the facts that rules are about. An editor that knows JSON Schema
completes and checks the file if its first member names the schema:
{"$schema": "./config.schema.json"}; in YAML, write a comment:
# yaml-language-server: $schema=./rules.schema.json`,
		Example:   "  hookmux schema > ~/.config/hookmux/config.schema.json\n  hookmux schema hooks",
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

// ReadSettings returns the settings in force: those of the daemon, or, if none runs, those
// that the next one will read.
func ReadSettings(app *cmdutil.App, cmd *cobra.Command) ([]wire.Setting, error) {
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

// originUnknown is the origin of a setting that only the daemon knows.
const originUnknown = "unknown"

// settingsFromFiles reads the files of the system, the user and this project. A project is
// treated as untrusted: it can only be stricter then.
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
			s.Value, s.Default, s.Origin = json.RawMessage(`"unknown: the daemon isn't running"`), false, originUnknown
		}
		list = append(list, s)
	}
	return list, nil
}

// maxValue limits a value from standard input.
const maxValue = 64 << 10

// readValue returns what was typed; for a text, "-" means standard input.
func readValue(app *cmdutil.App, key config.Key, given string) (string, error) {
	if given != "-" || key.Type != config.Text {
		return given, nil
	}
	b, err := io.ReadAll(io.LimitReader(app.Stdin, maxValue))
	if err != nil {
		return "", err
	}
	if len(b) == maxValue {
		return "", cmdutil.UsageError("stdin is too long for a setting")
	}
	return strings.TrimSpace(string(b)), nil
}

func SetSetting(app *cmdutil.App, cmd *cobra.Command, key string, value json.RawMessage, project bool) error {
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
		if p.PIN, err = app.AskPIN("current PIN: ", err); err != nil {
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
		app.Say("written for this project; %s is already %s (%s)", key, cmdutil.PlainValue(s.Value),
			termsafe.Line(where, 200))
		return nil
	}
	app.Say("%s is now %s (%s)", key, cmdutil.PlainValue(s.Value), termsafe.Line(where, 200))
	return nil
}

// checkSettingName rejects a setting that doesn't exist, and one for an agent that
// doesn't, such as inbox.wait.cluade.
func checkSettingName(app *cmdutil.App, name string) error {
	if strings.TrimSpace(name) == "" {
		return cmdutil.UnknownName("setting", name, nil, "hookmux config list --all")
	}
	_, ok := config.Find(name)
	if !ok && isGroup(name) {
		return cmdutil.UsageError("%s is a group of settings; `hookmux config list %[1]s` lists them", name)
	}
	i := strings.LastIndexByte(name, '.')
	parent, known := config.Find(name[:max(i, 0)])
	switch forAgent := known && parent.PerName && parent.NameDoc == "agent"; {
	case !ok && !forAgent:
		return cmdutil.UsageError("%v", config.Unknown(name))
	case !forAgent:
		return nil
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	if _, ok := catalogue.Agent(name[i+1:]); ok {
		return nil
	}
	return cmdutil.UnknownAgent(catalogue, name[i+1:])
}

// settingFor returns the setting called name; for one agent, that of all agents if it has
// none of its own.
func settingFor(settings []wire.Setting, name string) (found wire.Setting) {
	parent := name[:max(strings.LastIndexByte(name, '.'), 0)]
	for _, s := range settings {
		if s.Key == name {
			return s
		}
		if s.Key == parent {
			found = s
			found.Key = name
		}
	}
	return found
}

// setArgs requires a key and a value, and knows what else is often written: KEY=VALUE, a key
// in two words, and a value in several.
func setArgs(cmd *cobra.Command, args []string) error {
	suggest := func(words ...string) error {
		return cmdutil.UsageError("a setting and its value are two words: `%s %s`", cmd.CommandPath(), cmdutil.QuoteWords(words))
	}
	known := func(name string) bool { _, ok := config.Find(name); return ok }
	if len(args) == 1 {
		if key, value, ok := strings.Cut(args[0], "="); ok && known(key) {
			return suggest(key, value)
		}
		if i := strings.LastIndexByte(args[0], '.'); i > 0 && !known(args[0]) && known(args[0][:i]) {
			return suggest(args[0][:i], args[0][i+1:])
		}
		if !known(args[0]) && args[0] != "" {
			return cmdutil.UsageError("%v", config.Unknown(args[0]))
		}
	}
	if len(args) > 2 {
		if !known(args[0]) && known(args[0]+"."+args[1]) {
			return suggest(args[0]+"."+args[1], strings.Join(args[2:], " "))
		}
		rest := args[1:]
		if rest[0] == "=" || rest[0] == "to" {
			rest = rest[1:]
		}
		switch key, _ := config.Find(args[0]); {
		case key.Type == config.List:
			return suggest(args[0], strings.Join(rest, ","))
		case key.Type == config.Span && config.SpanMeant(strings.Join(rest, " ")) != "":
			return suggest(args[0], config.SpanMeant(strings.Join(rest, " ")))
		case len(rest) == 1:
			return suggest(args[0], rest[0])
		}
	}
	if key, ok := config.Find(first(args)); ok && len(args) == 1 {
		return cmdutil.UsageError("%s needs a value, as in `%s %[1]s %[3]s`", args[0], cmd.CommandPath(), cmdutil.QuoteWords([]string{key.ExampleValue()}))
	}
	return cmdutil.ExactArgs("KEY", "VALUE")(cmd, args)
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// sayConfigProblems says what in your settings can't be read, and what applies instead.
func sayConfigProblems(app *cmdutil.App) {
	dirs, err := app.Dirs()
	if err != nil {
		return
	}
	j := evaluate.New(dirs, app.LiveSettings)
	for _, p := range j.Config.For(j.Registry.FindProject(app.Cwd()), false).Problems() {
		app.Say("%s", text.Wrap(app.Style().Warning(termsafe.Line(app.Shorten(p.String()), 400)), app.Columns(), 2))
	}
}
