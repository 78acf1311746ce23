package install

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Commands come behind what is there, in every shape, and replace nothing.
func TestAddWithoutRecordAppends(t *testing.T) {
	for _, a := range installable() {
		if a.Install.Way == agent.WayPlugin {
			if err := newHost(t).AddWithoutRecord(a, User, nil); err == nil {
				t.Errorf("%s takes no commands, and nobody says so", a.Name)
			}
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			h := newHost(t)
			if h.Has(a) {
				t.Error("an empty home has hooks")
			}
			p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
			if !h.Has(a) {
				t.Error("installed, and not seen")
			}
			event := p.Agents[0].Events[0]
			for _, program := range []string{"/nowhere/one", "/nowhere/two"} {
				if err := h.AddWithoutRecord(a, User, []hookentry.Command{{Program: program, Agent: a.Name, Event: event,
					Seconds: 2}}); err != nil {
					t.Fatal(err)
				}
			}
			text := read(t, p.Agents[0].Path)
			if a.Install.Way == agent.WayScripts { // one program in each file
				for _, end := range a.Install.Places[0].Ends[:2] {
					text += read(t, p.Agents[0].Path+end)
				}
			}
			ours, one, two := strings.Index(text, Shim(h.Dirs)), strings.Index(text, "/nowhere/one"),
				strings.Index(text, "/nowhere/two")
			if ours < 0 || one < ours || two < one {
				t.Errorf("%d %d %d: text = %s, want ours at least 0, one at least %v and two at least %v",
					ours, one, two, text, ours, one)
			}
			for _, s := range h.ReadSites(a) {
				if s.Err != nil {
					t.Errorf("s.Err = %v, want no error", s.Err)
				}
			}
		})
	}
}
