package upgrades

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux"
)

func TestNote(t *testing.T) {
	state, now := filepath.Join(t.TempDir(), "state"), time.Unix(1_800_000_000, 0).UTC()
	note := func(version string, at time.Time) Record {
		t.Helper()
		if err := Note(state, version, WasUsed(state), at); err != nil {
			t.Fatal(err)
		}
		r, ok := Read(state)
		if !ok {
			t.Fatal("nothing is written down, want a record")
		}
		return r
	}
	if got := note("0.1.0", now); got != (Record{Version: "0.1.0", Format: Format, Since: now}) || got.IsNews(now) {
		t.Errorf("the first daemon: %+v, want no upgrade", got)
	}
	later := now.Add(time.Hour)
	if got := note("0.1.0", later); !got.Since.Equal(now) {
		t.Errorf("the same version again: %+v, want it since %v", got, now)
	}
	got := note("0.2.0", later)
	if got != (Record{Version: "0.2.0", Format: Format, Since: later, Before: "0.1.0", Upgraded: true}) || !got.IsNews(later) {
		t.Errorf("another version: %+v, want an upgrade from 0.1.0", got)
	}
	if got.IsNews(later.Add(NewsTime)) {
		t.Error("an upgrade is news for ever")
	}
}

func TestNewerState(t *testing.T) {
	state := t.TempDir()
	if err := CheckFormat(state); err != nil {
		t.Errorf("no state: %v, want none refused", err)
	}
	if err := Note(state, "0.1.0", false, time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if err := CheckFormat(state); err != nil {
		t.Errorf("this version's state: %v, want it read", err)
	}
	newer := fmt.Sprintf(`{"version": "9.0.0", "format": %d, "since": "2030-01-01T00:00:00Z"}`, Format+1)
	if err := os.WriteFile(filepath.Join(state, file), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckFormat(state); err == nil || !strings.Contains(err.Error(), "install hookmux 9.0.0 or newer") {
		t.Errorf("a newer version's state: %v, want it refused", err)
	}
}

// The version before wrote nothing down, or what it wrote is damaged.
func TestNoteOfSilentVersion(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{"journal.db", file} {
		if err := os.WriteFile(filepath.Join(state, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Note(state, "0.2.0", WasUsed(state), time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	if r, _ := Read(state); !r.Upgraded || r.Before != "" {
		t.Errorf("the record is %+v, want an upgrade from a version that is not known", r)
	}
}

func TestChanges(t *testing.T) {
	const text = "# Changelog\n\n## 0.3.0 (unreleased)\n\n- **Three.** x\n- no title\n\n## 0.2.0\n- **Two and a half** y\n" +
		"- **Two.** z\n\n## 0.1.0\n- **One.** a\n"
	for _, c := range []struct{ now, before, want string }{
		{"0.3.0", "0.2.0", "Three"}, {"0.3.0", "0.1.0", "Three|Two and a half|Two"}, {"0.2.0", "", "Two and a half|Two"},
		{"0.2.0", "0.3.0", "Two and a half|Two"}, {"0.4.0", "0.3.0", ""}, {"0.3.0-dev", "", "Three"},
	} {
		if got := strings.Join(Changes(text, Record{Version: c.now, Before: c.before}), "|"); got != c.want {
			t.Errorf("from %q to %s: %q, want %q", c.before, c.now, got, c.want)
		}
	}
	version, err := os.ReadFile("../../../VERSION")
	if err != nil {
		t.Fatal(err)
	}
	if got := Changes(hookmux.Changelog, Record{Version: strings.TrimSpace(string(version))}); len(got) < 5 {
		t.Errorf("CHANGELOG.md has %q for %s, want what is new in this version", got, version)
	}
}
