//go:build unix

package cli

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/statefiles"
)

// seenStateFiles are the rows of the list of which a script left a file.
var seenStateFiles sync.Map

// foreignFilesInScripts are files that scripts themselves put among hookmux's own.
var foreignFilesInScripts = regexp.MustCompile(`/tmux-\d+/default$`) // a tmux of the script

// checkStateFiles wants every file that a script's daemon and commands left to be in
// the list of state files.
func checkStateFiles(dirs paths.Dirs) error {
	var unknown []string
	for _, f := range statefiles.ListFiles(dirs) {
		switch {
		case f.File != nil:
			seenStateFiles.Store(f.File, true)
		case !foreignFilesInScripts.MatchString(f.Path):
			unknown = append(unknown, string(f.Place)+": "+f.Path)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("files that are not in the list of internal/platform/statefiles:\n%s",
			strings.Join(unknown, "\n"))
	}
	return nil
}

// unseenByScripts are rows of which scripts need not leave a file behind, with the
// reason.
var unseenByScripts = map[string]string{
	"state:intake/intake-*.log":    "gone once its events are in the journal",
	"state:spool/*.rec":            "gone once a daemon took it in",
	"state:aside/*.rec":            "a daemon has to die over an event twice; lab/e2e does",
	"state:journal.db-*":           "gone after a clean stop",
	"state:resume/*":               "the script forgets its session at the end",
	"state:runs.json":              "gone with the agent that was started",
	"state:told-run-*":             "the script's agents need no trust",
	"state:pin.json":               "the script drops its PIN at the end",
	"state:audit/heads.jsonl":      "from the second day on; internal/audit tests it",
	"state:audit.broken-*/**":      "something has to change the trail; internal/audit tests it",
	"state:decisions.old.jsonl":    "after 8 MB of decisions",
	"state:trusted-terminals.json": "the scripts trust no terminal by hand",
	"state:web.json":               "internal/daemon tests it",
	"state:web-devices.json":       "internal/daemon tests it",
	"state:web-push.json":          "internal/daemon tests it",
	"state:remotes.json":           "internal/fleet/remote tests it, over a real sshd",
	"state:remote-log.db*":         "internal/fleet/remote tests it",
	"state:remote-log.json":        "internal/fleet/remote tests it",
	"state:fleet.json":             "TestFleetOfThree has it; it isn't a script",
	"state:fleet-policy.json":      "TestFleetOfThree has it; it isn't a script",
	"state:fleet-server/**":        "TestFleetOfThree has it; it isn't a script",
	"state:off.json":               "gone with hookmux on",
	"state:set-aside/*":            "internal/install tests it",
	"state:waiting.json":           "gone once no request waits",
	"state:installation":           "only in the home that the password database names",
	"state:places":                 "only where folders are not the default ones and the runtime folder was not chosen",
	"state:spool/.tmp-*":           "there for a moment",
	"state:.sessions.log-*":        "there for a moment",
	"data:container/*":             "TestContainerReports has it; it isn't a script",
	"data:tmux.conf":               "the script takes it out at the end, and needs a terminal",
	"runtime:daemon.sock":          "gone with the daemon",
	"runtime:daemon.alive":         "gone after a clean stop",
	"runtime:*.held-by-*":          "another process has to hold the daemon's lock",
	"runtime:deaths":               "only after a daemon died",
	"runtime:places":               "only where folders are not the default ones",
	"runtime:watchers.json":        "gone once the next daemon read it",
	"runtime:attempt":              "gone once events were taken in",
	"any:**/*.bad-*":               "something has to stand in the place of a file",
	"any:**/.new-*":                "there for a moment",
	"any:**/.*.tmp":                "there for a moment",
}

// wantStateFilesSeen wants the scripts, all together, to have used every file of
// the list.
func wantStateFilesSeen(t *testing.T) {
	if run := flag.Lookup("test.run"); t.Failed() || run != nil && strings.Contains(run.Value.String(), "/") {
		return // not all of them ran
	}
	for i := range statefiles.All {
		f := &statefiles.All[i]
		_, seen := seenStateFiles.Load(f)
		if reason := unseenByScripts[string(f.Place)+":"+f.Pattern]; !seen && reason == "" {
			t.Errorf("no script left %s in the %s folder: use it in one, or give the reason here", f.Pattern, f.Place)
		}
	}
}
