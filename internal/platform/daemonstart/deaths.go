package daemonstart

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

const (
	// freeDeaths is how many deaths within a minute cost nothing.
	freeDeaths = 2
	within     = time.Minute
	// firstWait is how long the next start waits after one death more; each
	// further death doubles it.
	firstWait   = 250 * time.Millisecond
	longestWait = 2 * time.Second
	// keepDeaths is how many are remembered: with that many the wait is the longest
	// one.
	keepDeaths = 8
	// longestPause limits what Pause asks for.
	longestPause = time.Minute
	maxDeaths    = 4 << 10
)

// Paused returns until when the next start waits, if it does.
func Paused(d paths.Dirs) (until time.Time, paused bool) {
	return pausedAt(d, time.Now())
}

func pausedAt(d paths.Dirs, now time.Time) (time.Time, bool) {
	deaths, until := readDeaths(d, now)
	if n := len(deaths) - freeDeaths; n > 0 {
		wait := min(longestWait, firstWait<<(n-1))
		if next := deaths[len(deaths)-1].Add(wait); next.After(until) {
			until = next
		}
	}
	return until, now.Before(until)
}

// pauseMark begins the line of the file that holds every start up.
const pauseMark = "until="

// Pause prevents starts for a minute: for places in which no daemon should come up.
func Pause(d paths.Dirs) error {
	if err := os.MkdirAll(filepath.Dir(d.DeathsFile()), 0o700); err != nil {
		return err
	}
	until := time.Now().Add(longestPause).UnixMilli()
	return writeSmall(d.DeathsFile(), []byte(pauseMark+strconv.FormatInt(until, 10)+"\n"))
}

// Forget wipes out the memory of deaths: the next start doesn't wait.
func Forget(d paths.Dirs) error {
	if err := os.Remove(d.DeathsFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// readDeaths returns the recent deaths in order, and until when a pause was requested. A
// death in the future comes from a clock that was set back since, and is ignored; so is a
// pause that is longer than any that can be requested.
func readDeaths(d paths.Dirs, now time.Time) (deaths []time.Time, pause time.Time) {
	text, err := files.Read(d.DeathsFile(), maxDeaths)
	if err != nil {
		return nil, time.Time{}
	}
	for word := range strings.FieldsSeq(string(text)) {
		number, isPause := strings.CutPrefix(word, pauseMark)
		ms, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			continue
		}
		t := time.UnixMilli(ms)
		switch {
		case isPause && t.Sub(now) <= longestPause:
			pause = t
		case !isPause && !t.After(now) && now.Sub(t) <= within && len(deaths) < keepDeaths:
			deaths = append(deaths, t)
		}
	}
	return deaths, pause
}

// noteDeath adds one. The caller holds the start lock.
func noteDeath(d paths.Dirs, now time.Time) error {
	deaths, _ := readDeaths(d, now)
	deaths = append(deaths, now)
	if len(deaths) > keepDeaths {
		deaths = deaths[len(deaths)-keepDeaths:]
	}
	var text []byte
	for _, t := range deaths {
		text = strconv.AppendInt(text, t.UnixMilli(), 10)
		text = append(text, '\n')
	}
	return writeSmall(d.DeathsFile(), text)
}
