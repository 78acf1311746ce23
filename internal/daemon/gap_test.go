package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/wire"
)

// A session that goes on without its hooks is a problem while it lasts, and the log
// marks its beginning and its end.
func TestASessionWithoutHooksIsReported(t *testing.T) {
	w := open(t)
	gap := sessions.Gap{Session: wire.Session{Agent: "claude", ID: "s1", Cwd: "/p"}, From: time.Now().Add(-time.Minute)}
	w.h.reportGap(gap)
	const works = "works, and none of its hooks arrived since"
	if got := fmt.Sprint(w.h.deps.Problems.All()); !strings.Contains(got, works) || !strings.Contains(got, "hookmux doctor claude") {
		t.Errorf("problems = %s, want that it %s, and the doctor", got, works)
	}
	gap.Until = time.Now()
	w.h.reportGap(gap)
	if got := fmt.Sprint(w.h.deps.Problems.All()); strings.Contains(got, works) {
		t.Errorf("it is over, and a problem still: %s", got)
	}
	await.Until(t, "both are in the log", func() bool {
		var said []string
		for ev, err := range w.h.recorder.EventsSince(t.Context(), time.Time{}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Agent == wire.OwnAgent && ev.Native == wire.OwnGap {
				said = append(said, ev.Message)
			}
		}
		all := strings.Join(said, "\n")
		return len(said) == 2 && strings.Contains(all, works) && strings.Contains(all, "worked without its hooks from")
	})
}
