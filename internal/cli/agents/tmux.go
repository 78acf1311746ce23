package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/programcopy"
	"github.com/hookmux/hookmux/internal/install/steps"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/tmux"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// TmuxCommand is `hookmux tmux`.
func TmuxCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tmux",
		Short: "Show agents in tmux: icons, window names, keys",
		Long: `Has tmux show what the agent in each window does: a sign behind the window's name,
the session's title as its name, a key that goes to the agent that has waited
longest, and one that opens the list of all in a popup.`,
		Example: "  hookmux tmux install\n  hookmux tmux status\n  hookmux tmux uninstall",
		Args:    cmdutil.SubcommandArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(tmuxInstallCommand(app), tmuxUninstallCommand(app), tmuxStatusCommand(app))
	return cmd
}

func tmuxInstallCommand(app *cmdutil.App) *cobra.Command {
	var f installFlags
	keys := tmux.DefaultKeys
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Add hookmux to your tmux.conf and to the running tmux",
		Long: `Adds one line to the end of your tmux.conf, which reads a file of hookmux's own, and
has a running tmux read it at once. What changes is shown first. Windows whose name
you chose keep it; the others get theirs back when the agent is gone. A key that is
bound to something else already is left alone.`,
		Example: "  hookmux tmux install\n  hookmux tmux install --dry-run\n  hookmux tmux install --jump-key C-n " +
			"--popup-key none",
		Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return tmuxInstall(cmd.Context(), app, &f, keys) },
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&keys.Jump, "jump-key", keys.Jump,
		"key behind the prefix for hookmux jump --next; none for none")
	cmd.Flags().StringVar(&keys.Popup, "popup-key", keys.Popup, "key behind the prefix for the popup; none for none")
	return cmd
}

func tmuxUninstallCommand(app *cmdutil.App) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take hookmux out of your tmux.conf and of the running tmux",
		Long: `Takes out exactly what install put in: your tmux.conf gets back its old bytes, a
running tmux its formats, keys and window names.`,
		Example: "  hookmux tmux uninstall\n  hookmux tmux uninstall --dry-run",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return tmuxUninstall(cmd.Context(), app, &f) },
	}
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

func tmuxStatusCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Is hookmux in your tmux.conf and in the running tmux?",
		Long:    "Shows where hookmux is in tmux's settings. Exit code 1 where it is not installed.",
		Example: "  hookmux tmux status --json",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return tmuxStatus(cmd.Context(), app, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: {conf, own, current, running, icons, follow}")
	return cmd
}

// mayChangeTmux: settings of a person's tmux are none of an agent's business.
func mayChangeTmux(ctx context.Context, app *cmdutil.App, f *installFlags) error {
	if f.dryRun {
		return nil
	}
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	return personOnly(ctx, app, c, wire.MethodTmux, false)
}

