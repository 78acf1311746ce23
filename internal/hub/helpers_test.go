package hub

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/hubtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hubFixture is a bench whose hub these tests look into.
type hubFixture struct {
	*hubtest.Bench
	h *Hub
}

// newFixture makes folders without a hub.
func newFixture(t *testing.T) *hubFixture {
	t.Helper()
	w := &hubFixture{}
	w.Bench = hubtest.New(t, func(s hubtest.Setup) (hubtest.Hub, error) {
		h, err := New(Options{Dirs: s.Dirs, Table: s.Processes, Facts: s.Facts, Asker: s.Asker, Version: s.Version,
			PID: s.PID, Extra: s.Extra, Log: s.Log,
			LiveSettings: s.LiveSettings, Person: s.ByPerson})
		w.h = h
		return h, err
	})
	return w
}

// open makes folders with a running hub.
func open(t *testing.T, extra ...*hook.Entry) *hubFixture {
	t.Helper()
	w := newFixture(t)
	w.Up(extra...)
	return w
}
