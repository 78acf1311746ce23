package hookcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/selection/trust"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire"
)

// tsHookName keeps a name a file name on every system.
var tsHookName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func hookNewCommand(app *cmdutil.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a TypeScript hook to start from",
		Long: `Writes NAME.ts, plus hookmux.d.ts (types) and tsconfig.json for your editor. It needs no
build step and no Node. The hook runs in every agent and only logs what it would have
done until you turn it on with ` + "`hookmux hooks on NAME`" + `. Existing files aren't
overwritten, except for an older hookmux.d.ts.`,
		Example: "  hookmux hooks new gate\n  hookmux hooks new gate --dir .hookmux/hooks   # for this project",
		Args:    cmdutil.ExactArgs("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if ext := filepath.Ext(name); ext == ".ts" || ext == ".js" {
				name = name[:len(name)-len(ext)]
			}
			if !tsHookName.MatchString(name) {
				return cmdutil.UsageError("%q can't be a file name; use letters, digits, - and _", args[0])
			}
			if dir == "" {
				dirs, err := app.Dirs()
				if err != nil {
					return err
				}
				dir = filepath.Join(dirs.Config, "hooks")
			}
			return newHook(cmd.Context(), app, dir, name)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to (default ~/.config/hookmux/hooks)")
	return cmd
}

func newHook(ctx context.Context, app *cmdutil.App, dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.Join(dir, name+".ts"))
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s already exists; choose another name", file)
	}
	begin, err := beginLogging(ctx, app, file) // before it is there, so that it never decides before that
	if err != nil {
		return err
	}
	if err := writeNew(file, tshook.Starter(name)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s already exists; choose another name", file)
		}
		return err
	}
	if err := writeNew(filepath.Join(dir, "tsconfig.json"), tshook.EditorConfig()); err != nil &&
		!errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "hookmux.d.ts"), []byte(tshook.Types()), 0o644); err != nil {
		return err
	}
	app.Say("wrote %s", termsafe.Line(app.Shorten(file), 300))
	if err := acceptWritten(ctx, app, file, tshook.Starter(name)); err != nil {
		app.Say("it isn't accepted yet (%s); accept it with `hookmux config accept`", termsafe.Line(err.Error(), 300))
	}
	tested := name
	if begin == startElsewhere {
		tested = termsafe.Line(app.Shorten(file), 300)
	}
	sayHowItRuns(app, begin, file)
	app.Say("try it: hookmux hooks test %s --event tool_call --agent claude --input '{\"command\":\"ls\"}'", tested)
	if begin == startLogging {
		app.Say("turn it on: hookmux hooks on %s", name)
	}
	return nil
}

// start says how a new hook begins.
type start int

const (
	startElsewhere start = iota // it is in no folder of hooks
	startLogging
)

// beginLogging makes a hook that is about to be written only log. If that's denied, it
// isn't written: it would block from the start.
func beginLogging(ctx context.Context, app *cmdutil.App, file string) (start, error) {
	dirs, err := app.Dirs()
	inProject := strings.HasSuffix(filepath.ToSlash(filepath.Dir(file)), "/"+trust.TSHookDir)
	if err != nil || filepath.Dir(file) != filepath.Join(dirs.Config, "hooks") && !inProject {
		return startElsewhere, nil
	}
	err = app.CallDaemon(ctx, wire.MethodAcceptFile, wire.AcceptFileParams{File: file, LogOnly: true}, nil)
	return startLogging, err
}

func sayHowItRuns(app *cmdutil.App, begin start, file string) {
	switch begin {
	case startLogging:
		app.Say("for now it only logs what it would have done; `hookmux log --log-only` shows that")
	case startElsewhere:
		app.Say(
			"it isn't in a hooks folder, so it doesn't run yet; add it with `hookmux hooks add '*' "+
				"--handler typescript --log --target %s`",
			termsafe.Line(file, 200),
		)
	}
}

// acceptWritten accepts a file that was just written into the user's folder
// of hooks.
func acceptWritten(ctx context.Context, app *cmdutil.App, file, content string) error {
	dirs, err := app.Dirs()
	if err != nil || app.LiveSettings || filepath.Dir(file) != filepath.Join(dirs.Config, "hooks") {
		return err
	}
	return app.CallDaemon(ctx, wire.MethodAcceptFile, wire.AcceptFileParams{File: file, Content: content}, nil)
}

func writeNew(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
