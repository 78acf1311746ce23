package verify

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// TestRealRunAndResumeHeadless is for agents whose sessions at the terminal
// are not taken up here: started by `hookmux run` their events come although
// no file has hooks, and the words of the catalogue bring a conversation back.
func TestRealRunAndResumeHeadless(t *testing.T) {
	const later = "Now go on"
	for _, name := range []string{"codebuddy"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			st.Model.SetScenario(st.Run, model.Scenario{Steps: []model.Step{{Say: testbed.LastWords}},
				Named: map[string][]model.Step{"again": {{Say: "I went on."}}}})
			if err := st.StartDaemon(nil); err != nil {
				t.Fatal(err)
			}
			in := st.PlainCommand()
			in.Argv = []string{filepath.Join(st.Bin, "hookmux"), "run", in.Argv[len(in.Argv)-1]}
			if err := st.RunHeadless(context.Background(), in,
				st.FreeCommand("Remember the word hookmux-verify-heliotrope and run it")); err != nil {
				t.Fatal(err)
			}
			sessions := func() map[string]int {
				ids := map[string]int{}
				for _, x := range st.Watcher.AllSeen() {
					if x.Event.Kind == event.TurnEnd {
						ids[x.Event.Session]++
					}
				}
				return ids
			}
			if len(sessions()) != 1 {
				t.Fatalf("turns ended of %v; %s", sessions(), st.Evidence.Summary())
			}
			for id := range sessions() {
				var args []string
				for _, word := range st.Agent.Resume.Argv[1:] {
					args = append(args, strings.ReplaceAll(word, "{session}", id))
				}
				args = append(args, realagents.Headless(name, later+" "+model.Mark("again"))...)
				if err := st.RunHeadless(context.Background(), in, args); err != nil {
					t.Fatal(err)
				}
				if got := sessions(); len(got) != 1 || got[id] != 2 {
					t.Errorf("turns ended of %v, want two of %s", got, id)
				}
			}
			whole := false
			for _, r := range st.Model.Requests(st.Run) {
				b, _ := json.Marshal(r)
				whole = whole || strings.Contains(string(b), "heliotrope") && strings.Contains(string(b), later)
			}
			if !whole {
				t.Error("the model did not hear the old words with the new ones")
			}
		})
	}
}
