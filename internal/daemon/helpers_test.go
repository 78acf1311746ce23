package daemon

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "resume" {
		return // a shell was told to run hookmux, and this program is in its place
	}
	endWithin = daemontest.Patience // these tests look at what ends, not how soon on a busy machine
	goleak.VerifyTestMain(m)
}

// daemonFixture is a bench whose daemon these tests look into.
type daemonFixture struct {
	*daemontest.Bench
	h *Daemon
}

// newFixture makes folders without a daemon.
func newFixture(t *testing.T) *daemonFixture {
	t.Helper()
	w := &daemonFixture{}
	w.Bench = daemontest.New(t, func(s daemontest.Setup) (daemontest.Daemon, error) {
		h, err := New(Options{Dirs: s.Dirs, Table: s.Processes, Facts: s.Facts, Asker: s.Asker, Version: s.Version,
			PID: s.PID, Extra: s.Extra, Log: s.Log,
			LiveSettings: s.LiveSettings, Person: s.ByUser})
		w.h = h
		return h, err
	})
	return w
}

// open makes folders with a running daemon.
func open(t *testing.T, extra ...*hook.Entry) *daemonFixture {
	t.Helper()
	w := newFixture(t)
	w.Up(extra...)
	return w
}
