package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
)

// What sleeps is listed, shown, renamed and taken up by the next event as if it
// were awake, and is still there in the next hub.
func TestSleepingSessions(t *testing.T) {
	w := open(t)
	for i := range 8 {
		id := fmt.Sprint("s", i)
		w.tell("claude", "UserPromptSubmit", id, map[string]any{"prompt": "Title " + id})
		if i%2 == 0 {
			w.tell("claude", "Stop", id, map[string]any{"last_assistant_message": "Done."})
		}
	}
	all := func() string {
		list := w.sessions()
		for i := range list {
			if list[i].Turn != nil {
				list[i].Turn.Seconds = 0 // of one that goes on it grows
			}
		}
		b, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	awake := all()
	if n := w.h.sessions.ReleaseMemory(0); n > 4 { // what goes on after an answer may wake one
		t.Fatalf("%d are awake; want n <= 4", n)
	}
	if asleep := all(); asleep != awake {
		t.Errorf("awake  %s\nasleep %s; want asleep == awake", awake, asleep)
	}
	w.statusIs("s0", "success")
	w.statusIs("s1", "running")
	if _, err := w.Client.RenameSession(context.Background(), "s2", "mine"); err != nil {
		t.Fatal(err)
	}
	w.tell("claude", "Stop", "s1", nil)
	w.statusIs("s1", "success")
	if d := w.session("mine"); d.ID != "s2" || d.Turn == nil || d.Turn.Summary != "Done." {
		t.Errorf(`d = %+v, want d.ID = "s2", d.Turn other than nil and d.Turn.Summary = "Done."`, d)
	}
	w.h.sessions.ReleaseMemory(0)
	w.Down()
	w.Up()
	if list := w.sessions(); len(list) != 8 {
		t.Errorf("%d sessions are left", len(list))
	}
	if d := w.session("mine"); d.ID != "s2" || d.Turns != 1 {
		t.Errorf(`d = %+v, want d.ID = "s2" and d.Turns = 1`, d)
	}
}
