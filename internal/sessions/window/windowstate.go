package window

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// This file follows the small file in which some agents say whether they wait for their
// person. That file is the first to show that the user answered in the agent's own
// terminal.

const (
	// PollInterval is how often the file is read.
	PollInterval = 50 * time.Millisecond
	// SettleTime is how long the file must say that nothing waits for you: between two dialogs
	// an agent may work for a moment.
	SettleTime = 200 * time.Millisecond

	maxFileSize = 64 << 10
)

// Answered is closed when the agent waited for its person after the event and
// waits no more. It is nil when the agent keeps no such file, or the file
// cannot be found. ctx ends the watch, which run starts.
func Answered(ctx context.Context, run func(func()), spec *agent.StateFile, ev *event.Event) <-chan struct{} {
	if spec == nil || ev.Transcript == "" || ev.Where.PID <= 0 || ev.Session == "" {
		return nil
	}
	file := stateFile(spec, ev.Transcript, ev.Where.PID)
	done := make(chan struct{})
	run(func() {
		tick := time.NewTicker(PollInterval)
		defer tick.Stop()
		var waited bool
		var since time.Time // since when it waits no more
		var last os.FileInfo
		for {
			if info, err := os.Stat(file); err == nil && fileChanged(last, info) {
				waits, ok := readWaiting(file, spec, ev.Session)
				switch {
				case !ok: // half written, or another session's: read again
				case waits:
					last, waited, since = info, true, time.Time{}
				default:
					if last = info; waited && since.IsZero() {
						since = time.Now()
					}
				}
			}
			if !since.IsZero() && time.Since(since) >= SettleTime {
				close(done)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return done
}

func stateFile(spec *agent.StateFile, transcript string, pid int) string {
	name := strings.ReplaceAll(spec.Path, "{pid}", strconv.Itoa(pid))
	return filepath.Join(filepath.Dir(transcript), name)
}

// IdleSince returns when the agent wrote that no turn of the session goes on; false when
// it does not say so.
func IdleSince(spec *agent.StateFile, transcript, session string, pid int) (time.Time, bool) {
	if spec == nil || spec.Idle == "" || transcript == "" || pid <= 0 {
		return time.Time{}, false
	}
	file := stateFile(spec, transcript, pid)
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}, false
	}
	status, ok := readStatus(file, spec, session)
	return info.ModTime(), ok && status == spec.Idle
}

func fileChanged(last, now os.FileInfo) bool {
	return last == nil || !os.SameFile(now, last) || now.ModTime() != last.ModTime() || now.Size() != last.Size()
}

// readWaiting reads the file. ok is false when it says nothing about the
// session.
func readWaiting(file string, spec *agent.StateFile, session string) (waits, ok bool) {
	status, ok := readStatus(file, spec, session)
	return status == spec.Waiting, ok
}

func readStatus(file string, spec *agent.StateFile, session string) (status string, ok bool) {
	b, err := files.Read(file, maxFileSize) // never a pipe, which would be waited for
	if err != nil || !jsontext.Valid(b) {
		return "", false
	}
	if of, _ := jsontext.String(jsontext.Get(b, spec.Session)); of != session {
		return "", false
	}
	return jsontext.String(jsontext.Get(b, spec.Status))
}