// readConf gives nil for a file that is not there.
func readConf(path string) ([]byte, error) {
	text, err := userfile.ReadFile(path, userfile.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

func tmuxInstall(ctx context.Context, app *cmdutil.App, f *installFlags, keys tmux.Keys) error {
	for _, key := range []*string{&keys.Jump, &keys.Popup} {
		if *key == "none" {
			*key = ""
		} else if !tmux.ValidKey(*key) {
			return cmdutil.UsageError("%q is not a key; write one as tmux does: N, C-n, M-x, F5", *key)
		}
	}
	if keys.Jump != "" && keys.Jump == keys.Popup {
		return cmdutil.UsageError("--jump-key and --popup-key are both %s", keys.Jump)
	}
	if err := mayChangeTmux(ctx, app, f); err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	server := tmux.FromEnv(app.Getenv)
	if !server.Available() {
		return tmux.ErrNoTmux
	}
	conf := tmux.ConfPath(dirs.Home, app.Getenv)
	text, err := readConf(conf)
	if err != nil {
		return err
	}
	running := server.Running(ctx)
	notes := freeKeys(ctx, server, running, text, &keys)
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program = programcopy.Stable(dirs, program)
	major, minor := server.Version(ctx)
	own := tmux.OwnConf(dirs.Data)
	changes, err := tmuxSteps(own, tmux.Conf(onPathName(program, app.Getenv("PATH")), keys, major, minor), conf, text)
	if err != nil {
		return err
	}
	done, err := tmuxCarry(app, dirs, changes, notes, f, "Write this?")
	if err != nil || !done {
		return err
	}
	if running {
		if err := server.Load(ctx, own); err != nil {
			return err
		}
	}
	if err := setFollow(ctx, app, json.RawMessage(`"on"`)); err != nil {
		app.Say("note: %s is not on: %s", config.TmuxFollow, termsafe.Line(err.Error(), 200))
	}
	where := "tmux shows agents when it is started"
	if running {
		where = "tmux shows agents now"
	}
	app.Say("%s; undo: hookmux tmux uninstall", where)
	return nil
}

// onPathName prefers the name under which a program stands on PATH to where that
// leads: package managers keep the first and move the second.
func onPathName(program, path string) string {
	is, err := os.Stat(program)
	if err != nil {
		return program
	}
	for _, dir := range filepath.SplitList(path) {
		named := filepath.Join(dir, filepath.Base(program))
		if other, err := os.Stat(named); filepath.IsAbs(dir) && err == nil && os.SameFile(is, other) {
			return named
		}
	}
	return program
}

// freeKeys leaves out keys that mean something else to the person.
func freeKeys(ctx context.Context, server *tmux.Server, running bool, text []byte, keys *tmux.Keys) (notes []string) {
	taken := tmux.Bound(text, *keys)
	if running {
		if more, err := server.Taken(ctx, *keys); err == nil {
			taken = append(taken, more...)
		}
	}
	for flag, key := range map[string]*string{"--jump-key": &keys.Jump, "--popup-key": &keys.Popup} {
		for _, t := range taken {
			if *key == t && t != "" {
				notes = append(notes, "the key "+t+" is bound to something else and stays so; choose another with "+
					flag)
				*key = ""
			}
		}
	}
	return notes
}

// tmuxSteps are what an installation does to files: our own first, so that the
// line never reads what is not there.
func tmuxSteps(own string, ownText []byte, conf string, text []byte) ([]steps.Step, error) {
	was, err := readConf(own)
	if err != nil {
		return nil, err
	}
	var changes []steps.Step
	if !bytes.Equal(was, ownText) {
		changes = append(changes, steps.Step{Op: steps.OpWrite, Path: own, Old: was, New: ownText})
	}
	if now := tmux.AddLine(text, own); !bytes.Equal(now, text) {
		changes = append(changes, steps.Step{Op: steps.OpWrite, Path: conf, Old: text, New: now})
	}
	return changes, nil
}

// tmuxCarry shows steps, asks and does them.
func tmuxCarry(app *cmdutil.App, dirs paths.Dirs, changes []steps.Step, notes []string, f *installFlags,
	question string) (bool, error) {
	if err := steps.Run(changes, &steps.Diff{Out: app.Stdout, Color: app.Style().Color, Home: dirs.Home,
		Full: true}); err != nil {
		return false, err
	}
	for _, n := range notes {
		app.Say("note: %s", termsafe.Text(n))
	}
	if f.dryRun {
		app.Say("nothing was written (--dry-run); %s", countFiles(len(changes)))
		return false, nil
	}
	if len(changes) > 0 {
		if err := confirmPlan(app, &install.Plan{}, f, question, false); err != nil {
			return false, err
		}
	}
	return true, steps.Run(changes, &steps.Disk{})
}

func tmuxUninstall(ctx context.Context, app *cmdutil.App, f *installFlags) error {
	if err := mayChangeTmux(ctx, app, f); err != nil {
		return err
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	var changes []steps.Step
	for _, path := range tmux.ConfPaths(dirs.Home, app.Getenv) {
		text, err := readConf(path)
		if err != nil {
			return err
		}
		rest, gone, found := tmux.DropLine(text)
		switch {
		case gone:
			changes = append(changes, steps.Step{Op: steps.OpDelete, Path: path, Old: text})
		case found:
			changes = append(changes, steps.Step{Op: steps.OpWrite, Path: path, Old: text, New: rest})
		}
	}
	own := tmux.OwnConf(dirs.Data)
	if text, err := readConf(own); err != nil {
		return err
	} else if text != nil {
		changes = append(changes, steps.Step{Op: steps.OpDelete, Path: own, Old: text})
	}
	server := tmux.FromEnv(app.Getenv)
	running := server.Running(ctx)
	if len(changes) == 0 && !(running && server.ShowsIcons(ctx)) {
		app.Say("there was nothing of hookmux to take out")
		return nil
	}
	done, err := tmuxCarry(app, dirs, changes, nil, f, "Take this out?")
	if err != nil || !done {
		return err
	}
	// The hub stops naming windows before their names are given back.
	if err := setFollow(ctx, app, nil); err != nil {
		app.Say("note: %s stays as it is: %s", config.TmuxFollow, termsafe.Line(err.Error(), 200))
	}
	if running {
		if err := server.Unload(ctx); err != nil && !errors.Is(err, tmux.ErrNoServer) {
			return err
		}
	}
	app.Say("hookmux is out of tmux")
	return nil
}

// setFollow has the hub keep icons and names current, or not; nil is what holds
// without a setting.
func setFollow(ctx context.Context, app *cmdutil.App, value json.RawMessage) error {
	c, err := app.ConnectHub(ctx)
	if err != nil {
		return err
	}
	return c.Call(ctx, wire.MethodConfigSet, wire.ConfigSetParams{Key: config.TmuxFollow, Value: value}, nil)
}

// tmuxState is what `tmux status` says.
type tmuxState struct {
	Conf    string `json:"conf"`    // the file with our line; "" for none
	Own     string `json:"own"`     // the file it reads
	Current bool   `json:"current"` // the line reads that file, and the file is there
	Running bool   `json:"running"` // a tmux server answers
	Icons   bool   `json:"icons"`   // and shows icons
	Follow  string `json:"follow"`  // the setting tmux.follow; "" when it cannot be known
}

func tmuxStatus(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	server := tmux.FromEnv(app.Getenv)
	state := tmuxState{Own: tmux.OwnConf(dirs.Data), Running: server.Running(ctx)}
	for _, path := range tmux.ConfPaths(dirs.Home, app.Getenv) {
		text, err := readConf(path)
		if err != nil {
			return err
		}
		if tmux.HasLine(text) {
			own, _ := readConf(state.Own)
			state.Conf, state.Current = path, own != nil && bytes.Equal(tmux.AddLine(text, state.Own), text)
		}
	}
	state.Icons = state.Running && server.ShowsIcons(ctx)
	if c, err := app.RunningHub(); err == nil {
		var settings []wire.Setting
		if c.Call(ctx, wire.MethodConfigGet, wire.ConfigListParams{}, &settings) == nil {
			for _, s := range settings {
				if s.Key == config.TmuxFollow {
					state.Follow = cmdutil.PlainValue(s.Value)
				}
			}
		}
	}
	if asJSON {
		err = app.PrintJSON(state)
	} else {
		sayTmux(app, server, dirs, &state)
	}
	if err == nil && !state.Current {
		return cmdutil.Exit(cmdutil.ExitFailed)
	}
	return err
}

func sayTmux(app *cmdutil.App, server *tmux.Server, dirs paths.Dirs, s *tmuxState) {
	short := func(path string) string { return termsafe.Text(paths.Shorten(dirs.Home, path)) }
	switch {
	case s.Conf == "":
		app.Say("not installed; `hookmux tmux install` does it")
	case !s.Current:
		app.Say("%s: reads a file that is not here; `hookmux tmux install` fixes it", short(s.Conf))
	default:
		app.Say("%s: reads %s", short(s.Conf), short(s.Own))
	}
	switch {
	case !server.Available():
		app.Say("%s", tmux.ErrNoTmux)
	case !s.Running:
		app.Say("tmux is not running")
	case s.Icons:
		app.Say("the running tmux shows icons")
	default:
		app.Say("the running tmux does not show icons; a theme that sets window-status-format later hides them")
	}
	if s.Follow != "" && strings.TrimSpace(s.Follow) != "on" && s.Current {
		app.Say("%s is %s: icons and names stay empty; `hookmux config set %s on`", config.TmuxFollow, s.Follow,
			config.TmuxFollow)
	}
}
