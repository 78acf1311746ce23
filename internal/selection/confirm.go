package selection

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/selection/confirmed"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// asConfirmed leaves of a hook that nobody confirmed only what it refuses.
func (r *Service) asConfirmed(reg registry.Entry, entries []*hook.Entry) []*hook.Entry {
	if r.Confirmed == nil || !reg.Unconfirmed || reg.Scope != registry.Global {
		return entries
	}
	return r.Confirmed.RefusalsOnly(entries)
}

// programRunner runs a hook of the user whose target names programs of the
// user's: at every call as they were confirmed.
type programRunner struct {
	service     *Service
	reg         hook.Registration // as it is written
	unconfirmed bool

	mu     sync.Mutex
	target string // that run was made of
	run    hook.Handler
}

// newRunner makes the handler of a registration of the user.
func (r *Service) newRunner(reg hook.Registration, unconfirmed bool) (hook.Handler, error) {
	if r.Confirmed == nil || !reg.RunsProgram() {
		return handler.New(reg, r.handlers)
	}
	p := &programRunner{service: r, reg: reg, unconfirmed: unconfirmed}
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

// prepare makes the handler anew where another file must be run.
func (p *programRunner) prepare() error {
	reg, store := p.reg, p.service.Confirmed
	var failed error
	reg.Target = trust.ReplacePrograms(reg, p.service.Dirs.Home, func(path string) (string, bool) {
		if !filepath.IsAbs(path) || !store.IsUsersFile(path, p.service.Dirs.Home) {
			return "", false
		}
		use, err := store.Program(path, !p.unconfirmed)
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

// confirmedVersion is the version of what is in force.
func confirmedVersion(store *confirmed.Store) int {
	if store == nil {
		return 0
	}
	return store.Version()
}
