package selection

import (
	"context"
	"sync"

	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/selection/origins"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/wire"
)

// New reads nothing yet: files are read when the first event needs them.
func New(o Options) *Service {
	r := &Service{troubled: map[places]bool{},
		Options: o, allowances: newAllowances(), counts: facts.New(), starts: origins.NewForDaemon(o.Dirs.State),
	}
	r.loads.run = o.Background.Go
	r.sources = sources.New(sources.Options{
		Dirs: o.Dirs, Catalogue: o.Catalogue, Environ: o.Environment, Accepted: o.Accepted,
	})
	r.Config, r.Registry, r.Trust = r.sources.Config, r.sources.Registry, r.sources.Trust
	deps := handler.Deps{
		StateDir: o.Dirs.OpenState(), Processes: new(handler.Processes), Mark: o.Mark,
		Report: func(id, text string) {
			text = redact.Text(text)
			o.Log.Info("trace", "hook", id, "text", text)
			o.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: id, Text: text})
		},
	}
	deps.Builtins = handler.NewBuiltins(deps)
	r.handlers = deps
	r.Off = &OffSwitch{state: o.Dirs.State, problems: o.Problems, changed: o.TSHooks.NoteChange}
	r.Off.readFile()
	r.Pauses = &Pauses{state: o.Dirs.State, problems: o.Problems}
	r.Pauses.readFile()
	editing := new(sync.Mutex)
	r.Acceptance = &Acceptance{Options: o, Config: r.Config, Registry: r.Registry, views: r, editing: editing}
	r.edits = &edits{
		Options: o, Config: r.Config, Registry: r.Registry, Trust: r.Trust, Pauses: r.Pauses, sources: r.sources,
		handlers: deps, allowances: r.allowances, lifts: &r.lifts, acceptance: r.Acceptance, views: r, editing: editing,
	}
	return r
}

// WaitForHandlers waits for processes of handlers that still run.
func (r *Service) WaitForHandlers(ctx context.Context) error {
	return r.handlers.Processes.Wait(ctx)
}
