package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// hooksBehind takes --hook out of what stands behind the agent's name: given
// to the agent it would be refused at best, and at worst the session would
// begin without a guard that was asked for. Behind a -- everything is the
// agent's.
func hooksBehind(args []string) (files, own []string, err error) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return files, append(own, args[i:]...), nil
		}
		if file, ok := strings.CutPrefix(args[i], "--hook="); ok {
			files = append(files, file)
			continue
		}
		if args[i] != "--hook" {
			own = append(own, args[i])
			continue
		}
		if i++; i == len(args) {
			return nil, nil, cmdutil.UsageError("--hook needs a file, for example --hook ./gate.ts")
		}
		files = append(files, args[i])
	}
	return files, own, nil
}

// loadForLaunch has the hub load hooks for this process, which becomes the
// agent. A session must not begin without a guard that was asked for.
func loadForLaunch(ctx context.Context, app *cmdutil.App, l *launchPlan, files []string) error {
	if len(files) == 0 {
		return nil
	}
	var paths []string
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return cmdutil.UsageError("--hook %s: there is no such file", file)
		}
		if !trust.IsModuleName(filepath.Base(path)) {
			return cmdutil.UsageError("--hook %s: not a TypeScript or JavaScript file (.ts, .js)", file)
		}
		paths = append(paths, path)
	}
	c, err := app.ConnectHub(ctx)
	if err != nil {
		return fmt.Errorf("%w; %s was not started, because its hooks would not count", err, l.agent.Name)
	}
	if err := c.Call(ctx, wire.MethodModuleRun, wire.ModuleRunParams{Files: paths}, nil); err != nil {
		return fmt.Errorf("%w; %s was not started", err, l.agent.Name)
	}
	return nil
}
