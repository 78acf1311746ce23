// Package cmdutil holds what every hookmux command uses: the App (streams,
// environment, folders, the daemon), exit codes, checks of arguments, questions to
// the user.
package cmdutil

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// App is everything a run of the program touches, except for the daemon.
type App struct {
	Args    []string
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Table   proc.Table // who identifies callers, for the daemon's authority
	// Facts and Asker play the machine in tests: who is at which terminal, and what they
	// type. If nil, as in the program itself, this machine is used.
	Facts authority.Source
	Asker terminal.Asker
	// LiveSettings uses the user's files as they are, accepted or not: for tests of everything
	// else.
	LiveSettings bool
	// Given is what the system service gave to this process; nil without it.
	Given *keeper.Given
}

// Getenv reads a variable of the environment the program was started with.
func (app *App) Getenv(name string) string { return paths.GetenvLast(app.Environ)(name) }

// Dirs returns the folders and files hookmux uses.
func (app *App) Dirs() (paths.Dirs, error) { return paths.Find(app.Getenv) }

// Style has colours only on a terminal that wants them.
func (app *App) Style() text.Style {
	f, ok := app.Stdout.(*os.File)
	return text.Style{Color: ok && term.IsTerminal(int(f.Fd())) && app.Getenv("NO_COLOR") == "" &&
		app.Getenv("TERM") != "dumb", Width: app.Columns()}
}

// PrintJSON writes a value, indented.
func (app *App) PrintJSON(v any) error { return termsafe.WriteJSON(app.Stdout, v, true) }

// Say writes a line to stdout.
func (app *App) Say(format string, args ...any) {
	fmt.Fprintln(app.Stdout, fitLine(fmt.Sprintf(format, args...), app.Columns()))
}

// Shorten writes the user's home as ~ in a text for display.
func (app *App) Shorten(text string) string {
	dirs, err := app.Dirs()
	if err != nil {
		return text
	}
	return paths.Shorten(dirs.Home, text)
}

// Cwd returns the folder the program runs in; empty when it is gone.
func (app *App) Cwd() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// CatalogueProblems returns the agent descriptions of the user, or of a project, that don't
// load or aren't accepted yet.
func (app *App) CatalogueProblems() []agent.Problem {
	dirs, err := app.Dirs()
	if err != nil {
		return nil
	}
	store := app.accepted(dirs)
	_, problems := sources.LoadCatalogue(dirs, store, true)
	if store == nil {
		return problems
	}
	changes, _ := store.Pending()
	for _, c := range changes {
		if basis, _, _ := store.State(); basis != accepted.New && filepath.Dir(c.Path) == store.AgentsFolder() {
			problems = append(problems, agent.Problem{File: c.Path,
				Text: "isn't accepted yet; accept it with `hookmux config accept`"})
		}
	}
	return problems
}

// accepted returns what of the user's files was accepted; nil if they are used as they are.
func (app *App) accepted(dirs paths.Dirs) *accepted.Store {
	if app.LiveSettings {
		return nil
	}
	return sources.OpenAccepted(dirs, true)
}

// Catalogue returns the agents that hookmux knows, with those the user described.
func (app *App) Catalogue() (*agent.Catalogue, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	catalogue, _ := sources.LoadCatalogue(dirs, app.accepted(dirs), true) // the daemon reports problems
	return catalogue, nil
}

// InspectProjectAgent says which agent a project's file would add, or why it adds
// none.
func (app *App) InspectProjectAgent(file agent.File) (name string, wrong []agent.Problem, err error) {
	dirs, err := app.Dirs()
	if err != nil {
		return "", nil, err
	}
	name, wrong = sources.InspectProjectAgent(dirs, app.accepted(dirs), file)
	return name, wrong, nil
}
