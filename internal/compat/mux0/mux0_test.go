package mux0

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func TestTerminalReportRefusesBadLines(t *testing.T) {
	const terminal = "0a1b2c3d-0000-4000-8000-000000000001"
	for _, raw := range []string{
		`{}`, `[]`, `x`, `{"terminalId":"x","event":"running","agent":"claude","at":1}`,
		`{"terminalId":"` + terminal + `","event":"finished","agent":"claude","at":1}`,
		`{"terminalId":"` + terminal + `","event":"dancing","agent":"claude","at":1}`,
	} {
		report, err := TerminalReport(&event.Event{Agent: "claude", Native: "mux0.running", Raw: []byte(raw)})
		if err == nil || report != nil {
			t.Errorf("%s was read as %+v, error %v; it should be refused", raw, report, err)
		}
	}
}

func TestTerminalReportTakesTheTimeOfReceiptWhereTheLineHasNone(t *testing.T) {
	at := time.Unix(1700000000, 0)
	raw := `{"terminalId":"0a1b2c3d-0000-4000-8000-000000000001","event":"idle","agent":"claude"}`
	report, err := TerminalReport(&event.Event{Agent: "claude", Native: "mux0.idle", Raw: []byte(raw), Time: at})
	if err != nil || report == nil || !report.At.Equal(at) {
		t.Errorf("read as %+v, error %v; expected the time %s", report, err, at)
	}
	if report, err = TerminalReport(&event.Event{Native: "PreToolUse", Raw: []byte(raw)}); report != nil || err != nil {
		t.Errorf("an agent's own event was read as %+v, error %v", report, err)
	}
}
