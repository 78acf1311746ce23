package accepted

import (
	"os"
	"path/filepath"
	"testing"
)

func (h *home) wantAgents(s *Store, want ...string) {
	h.t.Helper()
	var got []string
	for _, c := range s.AgentsInForce() {
		got = append(got, filepath.Base(c.Path)+"="+string(c.Data))
	}
	if len(got) != len(want) {
		h.t.Fatalf("in force are %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			h.t.Errorf("in force are %q, want %q", got, want)
		}
	}
}

// Descriptions of agents count as they were accepted, whatever becomes of the
// files, and not at all where nobody accepted them.
func TestAgentsCountAsAccepted(t *testing.T) {
	h := newHome(t)
	file := filepath.Join(h.options.Config, "agents", "mine.yaml")
	h.write(file, "one")
	s, _ := h.open()
	h.wantAgents(s)
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	h.wantAgents(s, "mine.yaml=one")
	h.write(file, "two")
	h.write(filepath.Join(h.options.Config, "agents", "new.yaml"), "new")
	h.wantAgents(s, "mine.yaml=one")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.wantAgents(s, "mine.yaml=one")

	// A store that only reads gives the same.
	options := h.options
	options.ReadOnly = true
	h.wantAgents(Open(options), "mine.yaml=one")

	// What was kept and changed on disk is not believed.
	kept := filepath.Join(h.options.State, contentsDir, hashOf([]byte("one")))
	h.write(kept, "evil")
	h.wantAgents(Open(options))
	h.write(kept, "one")

	// A record that is gone lets nothing count.
	if err := os.Remove(filepath.Join(h.options.State, recordFile)); err != nil {
		t.Fatal(err)
	}
	h.wantAgents(Open(options))
}
