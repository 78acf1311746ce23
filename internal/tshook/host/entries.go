package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// BeginRefresh notes that what applies is about to be read again, and whether something was
// known before: then the wait for new files is shorter.
func (s *Service) BeginRefresh(known bool) { s.files.beginRefresh(known) }

// Entries returns the hooks of all files that are used and are in no registration: the
// user's folder, then the projects', then settings, as pi orders them.
func (s *Service) Entries(settings *config.Settings, trusted [2]*trust.TrustedContent) []*hook.Entry {
	timeout := settings.Millis(config.HookTimeout)
	want := func(owner string, list []wantedFile) []*loadedFile {
		return s.files.setWanted(owner, s.withLogOnly(settings, list), timeout)
	}
	files := want(folderOwner, s.folderFiles())
	seen := map[string]bool{}
	for _, f := range trusted {
		if f != nil && !seen[f.Root] {
			seen[f.Root] = true
			files = append(files, want("project:"+f.Root, projectFiles(f))...)
		}
	}
	files = append(files, want("settings", s.settingsFiles(settings))...)
	var entries []*hook.Entry
	known := map[*loadedFile]bool{}
	for _, one := range files {
		if !known[one] {
			known[one] = true
			entries = append(entries, s.asAccepted(one, s.entriesOf(one, one.id, settings))...)
		}
	}
	return entries
}

// withLogOnly marks the files that only log.
func (s *Service) withLogOnly(settings *config.Settings, list []wantedFile) []wantedFile {
	for i := range list {
		list[i].log = s.onlyLogs(settings, list[i].trusted, list[i].path)
	}
	return list
}

// onlyLogs reports whether the settings let a file only log.
func (s *Service) onlyLogs(settings *config.Settings, trusted *trust.TrustedContent, path string) bool {
	return sources.OnlyLogsTSHook(s.deps.Dirs, settings, trusted.Shown(path))
}

