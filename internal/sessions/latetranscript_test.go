package sessions

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/timeline"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// In a new home Claude Code makes the folder of its records with the first prompt,
// after the session's first hook. A record is read soon after it came, and one
// that never comes costs little.
func TestTranscriptThatComesLate(t *testing.T) {
	p := newReplay(t, &timeline.Recording{Agent: "claude"})
	root := filepath.Join(p.home, ".claude", "projects", "-project")
	record := filepath.Join(root, "one.jsonl")
	start := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	follow := func(comes, lasts time.Duration) (opened time.Duration, tries int) {
		one := &followed{key: state.Key{Agent: "claude", ID: "one"}}
		current := state.Overview{Transcript: record}
		var last time.Time
		for after := time.Duration(0); after < lasts; after += readPeriod {
			if after >= comes {
				if err := os.MkdirAll(root, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(record, []byte("{}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.follower.openTranscript(one, &current, p.follower.tracker.rulesFor("claude"), start.Add(after))
			if one.tried != last {
				last = one.tried
				tries++
			}
			if one.reader != nil {
				return after, tries
			}
		}
		return 0, tries
	}
	if _, tries := follow(time.Minute, 30*time.Second); tries < 8 || tries > 12 {
		t.Errorf("a record that is not there was tried %d times in half a minute, expected 8 to 12", tries)
	}
	const comes = 600 * time.Millisecond
	if opened, _ := follow(comes, 30*time.Second); opened < comes || opened > 2*comes {
		t.Errorf("a record that came after %v was opened after %v, expected %v at most", comes, opened, 2*comes)
	}
}
