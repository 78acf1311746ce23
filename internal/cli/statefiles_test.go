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

// strangersInScripts are files that scripts themselves put among hookmux's own.
var strangersInScripts = regexp.MustCompile(`/tmux-\d+/default$`) // a tmux of the script

// checkStateFiles wants every file that a script's hub and commands left to be in
// the list of state files.
func checkStateFiles(dirs paths.Dirs) error {
	var unknown []string
	for _, f := range statefiles.Look(dirs) {
		switch {
		case f.File != nil:
			seenStateFiles.Store(f.File, true)
		case !strangersInScripts.MatchString(f.Path):
			unknown = append(unknown, string(f.Place)+": "+f.Path)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("files that are not in the list of internal/platform/statefiles:\n%s",
			strings.Join(unknown, "\n"))
	}
	return nil
}

// unseenByScripts are rows of which no script leaves a file behind, with the
// reason.
var unseenByScripts = map[string]string{}

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
