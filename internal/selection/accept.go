package selection

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// asAccepted reduces a hook that you haven't accepted to its denials.
func (r *Service) asAccepted(reg registry.Entry, entries []*hook.Entry) []*hook.Entry {
	if r.Accepted == nil || !reg.Unaccepted || reg.Scope != registry.Global {
		return entries
	}
	return r.Accepted.RefusalsOnly(entries)
}

// programRunner runs a hook of the user whose target names programs of the
// user's: at every call as they were accepted.
type programRunner struct {
	service    *Service
	reg        hook.Registration // as it is written
	unaccepted bool

	mu     sync.Mutex
	target string // that run was made of
	run    hook.Handler
}

// newRunner makes the handler of a registration of the user.
func (r *Service) newRunner(reg hook.Registration, unaccepted bool) (hook.Handler, error) {
	if r.Accepted == nil || !reg.RunsProgram() {
		return handler.New(reg, r.handlers)
	}
	p := &programRunner{service: r, reg: reg, unaccepted: unaccepted}
	return p, p.prepare()
}

// Handle runs what is in force now.
func (p *programRunner) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	p.mu.Lock()
	err := p.prepare()
	run := p.run
	p.mu.Unlock()
	if err != nil {
		return event.Decision{}, err
	}
	return run.Handle(ctx, call)
}

// prepare makes a new handler if another file must be run.
func (p *programRunner) prepare() error {
	reg, store := p.reg, p.service.Accepted
	var failed error
	reg.Target = trust.ReplacePrograms(reg, p.service.Dirs.Home, func(path string) (string, bool) {
		if !filepath.IsAbs(path) || !store.IsUsersFile(path, p.service.Dirs.Home) {
			return "", false
		}
		use, err := store.Program(path, !p.unaccepted)
		if err != nil {
			failed = err
		}
		return use, err == nil && use != path
	})
	if failed != nil || p.run != nil && reg.Target == p.target {
		return failed
	}
	run, err := handler.New(reg, p.service.handlers)
	if err == nil {
		p.run, p.target = run, reg.Target
	}
	return err
}

// acceptedVersion returns the version of what is in force.
func acceptedVersion(store *accepted.Store) int {
	if store == nil {
		return 0
	}
	return store.Version()
}
