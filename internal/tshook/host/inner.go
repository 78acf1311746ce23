package host

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire"
)

// Inner events happen inside an agent: a model is about to be called, a piece of its answer
// came. They are many and large, and only files in TypeScript can use them. So the agent's
// plugin first asks which of them are listened to and sends only those. They don't pass the
// pipeline of other events: nothing is stored, and no status follows from them.

// Listeners returns those of entries that are files and listen to an inner event, one for
// each file, in order. Files that only log are left out: an agent waits for its inner events,
// and they offer it nothing.
func (s *Service) Listeners(ev *event.Event, entries []*hook.Entry) []*hook.Entry {
	var list []*hook.Entry
	known := map[*loadedFile]bool{}
	for _, e := range entries {
		run, ok := e.Run.(*fileHandler)
		if ok && !e.LogOnly && !known[run.one] && (e.HookType == ev.Native || e.HookType == hook.Any) && e.For(ev) {
			known[run.one] = true
			list = append(list, e)
		}
	}
	return list
}

// PassInner shows an inner event to the files that listen, one after the other. It returns
// what to send to the agent, nil if no file had anything to say.
func (s *Service) PassInner(ctx context.Context, call hook.Call, listeners []*hook.Entry) (json.RawMessage,
	[]hook.Step) {
	ev := call.Event
	inner, err := tshook.ReadInner(ev)
	if err != nil {
		s.deps.Log.Warn("an inner event could not be read", "agent", ev.Agent, "event", ev.Native, "error", err)
		return nil, nil
	}
	var steps []hook.Step
	for _, e := range listeners {
		own := call
		own.Hook = &e.Registration
		began := time.Now()
		over, err := e.Run.(*fileHandler).passInner(ctx, &own, inner)
		if ctx.Err() != nil && err != nil && !over {
			return nil, nil // the caller is gone, or has no time left; handlers that fail closed are notified
		}
		steps = append(steps, hook.Step{Hook: e.ID, Role: hook.Advise, Took: time.Since(began), Err: err})
		if over {
			break
		}
	}
	return inner.Answer(), steps
}

func (h *fileHandler) passInner(ctx context.Context, call *hook.Call, i *tshook.Inner) (over bool, err error) {
	if err := h.one.awaitReady(ctx); err != nil {
		return false, &FileError{err}
	}
	m := h.files.tsHookOf(h.one)
	if m == nil {
		return false, nil
	}
	if over, err = m.Pass(ctx, call, i); err != nil {
		err = &FileError{err}
	}
	return over, err
}

// wantedEvents returns the inner events that files listen to in a session, with the
// tools and commands they offer there.
func (s *Service) wantedEvents(a *agent.Agent, params *wire.WantedParams, peer proc.Cred) wire.WantedResult {
	out := wire.WantedResult{Events: []string{}}
	offers := map[*loadedFile]bool{}
	for _, name := range a.Inner {
		ev := event.Event{Agent: a.Name, Native: name, Session: params.Session, Cwd: params.Cwd}
		for _, e := range s.Listeners(&ev, s.options.Selection.InnerHooks(&ev, peer)) {
			if e.HookType != name {
				continue
			}
			if !slices.Contains(out.Events, name) {
				out.Events = append(out.Events, name)
			}
			one := e.Run.(*fileHandler).one
			if m := s.files.tsHookOf(one); m != nil && wire.IsPluginEvent(name) && !offers[one] {
				offers[one] = true
				info := m.Info()
				out.Tools, out.Commands = append(out.Tools, info.Tools...), append(out.Commands, info.Commands...)
			}
		}
	}
	slices.Sort(out.Events)
	out.Known = slices.Clone(out.Events)
	for prefix, list := range map[string][]json.RawMessage{"tool:": out.Tools, "command:": out.Commands} {
		for _, raw := range list {
			var one struct{ Name string }
			_ = json.Unmarshal(raw, &one)
			out.Known = append(out.Known, prefix+one.Name)
		}
	}
	slices.Sort(out.Known)
	return out
}

const (
	// settleAfter is how long to wait for files after a change: what applies is read a few times a
	// second at most.
	settleAfter = 250 * time.Millisecond
	// maxWait is the longest a plugin may wait for a change. It is less than a
	// quiet connection may last.
	maxWait = 4 * time.Minute
)

// AwaitWanted returns which inner events files listen to. With a wait it answers as soon as
// that differs from what the caller knows.
func (s *Service) AwaitWanted(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.WantedParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	a, ok := s.deps.Catalogue.Agent(p.Agent)
	if !ok {
		return nil, wire.Errorf(wire.CodeParams, "%s needs the name of an agent", wire.MethodWanted)
	}
	left := time.Duration(p.Wait * float64(time.Second))
	if left < 0 || left > maxWait {
		left = maxWait
	}
	if s.wantedEvents(a, &p, peer); s.files.awaitLoading(ctx) {
		services.Pause(settleAfter, ctx.Done()) // an agent that starts asks once, before its first events
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	for {
		change := s.files.changes.nextChange()
		list := s.wantedEvents(a, &p, peer)
		if left == 0 || !slices.Equal(list.Known, p.Known) {
			return list, nil
		}
		select {
		case <-change:
			services.Pause(settleAfter, ctx.Done())
		case <-ctx.Done():
			return list, nil
		}
	}
}
