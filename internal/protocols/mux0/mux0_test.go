package mux0

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

var read = ReportReader(agent.Builtin())

func TestTerminalReportRefusesBadLines(t *testing.T) {
	const terminal = "0a1b2c3d-0000-4000-8000-000000000001"
	for _, raw := range []string{
		`{}`, `[]`, `x`, `{"terminalId":"x","event":"running","agent":"claude","at":1}`,
		`{"terminalId":"` + terminal + `","event":"finished","agent":"claude","at":1}`,
		`{"terminalId":"` + terminal + `","event":"dancing","agent":"claude","at":1}`,
	} {
		report, err := read(&event.Event{Agent: "claude", Native: "mux0.running", Raw: []byte(raw)})
		if err == nil || report != nil {
			t.Errorf("%s was read as %+v, error %v; it should be refused", raw, report, err)
		}
	}
}

// A line from an hour ahead would make everything that follows look old.
func TestTerminalReportFromTheFuture(t *testing.T) {
	now := time.Unix(1700000000, 0)
	for ahead, want := range map[time.Duration]time.Duration{
		-time.Hour: -time.Hour, 0: 0, 4 * time.Second: 4 * time.Second, 6 * time.Second: 0, time.Hour: 0,
	} {
		raw := fmt.Sprintf(`{"terminalId":"0a1b2c3d-0000-4000-8000-000000000001","event":"running","agent":"claude","at":%d}`,
			now.Add(ahead).Unix())
		report, err := read(&event.Event{Agent: "claude", Native: "mux0.running", Raw: []byte(raw), Time: now})
		if err != nil || !report.At.Equal(now.Add(want)) {
			t.Errorf("a line of %s ahead is taken as of %s ahead (error %v), want %s", ahead, report.At.Sub(now), err, want)
		}
	}
}

// The session's own id is read off the exact command of the agent, and off nothing else.
func TestTerminalReportNamesTheSession(t *testing.T) {
	for _, c := range []struct{ agent, line, want string }{
		{"claude", "claude --resume 0e6c7d0e-1111-4000-8000-000000000001", "0e6c7d0e-1111-4000-8000-000000000001"},
		{"codex", "codex resume s_1", "s_1"},
		{"opencode", "opencode --session ses_1", "ses_1"},
		{"claude", "codex resume s_1", ""},
		{"claude", "claude --resume", ""},
		{"claude", "claude --resume s1 --dangerously-skip-permissions", ""},
		{"codex", "codex resume s1; date", ""},
		{"claude", "", ""},
	} {
		raw, _ := json.Marshal(map[string]any{"terminalId": "0a1b2c3d-0000-4000-8000-000000000001", "event": "running",
			"agent": c.agent, "resumeCommand": c.line})
		report, err := read(&event.Event{Agent: c.agent, Native: "mux0.running", Raw: raw, Time: time.Now()})
		if err != nil || report.Session != c.want {
			t.Errorf("%q of %s names session %q (error %v), want %q", c.line, c.agent, report.Session, err, c.want)
		}
	}
}

func TestTerminalReportTakesTheTimeOfReceiptWhereTheLineHasNone(t *testing.T) {
	at := time.Unix(1700000000, 0)
	raw := `{"terminalId":"0a1b2c3d-0000-4000-8000-000000000001","event":"idle","agent":"claude"}`
	report, err := read(&event.Event{Agent: "claude", Native: "mux0.idle", Raw: []byte(raw), Time: at})
	if err != nil || report == nil || !report.At.Equal(at) {
		t.Errorf("read as %+v, error %v; expected the time %s", report, err, at)
	}
	if report, err = read(&event.Event{Native: "PreToolUse", Raw: []byte(raw)}); report != nil || err != nil {
		t.Errorf("an agent's own event was read as %+v, error %v", report, err)
	}
}
