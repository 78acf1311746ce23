package selection

import (
	"context"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// New reads nothing yet: files are read when the first event needs them.
func New(o Options) *Service {
	r := &Service{
		Options: o, allowances: newAllowances(),
		views: map[places]*view{}, folders: map[string]folder{}, sessions: map[sessionKey]string{},
	}
	r.Config = config.New(config.Options{System: o.Dirs.System, User: o.Dirs.Config, State: o.Dirs.State,
		Environ: o.Environment})
	known := registry.Known{Agent: r.knowsAgent, Type: r.knowsType}
	r.Trust = trust.New(trust.Options{
		State: o.Dirs.State, Parse: func(b []byte) ([]hook.Registration, error) { return parseHooks(b, known) },
	})
	r.Registry = registry.New(registry.Options{
		GlobalFile: o.Dirs.Config + "/" + registry.FileName, State: o.Dirs.State, Home: o.Dirs.Home,
		OwnDirs:      []string{o.Dirs.Config, o.Dirs.State, o.Dirs.Runtime, o.Dirs.Data},
		Known:        known,
		KnownProject: r.Trust.Known,
	})
	deps := handler.Deps{
		StateDir: o.Dirs.State, Processes: new(handler.Processes), Mark: o.Mark,
		Report: func(id, text string) {
			text = redact.Text(text)
			o.Log.Info("trace", "hook", id, "text", text)
			o.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: id, Text: text})
		},
	}
	deps.Builtins = handler.NewBuiltins(deps)
	r.handlers = deps
	r.Off = &OffSwitch{folder: o.Dirs.State, problems: o.Problems,
		changed: o.Modules.NoteChange}
	r.Off.readFile()
	return r
}

// WaitForHandlers waits for processes of handlers that still run.
func (r *Service) WaitForHandlers(ctx context.Context) error { return r.handlers.Processes.Wait(ctx) }
