package hookcmd

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// sayActiveVersion says which version of a hook's files is active if it isn't the one on
// disk: changes take effect only once you accept them.
func sayActiveVersion(app *cmdutil.App, cmd *cobra.Command, c *client.Client, files ...string) {
	waiting := waitingChanges(cmd.Context(), c)
	for _, file := range files {
		if change := cmp.Or(waiting[file], waiting[expandHome(app, file)]); change != "" {
			app.Say("note: %s %s", termsafe.Line(app.Shorten(file), 200), describeWaiting(change))
		}
	}
}

func expandHome(app *cmdutil.App, file string) string {
	dirs, err := app.Dirs()
	if rest, ok := strings.CutPrefix(file, "~/"); ok && err == nil {
		return filepath.Join(dirs.Home, rest)
	}
	return file
}

// waitingChanges returns the files whose changes you haven't accepted yet, and how each
// changed.
func waitingChanges(ctx context.Context, c *client.Client) map[string]string {
	info, err := c.Info(ctx)
	if err != nil {
		return nil // only for a note
	}
	out := map[string]string{}
	for _, one := range info.Unaccepted {
		out[one.File] = one.Change
	}
	return out
}

// describeWaiting says which version of a changed file is active, and what accepts the
// other one.
func describeWaiting(change string) string {
	const accept = "accept it with `hookmux config accept`"
	switch accepted.Kind(change) {
	case accepted.Added:
		return "not accepted yet: it can block, but not approve; " + accept
	case accepted.Edited:
		return "edited: the version you accepted is still active; " + accept
	case accepted.Removed:
		return "removed: the version you accepted is still active; " + accept
	case accepted.NotWanted:
		return "removed: it can still block until you accept that it's gone, with `hookmux config accept`"
	}
	return "can't be read: the version you accepted last is active"
}
