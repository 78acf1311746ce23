// Package systemcmd implements `hookmux system`: the optional system service.
package systemcmd

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/keeper/setup"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// SystemCommand is `hookmux system`.
func SystemCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	show := func(*cobra.Command, []string) error { return showStatus(app, asJSON) }
	cmd := &cobra.Command{
		Use:   "system",
		Short: "Have the operating system keep what agents must not touch",
		Long: `The optional system service (Linux with systemd) keeps your accepted settings, rules,
permissions, PIN and keys where no program that runs as you can change or delete
them, and gives them only to a daemon that none of your programs can debug or replace.
Without a command, shows whether it's installed.`,
		Example: "  hookmux system status\n  sudo hookmux system install\n  sudo hookmux system uninstall",
		Args:    cmdutil.SubcommandArgs,
		RunE:    show,
	}
	status := &cobra.Command{
		Use: "status", Short: "Show whether the system service is installed and what it keeps", Args: cmdutil.ExactArgs(),
		Long: `Shows whether the system service is installed and running, and which promises the
operating system keeps then. Exits 1 if it's installed and doesn't answer.`,
		Example: "  hookmux system status --json",
		RunE:    show,
	}
	for _, c := range []*cobra.Command{cmd, status} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON: {installed, answers, daemon, repair}")
	}
	var in, out flags
	install := &cobra.Command{
		Use: "install", Short: "Install the system service", Args: cmdutil.ExactArgs(),
		Long: `Copies hookmux's programs to ` + paths.SystemFolder + `, creates the system user
` + paths.KeeperName + `, starts the service with systemd and moves what you accepted so far to
it. Other users of this machine start with hookmux's defaults. Run it again after an upgrade.`,
		Example: "  hookmux system install --dry-run\n  sudo hookmux system install",
		RunE:    func(*cobra.Command, []string) error { return run(app, &in, true) },
	}
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Remove the system service", Args: cmdutil.ExactArgs(),
		Long: `Moves every user's state back to their home and removes the service with its programs,
user and group. hookmux then works as without it.`,
		Example: "  hookmux system uninstall --dry-run\n  sudo hookmux system uninstall",
		RunE:    func(*cobra.Command, []string) error { return run(app, &out, false) },
	}
	for c, f := range map[*cobra.Command]*flags{install: &in, uninstall: &out} {
		c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change without changing it")
		c.Flags().BoolVarP(&f.yes, "yes", "y", false, "don't ask")
	}
	move := &cobra.Command{
		Use: "move in|link|out", Short: "Move state, for install and uninstall", Hidden: true, Args: cobra.ExactArgs(1),
		Example: "  hookmux system move in",
		RunE:    func(_ *cobra.Command, args []string) error { return setup.Move(args[0], setup.Folder) },
	}
	cmd.AddCommand(status, install, uninstall, move)
	return cmd
}

type flags struct{ dryRun, yes bool }

func run(app *cmdutil.App, f *flags, install bool) error {
	if err := setup.Check(); err != nil {
		return err
	}
	if !f.dryRun && os.Geteuid() != 0 {
		return errors.New("only root can do that; run it with sudo")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s := &setup.Setup{Programs: filepath.Dir(self)}
	plan, question, done := s.Uninstall, "Remove the system service?", "the system service is removed"
	if install {
		plan, question, done = s.Install, "Install the system service?", "the system service keeps your state now; "+
			"`hookmux system status` shows it"
		if s.Programs == paths.SystemFolder {
			return errors.New("these are the service's own programs; run the hookmux of your package")
		}
		uid, err := strconv.Atoi(app.Getenv("SUDO_UID"))
		if err != nil {
			uid = os.Getuid() // who looks at what would change
		}
		if uid > 0 && !setup.Installed() {
			s.User = uid
		}
	} else if !setup.Installed() {
		if _, err := os.Stat(paths.SystemFolder); err != nil {
			app.Say("the system service isn't installed")
			return nil
		}
	}
	steps, err := plan()
	if err != nil {
		return err
	}
	app.Say("This will:")
	for _, step := range steps {
		app.Say("  %s", step.Text)
	}
	if f.dryRun {
		return nil
	}
	if err := app.Confirm(question, f.yes); err != nil {
		return err
	}
	if err := setup.Run(steps); err != nil {
		return errors.New(err.Error() + "; `sudo hookmux system uninstall` removes what is there")
	}
	app.Say("%s", done)
	return nil
}

// status is the output of --json.
type status struct {
	Installed bool   `json:"installed"`
	Answers   bool   `json:"answers"`
	Daemon    int    `json:"daemon,omitempty"` // your daemon's process
	Repair    string `json:"repair,omitempty"`
}

func readStatus() status {
	s := status{Installed: setup.Installed()}
	if !s.Installed {
		return s
	}
	_, reply, err := keeper.Send(paths.KeeperSocket, keeper.Ask)
	if s.Answers = err == nil; !s.Answers {
		s.Repair = paths.Repair
	}
	s.Daemon = int(reply.PID)
	return s
}

func showStatus(app *cmdutil.App, asJSON bool) error {
	s := readStatus()
	var failed error
	if s.Installed && !s.Answers {
		failed = cmdutil.Exit(cmdutil.ExitFailed)
	}
	if asJSON {
		return errors.Join(app.PrintJSON(s), failed)
	}
	for _, line := range Lines(s.Installed, s.Answers) {
		app.Say("%s", line)
	}
	if s.Daemon != 0 {
		app.Say("your daemon is process %d", s.Daemon)
	}
	return failed
}

// Summary is Lines in one line for `hookmux status`; "" without the service.
func Summary() string {
	s := readStatus()
	switch {
	case !s.Installed:
		return ""
	case !s.Answers:
		return "the system service doesn't answer; run: " + paths.Repair
	}
	return "the operating system keeps what you accepted, your keys and the daemon; the rest hookmux keeps itself"
}

// Lines says which promises the operating system keeps, and which hookmux keeps itself.
func Lines(installed, answers bool) []string {
	switch {
	case !installed:
		return []string{"the system service isn't installed: hookmux keeps all its promises itself, as far as a program " +
			"that runs as you lets it", "install it with: sudo hookmux system install"}
	case !answers:
		return []string{"the system service is installed and doesn't answer: hookmux asks about or denies what guards look at",
			"repair it with: " + paths.Repair}
	}
	return []string{
		"the system service is installed and answers",
		"the operating system keeps: what you accepted, permissions, PIN and keys; who answers hooks; the daemon's memory",
		"hookmux keeps itself: which agents run with hooks, what a terminal proves, what a command line means",
	}
}
