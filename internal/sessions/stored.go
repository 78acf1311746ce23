package sessions

import (
	"path/filepath"

	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
	"github.com/hookmux/hookmux/internal/wire"
)

// Stored holds the last daemon's knowledge of sessions, to be read while none runs.
type Stored struct{ view *view }

// ReadStored reads what the last daemon wrote down, and changes nothing. Of deps it needs
// the folders, the catalogue, the processes and the redactor.
func ReadStored(deps services.Deps, settings SettingsSource) (*Stored, error) {
	t := newTracker(nil)
	t.setSwitches(readSwitches(deps, settings.Settings()))
	saved := newSessionStore(deps, t)
	var stored []*state.Session
	if err := store.ReadLog(saved.logFile(), func(e store.Entry) { stored = saved.readEntry(stored, e) }); err != nil {
		return nil, err
	}
	saved.putStored(stored)
	// Records that can't be read are left out; the daemon says why.
	records, _ := store.Open(filepath.Join(deps.Dirs.State, "resume"))
	r := &resumer{deps: deps, settings: settings, tracker: t, records: records}
	return &Stored{view: &view{deps: deps, tracker: t, resumer: r}}, nil
}

// Session returns the session that name means: an id, the beginning of one, a title or a pane.
func (s *Stored) Session(name string) (wire.SessionDetail, *wire.Error) {
	key, bad := s.view.findSession(name)
	if bad != nil {
		return wire.SessionDetail{}, bad
	}
	return s.view.sessionDetail(key), nil
}
