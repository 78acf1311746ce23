package hub

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// Some agents keep a small file that says whether they wait for their person.
// While a request waits here, that file is the first to show that the person
// answered in the agent's own window.

const (
	// stateLook is how often the file is looked at, and stateStays how long it
	// must say so: between two dialogs an agent may be at work for a moment.
	stateLook  = 50 * time.Millisecond
	stateStays = 200 * time.Millisecond
	maxState   = 64 << 10
)

// stateDecided is closed when the agent waited for its person after the event
// and does no more. It is nil when the agent keeps no such file, or it cannot
// be found. ctx ends the watch.
func stateDecided(ctx context.Context, spec *agent.StateFile, ev *event.Event) <-chan struct{} {
	if spec == nil || ev.Transcript == "" || ev.Where.PID <= 0 || ev.Session == "" {
		return nil
	}
	file := filepath.Join(filepath.Dir(ev.Transcript), strings.ReplaceAll(spec.Path, "{pid}", strconv.Itoa(ev.Where.PID)))
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(stateLook)
		defer tick.Stop()
		var waited bool
		var left time.Time // since when it waits no more
		var last os.FileInfo
		for {
			if info, err := os.Stat(file); err == nil && (last == nil || !os.SameFile(info, last) || info.ModTime() != last.ModTime() || info.Size() != last.Size()) {
				waits, ok := stateWaits(file, spec, ev.Session)
				switch {
				case !ok: // half written, or another session's: looked at again
				case waits:
					last, waited, left = info, true, time.Time{}
				default:
					if last = info; waited && left.IsZero() {
						left = time.Now()
					}
				}
			}
			if !left.IsZero() && time.Since(left) >= stateStays {
				close(done)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return done
}

// stateWaits reads the file; false at the end when it says nothing about the
// session.
func stateWaits(file string, spec *agent.StateFile, session string) (waits, ok bool) {
	f, err := os.Open(file)
	if err != nil {
		return false, false
	}
	defer f.Close()
	b := make([]byte, maxState)
	n, _ := f.Read(b)
	b = b[:n]
	if !jsonscan.Valid(b) {
		return false, false
	}
	if of, _ := jsonscan.String(jsonscan.Get(b, spec.Session)); of != session {
		return false, false
	}
	status, ok := jsonscan.String(jsonscan.Get(b, spec.Status))
	return status == spec.Waiting, ok
}
