package agents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/version/upgrades"
)

// shownChanges is how many changes the doctor names after an upgrade.
const shownChanges = 6

// upgradeFindings adds what changed in an upgrade: the versions, what is new, and whose
// hooks a new version would write differently.
func upgradeFindings(h *install.Host, findings []install.Finding, now time.Time) []install.Finding {
	r, ok := upgrades.Read(h.Dirs.State)
	if !ok || !r.IsNews(now) {
		return nil
	}
	before := r.Before
	if before == "" {
		before = "an earlier version"
	}
	var out []install.Finding
	add := func(what, fix string) {
		out = append(out, install.Finding{Agent: "hookmux", Check: "upgrade", Level: install.Note, What: what,
			Fix: fix})
	}
	add(fmt.Sprintf("upgraded from %s to %s on %s", before, r.Version, r.Since.Local().Format("2 Jan 2006, 15:04")), "")
	if titles := upgrades.Changes(hookmux.Changelog, r); len(titles) > 0 {
		newest := titles[max(0, len(titles)-shownChanges):]
		what := "new: " + strings.Join(newest, "; ")
		if more := len(titles) - len(newest); more > 0 {
			what += fmt.Sprintf("; and %d more in CHANGELOG.md", more)
		}
		add(what, "")
	}
	var again []string
	for _, f := range findings {
		if f.WritesOtherwise() && !slices.Contains(again, f.Agent) {
			again = append(again, f.Agent)
		}
	}
	if len(again) > 0 {
		add("this version writes other hooks for "+strings.Join(again, ", ")+"; those that are there go on working",
			"hookmux install "+strings.Join(again, " "))
	}
	return out
}
