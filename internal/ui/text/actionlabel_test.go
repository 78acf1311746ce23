package text

import (
	"encoding/json"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// The record of what hooks did can be read without --json.
func TestActionLabels(t *testing.T) {
	for raw, want := range map[string]string{
		`{"hook":"ts:a.ts","action":"write","detail":"/p/note"}`:                                  "ts:a.ts write /p/note",
		`{"hook":"ts:a.ts","action":"exec","detail":"git stash","times":3,"error":"exit code 1"}`: "ts:a.ts exec git stash (3 times): exit code 1",
		`{}`: "hook",
	} {
		ev := event.Event{Agent: "hookmux", Kind: event.Other, Native: "hook", Raw: json.RawMessage(raw)}
		if got := Label(&ev); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
