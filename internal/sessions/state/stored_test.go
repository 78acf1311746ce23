package state

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Session logs outlive the program that wrote them, so the
// names on disk stay whatever the fields are called here. The file was written
// by the version that stored sessions first.
func TestStoredNames(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "stored.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s Session
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		t.Fatalf("a stored session cannot be read: %v", err)
	}
	m := s.Machine
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"base", m.Base, Running},
		{"calls", len(m.Calls), 1},
		{"leave", m.Calls[0].Approved, true},
		{"done", len(m.Finished), 2},
		{"early", m.Finished[1].Early, true},
		{"tombs", len(m.ClosedTurns), 2},
		{"depth", m.NestedTurns, 1},
		{"fault", m.ModelError, "overloaded"},
		{"spoke", m.MaybeFinished, true},
		{"said", m.Activity, "Compacting"},
		{"turnProcess", m.TurnProcess, 4711},
		{"turnStart", m.TurnStart, uint64(99)},
		{"seq", m.Seq, uint64(17)},
		{"asks", len(s.Asks), 1},
		{"terminal", s.Terminal, "t1"},
	} {
		if c.got != c.want {
			t.Errorf("%s was read as %v, expected %v", c.name, c.got, c.want)
		}
	}
	again, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, text); err != nil {
		t.Fatal(err)
	}
	if want.String() != string(again) {
		t.Errorf("stored again it reads\n%s\nexpected\n%s", again, want.String())
	}
	b := NewSessions()
	b.Load([]*Session{&s}, time.Unix(1700000100, 0), func(*Session) Liveness { return Alive })
	if got, ok := b.Get(s.Key); !ok || got.Status != WaitingForYou || got.Machine.Base != Running {
		t.Errorf("loaded as %+v, %v; expected a running session that waits", got, ok)
	}
}
