package journal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

func TestOutboxHasWhatWasStoredWhileItIsOn(t *testing.T) {
	on := false
	j, err := Open(filepath.Join(t.TempDir(), "j.db"), Options{Outbox: func() bool { return on }})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	row := func(id string) Item { return Item{Row: &Row{ID: id, Time: time.Now(), Body: []byte(`{}`)}} }
	outcome := func(id, verdict string) Item {
		return Item{Outcome: &Outcome{ID: id, Verdict: verdict, Time: time.Now()}}
	}
	write := func(items ...Item) {
		t.Helper()
		if _, _, err := j.Write(items); err != nil {
			t.Fatal(err)
		}
	}
	want := func(wanted ...string) []Queued {
		t.Helper()
		list, _, err := j.Outbox(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range list {
			text := q.ID + ":again"
			if q.Event != nil {
				text = q.ID
				if q.Event.Outcome != nil {
					text += "=" + q.Event.Outcome.Verdict
				}
			}
			got = append(got, text)
		}
		if fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("the outbox has %v, want %v", got, wanted)
		}
		return list
	}
	write(row("before"))
	want()
	on = true
	write(row("a"), outcome("a", "deny"), row("b"))
	write(row("b"))                   // stored before: nothing new
	write(outcome("before", "allow")) // of an event from before
	write(outcome("a", "allow"))
	list := want("a=allow", "a:again", "b", "before=allow", "a:again")
	if err := j.TrimOutbox(list[2].Seq); err != nil {
		t.Fatal(err)
	}
	want("before=allow", "a=allow")
	if rows, last, err := j.OutboxSize(t.Context()); rows != 2 || last != list[4].Seq || err != nil {
		t.Errorf("size %d, last %d, error %v; want 2 and %d", rows, last, err, list[4].Seq)
	}
	if err := j.TrimOutbox(list[4].Seq); err != nil {
		t.Fatal(err)
	}
	want()
	on = false
	write(row("c"))
	want()
}
