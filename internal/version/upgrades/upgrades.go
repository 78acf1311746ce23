// Package upgrades remembers which version of hookmux was here before, and says what is
// new since.
package upgrades

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/version"
)

// Record is the version that serves in a home, and the one before it.
type Record struct {
	Version string `json:"version"`
	// Format is the format of the state, see [Format].
	Format int       `json:"format"`
	Since  time.Time `json:"since"`
	// Before is the version that served before; empty: none did, or it wrote nothing
	// down.
	Before string `json:"before,omitempty"`
	// Upgraded says that there was one before.
	Upgraded bool `json:"upgraded,omitempty"`
}

const (
	file    = "version.json"
	maxSize = 4 << 10
)

// Format is the number of the state's format. It grows when a version writes state that the version before it would
// misread; the newer one then brings a migration and a test that runs it.
const Format = 1

// CheckFormat refuses state that a newer version wrote: an older one would misread it, and could weaken protection.
func CheckFormat(state string) error {
	r, ok := Read(state)
	if !ok || r.Format <= Format {
		return nil
	}
	return fmt.Errorf("hookmux %s wrote %s, and this is %s, which can't read it; install hookmux %s or newer", r.Version, state,
		version.String, r.Version)
}

// Read gives what is written down; false where nothing is, or nothing that can be read.
func Read(state string) (Record, bool) {
	var r Record
	text, err := files.Read(filepath.Join(state, file), maxSize)
	if err != nil || json.Unmarshal(text, &r) != nil || r.Version == "" {
		return Record{}, false
	}
	return r, true
}

// WasUsed reports whether a daemon served here before: versions before this package wrote
// nothing down, but left a journal. A daemon asks before it makes its own.
func WasUsed(state string) bool {
	_, err := os.Stat(filepath.Join(state, "journal.db"))
	return !errors.Is(err, os.ErrNotExist)
}

// Note writes down that a daemon of this version serves now, in a home where one was used
// before or not.
func Note(state, serving string, used bool, now time.Time) error {
	was, known := Read(state)
	if known && was.Version == serving && was.Format == Format {
		return nil
	}
	next := Record{Version: serving, Format: Format, Since: now.UTC().Truncate(time.Second), Before: was.Version,
		Upgraded: known || used}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	return files.Write(filepath.Join(state, file), text)
}

// NewsTime is for how long an upgrade is news.
const NewsTime = 14 * 24 * time.Hour

// IsNews reports whether a person may not know yet that there is another version.
func (r Record) IsNews(now time.Time) bool { return r.Upgraded && now.Sub(r.Since) < NewsTime }

// Changes returns the titles of what changed since a version, oldest first, out of a
// changelog: sections "## VERSION" with lines "- **Title.** …". Of an unknown version
// before, only the section of the version itself counts.
func Changes(changelog string, r Record) []string {
	var titles []string
	counts := false
	now, _, _ := strings.Cut(r.Version, "-") // what leads to a version is in its section
	for line := range strings.Lines(changelog) {
		if head, ok := strings.CutPrefix(line, "## "); ok {
			section, _, _ := strings.Cut(strings.TrimSpace(head), " ")
			counts = version.Compare(section, now) == 0 ||
				r.Before != "" && version.Compare(section, r.Before) > 0 && version.Compare(section, now) < 0
			continue
		}
		text, ok := strings.CutPrefix(line, "- **")
		title, _, closed := strings.Cut(text, "**")
		if counts && ok && closed {
			titles = append(titles, strings.TrimRight(title, ".:"))
		}
	}
	return titles
}