// entriesOf returns the hooks for what a file listens to.
func (s *Service) entriesOf(one *loadedFile, id string, settings *config.Settings) []*hook.Entry {
	var entries []*hook.Entry
	log := s.onlyLogs(settings, one.trusted, one.path)
	for _, reg := range s.registrationsOf(one, id) {
		reg.ID, reg.LogOnly = id, log
		if e, err := hook.NewEntry(reg, &fileHandler{s.files, one, reg.HookType}, one.scope); err == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// registrationsOf returns the registrations of a file. One that can't even be read is asked
// about every tool call and denies it, because what it would have said isn't known. One that
// is still loading is asked about everything; the event waits for it.
func (s *Service) registrationsOf(one *loadedFile, id string) []hook.Registration {
	unknown := []hook.Registration{{
		ID: id, Agent: hook.Any, HookType: string(event.ToolBefore), Handler: hook.HandlerTypeScript, Target: one.path,
		Role: hook.Guard, Timeout: hook.Duration(hook.MaxTimeout),
	}}
	m := s.files.tsHookOf(one)
	if m == nil {
		return append(unknown, hook.Registration{
			ID: id, Agent: hook.Any, HookType: hook.Any, Handler: hook.HandlerTypeScript, Target: one.path, Role: hook.Advise,
		})
	}
	if info := m.Info(); !info.OK() && len(info.Events) == 0 {
		return unknown
	}
	return m.Registrations(id)
}

// Registered makes the hooks of a registration that names a file. With the type "*" it is
// called for what the file listens to; otherwise what the registration says applies.
func (s *Service) Registered(reg registry.Entry, trusted *trust.TrustedContent,
	settings *config.Settings) ([]*hook.Entry, error) {
	ready := reg.Registration
	ready.Agent = s.deps.AgentName(ready.Agent)
	w := wantedFile{id: reg.ID, scope: reg.Scope, ofUser: reg.Scope == registry.Global, log: reg.LogOnly}
	var err error
	if reg.Scope == registry.Project && trusted != nil {
		if ready, err = trusted.Rewrite(ready); err == nil && trusted.Covers(ready.Target) {
			w.trusted = trusted
		}
	}
	w.path = s.expandPath(ready.Target)
	if err == nil && !filepath.IsAbs(w.path) {
		err = fmt.Errorf("target %q is relative, so it would be a file of whatever project an agent is in; "+
			"write it with an absolute path or ~/", ready.Target)
	}
	owner := "hook:" + reg.File + ":" + reg.ID
	if err != nil {
		s.files.setWanted(owner, nil, 0)
		return nil, err
	}
	files := s.files.setWanted(owner, []wantedFile{w}, settings.Millis(config.HookTimeout))
	if len(files) == 0 || !ready.IsEnabled() {
		return nil, nil
	}
	s.deps.Problems.Clear("hook-load:" + reg.ID)
	regs := []hook.Registration{ready}
	if ready.HookType == hook.Any {
		regs = nil
		for _, own := range s.registrationsOf(files[0], reg.ID) {
			if own.Agent == hook.Any || ready.Agent == hook.Any || own.Agent == ready.Agent {
				regs = append(regs, overlayRegistration(own, ready))
			}
		}
	}
	var entries []*hook.Entry
	for _, one := range regs {
		e, err := hook.NewEntry(one, &fileHandler{s.files, files[0], one.HookType}, reg.Scope)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return s.asAccepted(files[0], entries), nil
}

// asAccepted limits a file that wasn't accepted to its denials.
func (s *Service) asAccepted(one *loadedFile, entries []*hook.Entry) []*hook.Entry {
	if store := s.options.Accepted; store != nil && one.ofUser && store.IsNew(one.path) {
		return store.RefusalsOnly(entries)
	}
	return entries
}

// overlayRegistration returns a file's own registration under the one that the user wrote.
func overlayRegistration(own, written hook.Registration) hook.Registration {
	out := written
	out.HookType = own.HookType
	if own.Agent != hook.Any {
		out.Agent = own.Agent // an event that only this agent has
	}
	if written.Role == "" {
		out.Role = own.Role
	}
	if written.OnFailure == "" {
		out.OnFailure = own.OnFailure
	}
	if written.Timeout == 0 {
		out.Timeout = own.Timeout
	}
	return out
}

// fileHandler is a file as a handler: it waits for the first loading.
type fileHandler struct {
	files    *fileTable
	one      *loadedFile
	hookType string // where it was registered
}

// FileError is a file's failure, which the file reported itself, once for each
// of its contents.
type FileError struct{ error }

// Unwrap returns the failure itself.
func (e *FileError) Unwrap() error { return e.error }

var errNotLoaded = errors.New("is still being loaded")

// Prompt says that whatever it waits for, it stops waiting at the end of its
// time.
func (h *fileHandler) Prompt() {}

// Handle shows an event to the file.
func (h *fileHandler) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	if h.hookType == hook.Any && call.Event.Kind == event.ToolBefore {
		return event.Decision{}, nil // its guard is asked
	}
	if err := h.one.awaitReady(ctx); err != nil {
		return event.Decision{}, &FileError{fmt.Errorf("%s: %w", filepath.Base(h.one.path), errNotLoaded)}
	}
	m := h.files.tsHookOf(h.one)
	if m == nil {
		return event.Decision{}, &FileError{
			fmt.Errorf("%s: cannot be loaded while the daemon ends", filepath.Base(h.one.path)),
		}
	}
	d, err := m.Handle(ctx, call)
	if err != nil && h.files.isDeleted(h.one.path) {
		return event.Decision{}, nil
	}
	if err != nil {
		return event.Decision{}, &FileError{errors.New(h.one.trusted.Shown(err.Error()))}
	}
	if d.Verdict == event.Deny || d.Verdict == event.Ask {
		if note := h.files.goneNote(h.one.path); note != "" {
			d.Reason = strings.TrimLeft(strings.TrimRight(d.Reason, ". ")+" ("+note+")", " ")
		}
	}
	return d, nil
}
