package tshook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// What a hook sees of a tool call is the same in the short form
// and in the long one, for everything that agents were heard to say.
func TestFormsAgree(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("see.ts", `export default (h: any) => h.on("tool_call", async (e: any, ctx: any) => ({
  block: true,
  reason: JSON.stringify([e, Object.keys(e), e.native, ctx.cwd, ctx.agent, ctx.sessionId, ctx.sessionFile, ctx.hasUI, ctx.mode, ctx.model, ctx.isIdle(), ctx.signal.aborted, ctx.sessionManager.getSessionFile(), ctx.sessionManager.getSessionName()]),
}));`)
	g, err := m.acquireLoading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer g.busy.Done()
	seen := map[string]int{}
	for _, a := range agent.Builtin().Agents() {
		files, err := filepath.Glob(filepath.Join("../../agent/testdata/fixtures", a.Name, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, native := filepath.Base(file), ""
			for _, word := range []string{"pascal.", "event.", "hook."} {
				name = strings.TrimPrefix(name, word)
			}
			for _, e := range a.Events {
				if strings.HasPrefix(name, e.Name+".") && len(e.Name) > len(native) {
					native = e.Name
				}
			}
			ev := agent.Builtin().Decode(agent.Input{ID: "1", Agent: a.Name, Event: native, Payload: payload,
				Time: time.UnixMilli(1_700_000_000_000)})
			if ev.Tool == nil || ev.Kind != event.ToolBefore && ev.Kind != event.UserQuestion &&
				ev.Kind != event.UserPlan {
				continue
			}
			what := a.Name + "/" + filepath.Base(file)
			for _, one := range pi.Subjects(ev.Tool) { // the plain way to show a command and the thorough one
				if c := pi.PlainCommand(ev.Tool, one); c != nil {
					thorough := pi.CallFor(ev.Tool, one, false)
					if c.Name != thorough.Name || !reflect.DeepEqual(pi.ParseObject(c.Input()), thorough.Shown) {
						t.Errorf("%s: %s %s, and thoroughly %s %v; want c.Name == thorough.Name and "+
							"pi.ParseObject(c.Input()) equal to thorough.Shown",
							what, c.Name, c.Input(), thorough.Name, thorough.Shown)
					}
					seen["plain"]++
				}
			}
			about := m.gatherSubject(&ev)
			events, err := g.presenter.presentEvent(about)
			if err != nil || !canUseShortForm(g, about, events) {
				continue
			}
			call := &hook.Call{Event: &ev, Hook: &hook.Registration{}, Carries: agent.Builtin().CarriesFor(&ev)}
			answered := func(kind, text string) string {
				id, answer := g.runner.Ask(kind, text, func(id int) {
					g.mu.Lock()
					g.asked[id] = &pendingEvent{call: call, ctx: t.Context(), cancel: func() {}}
					g.mu.Unlock()
				})
				defer func() {
					g.mu.Lock()
					delete(g.asked, id)
					g.mu.Unlock()
				}()
				o := <-answer
				var outcomes []*outcome
				if err := json.Unmarshal(o.Value, &outcomes); o.Err != nil || err != nil || len(outcomes) != 1 {
					t.Fatalf("%s: o.Err = %v, error %v, o.Value = %s; want no error, no error and len(outcomes) = 1",
						what, o.Err, err, o.Value)
				}
				return string(outcomes[0].Result)
			}
			short, long := answered("call", m.shortForm(about, &events[0])),
				answered("event", m.fullRequest(g, about, events))
			if short != long || !strings.Contains(short, `"reason"`) {
				t.Errorf("%s:\nshort %s\nlong  %s; want short == long and `\"reason\"` in short", what, short, long)
			}
			seen[a.Name]++
		}
	}
	if len(seen) < 8 || seen["plain"] < 8 {
		t.Errorf("too little was compared: %v", seen)
	}
	t.Log(seen)
}
