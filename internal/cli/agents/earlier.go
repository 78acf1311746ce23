package agents

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// cleanEarlier replaces or removes what a build before the first release left; with all,
// nothing of it stays.
func cleanEarlier(app *cmdutil.App, dirs paths.Dirs, all bool) error {
	found := install.FindLeftovers(dirs)
	if all {
		found = append(found, install.FindTakenOver(dirs)...)
	}
	if all || len(found) > 0 {
		daemonstart.EndEarlier(dirs) // an agent's hook may have started it again; its socket goes next
	}
	if len(found) == 0 {
		return nil
	}
	if err := install.CleanLeftovers(found, all); err != nil {
		return err
	}
	app.PrintNotes([]string{"cleaned up after an earlier build: " + strings.Join(leftoverPaths(dirs, found), ", ") + lostText(found)})
	return nil
}

// earlierFindings lists what an earlier build left, for the doctor.
func earlierFindings(dirs paths.Dirs) []install.Finding {
	found := install.FindLeftovers(dirs)
	if len(found) == 0 {
		return nil
	}
	return []install.Finding{{Agent: "hookmux", Check: "earlier", Level: install.Note,
		What: "files from a build before the first release: " + strings.Join(leftoverPaths(dirs, found), ", ") + lostText(found),
		Fix:  "hookmux doctor --fix"}}
}

func leftoverPaths(dirs paths.Dirs, found []install.Leftover) []string {
	var list []string
	for _, one := range found {
		if filepath.Base(one.Path) == "accepted.once" {
			continue // hookmux's own: it replaces what goes
		}
		list = append(list, paths.Shorten(dirs.Home, one.Path))
	}
	return list
}

// lostText names what can't be taken over.
func lostText(found []install.Leftover) string {
	var lost []string
	for _, one := range found {
		if one.Lost != "" && !slices.Contains(lost, one.Lost) {
			lost = append(lost, one.Lost)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return " (not taken over: " + strings.Join(lost, ", ") + ")"
}
