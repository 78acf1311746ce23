package start

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// LoadHooks has the daemon load files for this process, which becomes the agent. A
// session must not begin without a guard that was asked for.
func LoadHooks(ctx context.Context, connect func(context.Context) (*client.Client, error), p *Plan,
	files []string) error {
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
			return usageError("there's no file %s", file)
		}
		if !trust.IsTSHookName(filepath.Base(path)) {
			return usageError("--hook %s: not a TypeScript or JavaScript file (.ts, .js)", file)
		}
		paths = append(paths, path)
	}
	c, err := connect(ctx)
	if err != nil {
		return fmt.Errorf("%w; %s was not started, because its hooks would not count", err, p.Agent.Name)
	}
	if err := c.Call(ctx, wire.MethodTSHookRun, wire.TSHookRunParams{Files: paths}, nil); err != nil {
		return fmt.Errorf("%w; %s was not started", err, p.Agent.Name)
	}
	return nil
}
