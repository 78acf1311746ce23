package agents

import (
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/statusline"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// StatusLineFiles returns the settings in which agents that pass their limits to their
// status line name it.
func StatusLineFiles(app *cmdutil.App, list []*agent.Agent) []string {
	dirs, err := app.Dirs()
	if err != nil {
		return nil
	}
	var files []string
	for _, a := range list {
		if a.Usage == nil || a.Usage.StatusLine == "" {
			continue
		}
		folder := filepath.Join(dirs.Home, filepath.Dir(a.Usage.StatusLine))
		for _, f := range a.Usage.Folders {
			if dir := app.Getenv(f.Env); f.Env != "" && filepath.IsAbs(dir) && !strings.Contains(dir, ",") {
				folder = dir
			}
		}
		files = append(files, filepath.Join(folder, filepath.Base(a.Usage.StatusLine)))
	}
	return files
}

// ShowAndWrite shows what would change, asks, and writes it; with --yes it only names the
// files. It reports whether it wrote.
func ShowAndWrite(app *cmdutil.App, steps []install.Step, notes []string, f *InstallFlags, question string) (bool, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return false, err
	}
	if f.Yes && !f.DryRun {
		for _, s := range steps {
			if s.Op == install.OpWrite {
				app.Say("changes %s", termsafe.Text(paths.Shorten(dirs.Home, s.Path)))
			}
		}
	} else if err := install.RunSteps(steps, &install.Diff{Out: app.Stdout, Color: app.Style().Color, Home: dirs.Home, Full: true}); err != nil {
		return false, err
	}
	for _, n := range notes {
		app.Say("note: %s", termsafe.Text(n))
	}
	if f.DryRun {
		app.Say("dry run, nothing written; %s", CountFiles((&install.Plan{Steps: steps}).Files()))
		return false, nil
	}
	if len(steps) > 0 {
		if err := ConfirmPlan(app, &install.Plan{}, f, question, false); err != nil {
			return false, err
		}
	}
	return true, install.RunSteps(steps, &install.Disk{})
}

// dropStatusLines removes hookmux from the status lines of agents whose hooks were removed:
// without hookmux they'd show nothing.
func dropStatusLines(app *cmdutil.App, home string, list []*agent.Agent) error {
	for _, path := range StatusLineFiles(app, list) {
		if text, err := userfile.ReadFile(path, userfile.MaxFile); err != nil || !statusline.Has(text) {
			continue
		}
		if err := userfile.WriteFile(path, func(old []byte) ([]byte, error) {
			back, _, err := statusline.Remove(old)
			return back, err
		}); err != nil {
			return err
		}
		app.Say("status line: removed from %s", termsafe.Text(paths.Shorten(home, path)))
	}
	return nil
}
