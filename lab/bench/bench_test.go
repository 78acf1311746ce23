//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

func TestTable(t *testing.T) {
	var tab table
	tab.atMost("fits", 1.1, 1.1, "×")
	tab.atLeast("enough", 0.4, 0.4, "×")
	tab.note("just so", 12.34, "µs")
	if tab.missed() != 0 {
		t.Error("what meets its bar counts as missed")
	}
	tab.atMost("slow", 1.3, 1.2, "×")
	tab.atLeast("few", 0.3, 0.4, "×")
	if tab.missed() != 2 {
		t.Errorf("missed %d, want 2", tab.missed())
	}
	var plain, structured bytes.Buffer
	tab.print(&plain)
	tab.printJSON(&structured)
	if strings.Count(plain.String(), "MISSED") != 2 || strings.Count(plain.String(), "ok\n") != 2 {
		t.Errorf(`plain.String() = %q, want strings.Count(plain.String(), "MISSED") = 2 and `+
			`strings.Count(plain.String(), "ok\n") = 2`, plain.String())
	}
	var read struct {
		OK   bool
		Rows []row
	}
	if err := json.Unmarshal(structured.Bytes(), &read); err != nil || read.OK || len(read.Rows) != 5 {
		t.Errorf("error %v, read = %+v; want no error, not read.OK and len(read.Rows) = 5", err, read)
	}
}

func TestMedian(t *testing.T) {
	for want, list := range map[float64][]float64{0: nil, 2: {9, 1, 2}, 2.5: {1, 2, 3, 100}} {
		if got := median(list); got != want {
			t.Errorf("%v: median(list) = %v, want %v", list, got, want)
		}
	}
}

// The loads are what Claude Code really sends, in the sizes promised.
func TestPayloads(t *testing.T) {
	b := &bench{root: "../.."}
	for name, path := range map[string][]string{"Notification.idle_prompt": {"message"},
		"PreToolUse.Bash": {"tool_input", "description"}} {
		payload, err := b.stretched(name, path...)
		if err != nil || len(payload) != clientPayload || !json.Valid(payload) {
			t.Errorf("%s: %d bytes, %v; want no error, len(payload) == clientPayload and json.Valid(payload)",
				name, len(payload), err)
		}
	}
	m, err := b.newMix("1", &sandbox.Home{Project: "/h/project"})
	if err != nil {
		t.Fatal(err)
	}
	ids, sessions := map[string]bool{}, map[string]bool{}
	n := uint64(4 * len(m.steps))
	for i := range n {
		r := m.request(i)
		var has struct {
			Session string `json:"session_id"`
			Event   string `json:"hook_event_name"`
		}
		if err := json.Unmarshal(r.Payload, &has); err != nil || has.Event != r.Event {
			t.Errorf("%s: has = %+v, error %v; want no error and has.Event = %q", r.Event, has, err, r.Event)
		}
		ids[r.ID], sessions[has.Session] = true, true
	}
	if uint64(len(ids)) != n || len(sessions) != 2 {
		t.Errorf("%d ids, %d sessions; want uint64(len(ids)) == n and len(sessions) == 2", len(ids), len(sessions))
	}
}
