package hubstart

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

const (
	tooMany = 3
	within  = time.Minute
	pause   = time.Minute
)

// Paused tells until when starting rests, if it does.
func Paused(d paths.Dirs) (until time.Time, paused bool) {
	return pausedAt(d, time.Now())
}

func pausedAt(d paths.Dirs, now time.Time) (time.Time, bool) {
	deaths := readDeaths(d, now)
	if len(deaths) < tooMany {
		return time.Time{}, false
	}
	last := deaths[len(deaths)-1]
	if last.Sub(deaths[len(deaths)-tooMany]) > within {
		return time.Time{}, false
	}
	until := last.Add(pause)
	return until, now.Before(until)
}

// Pause makes starting rest for a minute, as after too many deaths: for places
// in which no hub shall come up.
func Pause(d paths.Dirs) error {
	if err := os.MkdirAll(filepath.Dir(d.DeathsFile()), 0o700); err != nil {
		return err
	}
	for range tooMany {
		if err := noteDeath(d, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// Forget wipes out the memory of deaths: the next start isn't paused.
func Forget(d paths.Dirs) error {
	if err := os.Remove(d.DeathsFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// readDeaths gives the recent deaths in order. A time that lies ahead comes
// from a clock that was set back since, and doesn't count.
func readDeaths(d paths.Dirs, now time.Time) []time.Time {
	text, err := os.ReadFile(d.DeathsFile())
	if err != nil {
		return nil
	}
	var deaths []time.Time
	for word := range strings.FieldsSeq(string(text)) {
		ms, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			continue
		}
		if t := time.UnixMilli(ms); !t.After(now) && now.Sub(t) <= within+pause {
			deaths = append(deaths, t)
		}
	}
	return deaths
}

// noteDeath adds one. The caller holds the start lock.
func noteDeath(d paths.Dirs, now time.Time) error {
	deaths := append(readDeaths(d, now), now)
	if len(deaths) > tooMany {
		deaths = deaths[len(deaths)-tooMany:]
	}
	var text []byte
	for _, t := range deaths {
		text = strconv.AppendInt(text, t.UnixMilli(), 10)
		text = append(text, '\n')
	}
	return os.WriteFile(d.DeathsFile(), text, 0o600)
}
