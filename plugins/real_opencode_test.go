package plugins_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/plugins"
)

// server is a running `opencode serve`: what a person does at the terminal,
// a test does over HTTP.
type server struct {
	*realTestBed
	url string
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

func startServer(t *testing.T, s *realTestBed) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := realagents.Command(ctx, s.In, s.Env, s.Project, "serve", "--port", "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				url <- m[1]
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was told to end
	})
	select {
	case u := <-url:
		return &server{s, u}
	case <-time.After(90 * time.Second):
		t.Fatal("opencode serve does not listen")
		return nil
	}
}

func (s *server) post(t *testing.T, path string, body any) map[string]any {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequest(http.MethodPost, s.url+path, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode >= 300 {
		t.Fatalf("%s: r.Status = %s, error %v, text = %s; want no error and r.StatusCode less than 300",
			path, r.Status, err, text)
	}
	var got map[string]any
	_ = json.Unmarshal(text, &got) // some answer true
	return got
}

// session opens one in which commands need leave when ask is set.
func (s *server) session(t *testing.T, ask bool) string {
	t.Helper()
	body := map[string]any{}
	if ask {
		body["permission"] = []any{map[string]any{"permission": "bash", "pattern": "*", "action": "ask"}}
	}
	id, _ := s.post(t, "/session", body)["id"].(string)
	if id == "" {
		t.Fatal(`no session; want id != ""`)
	}
	return id
}

func (s *server) prompt(t *testing.T, session, words string) {
	t.Helper()
	s.post(t, "/session/"+session+"/prompt_async",
		map[string]any{"parts": []any{map[string]any{"type": "text", "text": words}}})
}

func (s *server) ends(session string) int {
	n := 0
	for _, ev := range s.events(event.TurnEnd) {
		if ev.Session == session {
			n++
		}
	}
	return n
}

// TestRealOpenCodeServer plays what `opencode run` has no place for, on one
// server because each takes long to start.
func TestRealOpenCodeServer(t *testing.T) {
	st := newRealTestBed(t, "opencode", plugins.Options{})
	call := func(c string) []model.Step {
		return []model.Step{{Calls: []model.ToolCall{st.Agent.Shell.Call(c)}}, {Say: "Over."}}
	}
	st.Model.SetScenario(st.Run, model.Scenario{Named: map[string][]model.Step{
		"held":      {{Calls: []model.ToolCall{model.Call("write", map[string]any{"filePath": st.Project + "/ran-held", "content": "x"})}}, {Say: "Over."}},
		"permitted": call("touch ran-permitted"),
		"forbidden": call("touch ran-forbidden"),
		"plain":     {{Say: "Over."}},
		"after":     call("touch ran-after"),
		"parent": {{Calls: []model.ToolCall{model.Call("task", map[string]any{
			"description": "Scripted helper", "prompt": model.Mark("child"), "subagent_type": "general"})}}, {Say: "Over."}},
		"child": call("touch ran-denied"),
	}})
	st.hold = make(chan struct{})
	st.startDaemon(t)
	s := startServer(t, st)

	t.Run("permissions", func(t *testing.T) {
		id := s.session(t, true)
		s.prompt(t, id, model.Mark("permitted"))
		eventually(t, "the permitted turn ends", func() bool { return s.ends(id) == 1 })
		if !s.ran("permitted") {
			t.Error("allow: the tool did not run")
		}
		s.prompt(t, id, model.Mark("forbidden"))
		eventually(t, "the forbidden turn ends", func() bool { return s.ends(id) == 2 })
		if s.ran("forbidden") || !s.Model.Saw(s.Run, "forbidden-by-hookmux") {
			t.Errorf("deny: ran %v, told %v", s.ran("forbidden"), s.Model.Saw(s.Run, "forbidden-by-hookmux"))
		}
		if n := len(s.events(event.PermissionRequest)); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
		if n := len(s.events(event.PermissionResolved)); n != 2 {
			t.Errorf("%d resolved, want 2", n)
		}
	})

	t.Run("abort", func(t *testing.T) {
		id := s.session(t, false)
		s.prompt(t, id, model.Mark("held"))
		waits := func() bool {
			for _, ev := range s.events(event.ToolBefore) {
				if ev.Session == id {
					return true
				}
			}
			return false
		}
		eventually(t, "the call waits", waits)
		s.post(t, "/session/"+id+"/abort", map[string]any{})
		eventually(t, "the turn ends", func() bool { return s.ends(id) == 1 })
		close(s.hold) // the hook lets go: too late
		time.Sleep(2 * time.Second)
		if s.ran("held") {
			t.Error("the tool ran after the abort")
		}
		for _, ev := range s.events(event.TurnEnd) {
			if ev.Session == id && !strings.Contains(ev.Detail, "Abort") {
				t.Errorf(`ended as %q; want ev.Session != id or "Abort" in ev.Detail`, ev.Detail)
			}
		}
		if n := s.ends(id); n != 1 {
			t.Errorf("%d ends of one turn", n)
		}
		// The next prompt is a turn like any other.
		s.prompt(t, id, model.Mark("after"))
		eventually(t, "the next turn ends", func() bool { return s.ends(id) == 2 })
		if !s.ran("after") {
			t.Error("the turn after an abort could not use tools")
		}
	})

	t.Run("subagent", func(t *testing.T) {
		id := s.session(t, false)
		s.prompt(t, id, model.Mark("parent"))
		eventually(t, "the turn ends", func() bool { return s.ends(id) == 1 })
		for _, kind := range []event.Kind{event.SubagentStart, event.SubagentEnd} {
			if got := s.events(kind); len(got) != 1 || got[0].Subagent == nil || got[0].Subagent.Parent != id ||
				got[0].Subagent.Type != "general" {
				t.Errorf(`%s: got %+v, want 1 of them, got[0].Subagent other than nil, got[0].Subagent.Parent = %q `+
					`and got[0].Subagent.Type = "general"`, kind, got, id)
			}
		}
		if s.ran("denied") {
			t.Error("a subagent's call ran although it was refused")
		}
	})

	t.Run("keep going", func(t *testing.T) {
		id := s.session(t, false)
		s.mu.Lock()
		s.keep = 1
		s.mu.Unlock()
		s.prompt(t, id, model.Mark("plain"))
		eventually(t, "both turns end", func() bool { return s.ends(id) == 2 })
		if !s.Model.Saw(s.Run, "keep-going-by-hookmux") {
			t.Error("the model was not told to go on")
		}
	})
}
