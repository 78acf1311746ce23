package sessions

import (
	"os"
	"time"

	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// Gap is a time in which a session went on and none of its hooks arrived: its guards
// were absent.
type Gap struct {
	Session wire.Session
	From    time.Time
	Until   time.Time // zero: it lasts
}

// silenceWatch notices sessions that work while their hooks do not arrive: what the
// agent writes about the session grows, and no event comes. One goroutine uses it.
type silenceWatch struct {
	all map[state.Key]*silence
}

// silence holds what was seen of one session since its last event.
type silence struct {
	event   time.Time // the last event then
	size    int64
	growths int
	first   time.Time // when the first of these was seen
	told    bool
}

const (
	silencePeriod = 10 * time.Second
	// silentAfter is how long after an event what is written may still belong to it:
	// titles and summaries come late.
	silentAfter = 30 * time.Second
	// silentGrowths is how often a transcript must have grown since then, and silentFor over
	// which time at least. In a turn that hooks reported, a model may think for minutes and
	// write that down as it goes.
	silentGrowths = 3
	silentFor     = 20 * time.Second
	silentInTurn  = 5 * time.Minute
)

// statFile is the size of a file and when it was written last; false where there is none.
type statFile func(path string) (size int64, written time.Time, ok bool)

func statOnDisk(path string) (int64, time.Time, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, time.Time{}, false
	}
	return info.Size(), info.ModTime(), true
}

// look compares sessions with their transcripts. It names those whose hooks stopped
// arriving, with the time since when, and those whose hooks arrive again.
func (w *silenceWatch) look(now time.Time, list []state.Overview, stat statFile) (begun, over map[state.Key]Gap) {
	begun, over = map[state.Key]Gap{}, map[state.Key]Gap{}
	kept := map[state.Key]*silence{}
	for i := range list {
		one := &list[i]
		if !one.Live || one.Transcript == "" {
			continue
		}
		size, written, ok := stat(one.Transcript)
		if !ok {
			continue
		}
		s := w.all[one.Key]
		if s == nil || !s.event.Equal(one.LastEvent) {
			if s != nil && s.told {
				over[one.Key] = Gap{From: s.event, Until: one.LastEvent}
			}
			s = &silence{event: one.LastEvent, size: size}
		}
		kept[one.Key] = s
		if size == s.size || written.Sub(one.LastEvent) < silentAfter {
			s.size = size
			continue
		}
		s.size = size
		if s.growths++; s.growths == 1 {
			s.first = written
		}
		least := silentFor
		if one.Open {
			least = silentInTurn
		}
		if !s.told && !one.Waits && s.growths >= silentGrowths && now.Sub(s.first) >= least {
			s.told = true
			begun[one.Key] = Gap{From: s.event}
		}
	}
	for key, s := range w.all {
		if kept[key] == nil && s.told {
			over[key] = Gap{From: s.event, Until: now} // the session is over
		}
	}
	w.all = kept
	return begun, over
}

// watchSilence reports sessions that work without their hooks.
func (s *Service) watchSilence(now time.Time) {
	if s.hooksMissing == nil {
		return
	}
	begun, over := s.silence.look(now, s.tracker.sessions.Overviews(), statOnDisk)
	for _, gaps := range []map[state.Key]Gap{begun, over} {
		for key, gap := range gaps {
			gap.Session = wire.Session{Agent: key.Agent, ID: key.ID}
			if one, ok := s.tracker.sessions.Get(key); ok {
				gap.Session = s.view.sessionInfo(one)
			}
			s.hooksMissing(gap)
		}
	}
}
