package daemon

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder"
)

// The trail keeps a day as long as the journal keeps anybody's events of that day.
func TestAuditRetention(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		keep    recorder.Retention
		removed int
	}{
		"30 days":                    {recorder.Retention{Age: 30 * day}, 1},
		"for good":                   {recorder.Retention{}, 0},
		"60 days for one agent":      {recorder.Retention{Age: 30 * day, AgentAge: map[string]time.Duration{"codex": 60 * day}}, 0},
		"for good for one agent":     {recorder.Retention{Age: 30 * day, AgentAge: map[string]time.Duration{"codex": 0}}, 0},
		"a shorter one for an agent": {recorder.Retention{Age: 30 * day, AgentAge: map[string]time.Duration{"codex": day}}, 1},
	} {
		dirs := paths.Dirs{State: t.TempDir(), Data: t.TempDir()}
		now := time.Now().Add(-40 * day)
		quiet := func(what, _ string) {
			if what != "" {
				t.Errorf("%s: %s", name, what)
			}
		}
		a := auditor{audit.New(dirs, func() time.Time { return now }, quiet, quiet)}
		for range 2 {
			a.trail.Append([]audit.Record{{Type: audit.TypeNote, Time: now}})
			now = now.Add(39 * day)
		}
		a.Retain(tt.keep)
		report, err := audit.Verify(dirs, nil)
		if err != nil || report.Problem != nil || report.Removed != tt.removed || report.Seq != 2 {
			t.Errorf("%s: %+v, error %v; want %d removed", name, report, err, tt.removed)
		}
	}
}
