package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// loadForLaunch has the hub load hooks for this process, which becomes the
// agent. A session must not begin without a guard that was asked for.
func (w *world) loadForLaunch(ctx context.Context, l *launchPlan, files []string) error {
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
			return usage("--hook %s: there is no such file", file)
		}
		if !trust.IsModuleName(filepath.Base(path)) {
			return usage("--hook %s: not a TypeScript or JavaScript file (.ts, .js)", file)
		}
		paths = append(paths, path)
	}
	c, err := w.hub(ctx)
	if err != nil {
		return fmt.Errorf("%w; %s was not started, because its hooks would not count", err, l.agent.Name)
	}
	if err := c.Call(ctx, wire.MethodModuleRun, wire.ModuleRunParams{Files: paths}, nil); err != nil {
		return fmt.Errorf("%w; %s was not started", err, l.agent.Name)
	}
	return nil
}
