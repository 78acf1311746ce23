package host

import (
	"path/filepath"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// OpenLaunches takes over the launches that an earlier daemon knew.
func (s *Service) OpenLaunches() { s.launches.loadLaunches() }

// WithLaunches adds to entries what applies to this call alone: the files of its launch,
// and messages that wait for its session. agent is the agent that called, peer the process
// that sent the event.
func (s *Service) WithLaunches(c hook.Call, agent Process, peer int, entries []*hook.Entry) []*hook.Entry {
	var more []*hook.Entry
	if s.launches.count.Load() > 0 && !c.Event.Nested {
		for _, one := range s.launches.launchesAbove(agent, peer) {
			more = append(more, hook.Select(s.launchEntries(one), c.Event, nil)...)
		}
	}
	if e := s.queuedEntry(c.Event, c.Carries); e != nil {
		more = append(more, e)
	}
	if len(more) == 0 {
		return entries
	}
	all := append(append([]*hook.Entry{}, entries...), more...)
	hook.Sort(all)
	return all
}

// launchEntries returns the hooks of a launch.
func (s *Service) launchEntries(one *launched) []*hook.Entry {
	var list []wantedFile
	for _, path := range one.Files {
		list = append(list, wantedFile{id: hook.TSHookID(filepath.Base(path)), path: path, scope: "run"})
	}
	settings := s.options.Selection.Settings()
	list = s.withLogOnly(settings, list)
	var entries []*hook.Entry
	for _, file := range s.files.setWanted(one.ownerName(), list, settings.Millis(config.HookTimeout)) {
		entries = append(entries, s.entriesOf(file, hook.TSHookID(filepath.Base(file.path)), settings)...)
	}
	return entries
}
