package install

import (
	"path/filepath"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// enableSpec returns the settings an agent needs to load our plugin; nil if it needs none.
func enableSpec(a *agent.Agent) *agent.EnableSpec {
	if a.Install == nil || a.Install.Plugin == nil {
		return nil
	}
	return a.Install.Plugin.Enable
}

// enable adds that to the user's config; the user is shown it like every change. What is there
// without a record is ours only if the plugin is there as well.
func (d *draft) enable(a *agent.Agent, scope string, again bool) error {
	f, format, err := d.openSettings(a, scope)
	if err != nil || f == nil {
		return err
	}
	r := f.record
	if was := d.old.Files[f.path]; was == nil || hash(f.disk) != was.After {
		if f.disk == nil {
			r.Dirs, r.Keys, r.Kept = d.foldersFor(f.path, f.path), nil, nil
		}
		if r.Original = f.disk; was != nil || again {
			r.Original, err = RemoveSettings(format, f.disk, SettingsOf(enableSpec(a)), r.Keys, r.Kept)
		}
	}
	now := f.now
	if err == nil {
		now, r.Keys, r.Kept, err = WriteSettings(format, now, SettingsOf(enableSpec(a)), r.Keys, r.Kept)
	}
	if err != nil {
		return BrokenFile(f.path, err)
	}
	f.setContent(OpWrite, now)
	if len(r.Keys) == 0 {
		d.forgetFile(f)
	}
	return nil
}

// disable removes it again.
func (d *draft) disable(a *agent.Agent) error {
	f, format, err := d.openSettings(a, User)
	if err != nil || f == nil {
		return err
	}
	now := f.record.Original
	if was := d.old.Files[f.path]; was == nil || hash(f.now) != was.After {
		now, err = RemoveSettings(format, f.now, SettingsOf(enableSpec(a)), f.record.Keys, f.record.Kept)
		if err != nil {
			return BrokenFile(f.path, err)
		}
		if was != nil && was.Original == nil && IsHollow(format, now) {
			now = nil
		}
	}
	d.dropFile(f, now)
	return nil
}

func (d *draft) openSettings(a *agent.Agent, scope string) (*draftFile, edit.Format, error) {
	spec := enableSpec(a)
	if spec == nil {
		return nil, nil, nil
	}
	format, err := edit.For(spec.Format)
	if err != nil {
		return nil, nil, err
	}
	f, err := d.openFile(d.host.resolvePath(spec.HookFile), a.Name, scope, KindSetting)
	return f, format, err
}

// readSettings looks for the settings without which the agent ignores the plugin.
func (l siteReader) readSettings(s *Site) {
	spec := enableSpec(l.agent)
	if spec == nil || s.Err != nil || s.Ours == 0 {
		return
	}
	path := l.host.resolvePath(spec.HookFile)
	src, err := l.host.onDisk().read(path)
	if what := WhatSettingsMiss(spec, src, err, filepath.Base(path)); what != "" {
		s.Stale, s.MayMiss, s.Running = append(s.Stale, what), append(s.MayMiss, what), nil
	}
}
