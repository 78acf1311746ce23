package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// world is everything a run of the program touches besides the hub.
type world struct {
	args    []string
	environ []string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	table   proc.Table // who is who, for the hub's authority
}

func (w *world) getenv(name string) string {
	for i := len(w.environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(w.environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Exit codes. 2 is never used: agents read it as "block".
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 64 // wrong arguments
	exitNoHub  = 69
	exitDenied = 77 // refused because of who asked
)

// codeError ends the program with a code of its own; an empty message was
// said already.
type codeError struct {
	code int
	msg  string
}

func (e *codeError) Error() string { return e.msg }

func usage(format string, args ...any) error {
	return &codeError{exitUsage, fmt.Sprintf(format, args...)}
}

func run(w *world) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	w.refreshShim()
	root := newRoot(w)
	root.SetArgs(w.args)
	root.SetIn(w.stdin)
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitError
	var own *codeError
	var refused *client.RefusedError
	var answer *wire.Error
	switch {
	case errors.As(err, &own):
		code = own.code
	case errors.As(err, &refused):
		code = exitDenied
	case errors.As(err, &answer) && answer.Code == wire.CodeParams:
		code = exitUsage
	case errors.Is(err, client.ErrNoHub):
		code = exitNoHub
	}
	if msg := err.Error(); msg != "" {
		fmt.Fprintln(w.stderr, "hookmux: "+termsafe.Text(msg))
	}
	return code
}

func newRoot(w *world) *cobra.Command {
	var root *cobra.Command
	root = &cobra.Command{
		Use:   "hookmux",
		Short: "One hook layer for every coding agent",
		Long: `hookmux is one hook layer for every coding agent: it turns what each agent's
hooks report into one event, lets your hooks and guards decide, and answers in
the agent's own words.`,
		Example: `  hookmux run claude            # Claude Code with hooks for this launch, no file edited
  hookmux watch                 # events of all agents as they happen
  hookmux guard on destructive  # stop rm -rf ~ and its friends on every agent`,
		Version:       version.String,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(root, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("hookmux {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v; see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(
		w.runCommand(), w.watchCommand(), w.logCommand(), w.explainCommand(), w.statusCommand(),
		w.offCommand(), w.onCommand(), w.configCommand(), w.hooksCommand(), w.guardCommand(),
		w.trustCommand(), w.untrustCommand(), w.statsCommand(), w.verifyCommand(), w.hubCommand(),
		w.installCommand(), w.uninstallCommand(), w.doctorCommand(), w.shellInitCommand(), w.manCommand(), w.tmuxCommand(),
		w.psCommand(), w.showCommand(), w.jumpCommand(), w.renameCommand(), w.resumeCommand(), w.forgetCommand(), w.sendCommand(),
		w.feedCommand(), w.approveCommand(), w.denyCommand(), w.answerCommand(), w.planCommand(), w.releaseCommand(),
		w.allowCommand(), w.awayCommand(), w.backCommand(), w.moduleCommand(),
	)
	w.complete(root)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: "Help about a command", Example: "  hookmux help guard allow",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && cmd.HasSubCommands() {
				return noCommand(cmd, rest[0])
			}
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	})
	return root
}

// noCommand names what was probably meant.
func noCommand(parent *cobra.Command, name string) error {
	parent.SuggestionsMinimumDistance = 2
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		return usage("there is no command %q; did you mean %q?", name, near[0])
	}
	return usage("there is no command %q; `%s --help` lists them", name, parent.CommandPath())
}

// group is for a command whose first argument must be a subcommand.
func group(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return noCommand(cmd, args[0])
	}
	return nil
}

// exactly makes a wrong number of arguments a usage error that names them.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usage("%s is missing; see `%s --help`", strings.Join(names[len(args):], " and "), cmd.CommandPath())
		}
		if len(args) > len(names) {
			return usage("%q is too much; see `%s --help`", args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

func (w *world) dirs() (paths.Dirs, error) { return paths.Find(w.getenv) }

// hub gives a client of a running hub, starting one when there is none.
func (w *world) hub(ctx context.Context) (*client.Client, error) {
	dirs, err := w.dirs()
	if err != nil {
		return nil, err
	}
	c := &client.Client{Socket: dirs.Socket()}
	if _, err := c.Info(ctx); err == nil {
		return c, nil
	} else if !errors.Is(err, client.ErrNoHub) && !hungUp(err) {
		return nil, err
	}
	if err := w.startHub(ctx, dirs, c); err != nil {
		return nil, err
	}
	return c, nil
}

// hungUp: the hub that took the call died or stopped over it; the next one is
// asked.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (w *world) startHub(ctx context.Context, dirs paths.Dirs, c *client.Client) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	until := time.Now().Add(10 * time.Second)
	err = hubstart.Ensure(dirs, program, hubstart.Options{Env: w.environ}, until, func() error {
		_, err := c.Info(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("the hub does not start: %w; its log is %s", err, dirs.Log())
	}
	return nil
}

// running gives a client only if a hub runs already.
func (w *world) running() (*client.Client, error) {
	dirs, err := w.dirs()
	if err != nil {
		return nil, err
	}
	return &client.Client{Socket: dirs.Socket()}, nil
}

// style has colours only on a terminal that wants them.
func (w *world) style() text.Style {
	f, ok := w.stdout.(*os.File)
	return text.Style{Color: ok && term.IsTerminal(int(f.Fd())) && w.getenv("NO_COLOR") == "" && w.getenv("TERM") != "dumb"}
}

func (w *world) printJSON(v any) error {
	enc := json.NewEncoder(w.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (w *world) say(format string, args ...any) { fmt.Fprintf(w.stdout, format+"\n", args...) }
func (w *world) cwd() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
