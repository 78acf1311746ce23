package tshook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// unasked are events of pi that nobody recorded, because our extension does
// not send them: they are made up, so that their handlers run once.
var unasked = map[string]string{
	"turn_start": `"turnIndex":0,"timestamp":1`, "context": `"messages":[]`, "message_end": `"message":{"role":"assistant","content":[]}`,
	"message_start": `"message":{"role":"assistant","content":[]}`, "resources_discover": `"cwd":".","reason":"startup"`,
	"before_provider_request": `"payload":{"model":"x","messages":[]}`, "after_provider_response": `"status":200,"headers":{}`,
	"provider_stream_event": `"provider":"x","api":"x","model":"x","data":{}`,
	"model_select":          `"model":{"provider":"x","id":"y"},"previousModel":{"provider":"x","id":"z"},"source":"set"`,
}

// recorded are pi's own payloads of an event, in the given folder.
func recorded(t *testing.T, name, work string) []string {
	t.Helper()
	fixtures := filepath.Join("..", "..", "agent", "testdata", "fixtures", "pi")
	exact, _ := filepath.Glob(filepath.Join(fixtures, name+".json"))
	more, _ := filepath.Glob(filepath.Join(fixtures, name+".*.json"))
	var list []string
	for _, path := range append(exact, more...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.ReplaceAll(string(text), "/home/user/project", work))
	}
	if fields, made := unasked[name]; made {
		list = append(list, fmt.Sprintf(`{"event":{"type":%q,%s},"ctx":{"sessionId":"made-up","cwd":%q,"mode":"tui","hasUI":true}}`, name, fields, work))
	}
	return list
}

// workTree returns a repository with something uncommitted in it: examples look at
// it and commit.
func workTree(t *testing.T, s *harness) string {
	t.Helper()
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "x")
		t.Setenv("GIT_"+who+"_EMAIL", "x@example.com")
	}
	s.file("work/a.txt", "one")
	s.file("work/.pi/settings.json", "{}")
	work := filepath.Join(s.dir, "work")
	if out, err := exec.Command("git", "-C", work, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	return work
}

// TestRealExamplesRun shows every example each event it listens to, as pi sent
// it and as Claude Code's and Codex's calls are shown. No handler may fail,
// except where the example asks for what only pi has.
func TestRealExamplesRun(t *testing.T) {
	eras := []struct {
		pkg, version, folder string
		fails                map[string]string // in part of what it says
	}{
		// It watches a file that somebody must have made, in Node as here.
		{"@mariozechner/pi-coding-agent", "0.27.9", "hooks", map[string]string{"file-trigger.ts": "ENOENT"}},
		{"@earendil-works/pi-coding-agent", "1.5.0", "extensions", map[string]string{"file-trigger.ts": "ENOENT"}},
	}
	for _, era := range eras {
		t.Run(era.version, func(t *testing.T) {
			dir := examples(t, era.pkg, era.version, era.folder)
			t.Setenv("HOME", t.TempDir())
			s := newHarness(t, nil)
			work := workTree(t, s)
			files, shown, failing := 0, 0, []string{}
			for _, path := range entryPoints(t, dir) {
				name, _ := filepath.Rel(dir, path)
				m, err := s.engine.Load(context.Background(), Source{Path: path})
				if err != nil {
					continue // TestRealExamplesLoad has those
				}
				files++
				n, troubles := s.drive(m, work)
				shown += n
				if len(troubles) == 0 {
					continue
				}
				failing = append(failing, name)
				for _, said := range troubles {
					if why, known := era.fails[name]; !known || !strings.Contains(said, why) {
						t.Errorf("%s: said = %s, want known and %q in it", name, said, why)
					}
				}
			}
			for name := range era.fails {
				if _, err := os.Stat(trigger); err != nil && !slices.Contains(failing, name) {
					t.Errorf("%s fails no more", name)
				}
			}
			t.Logf("%d hooks were shown %d events", files, shown)
		})
	}
}

// drive shows a hook every event it listens to and gives what went wrong.
func (s *harness) drive(m *Hook, work string) (shown int, troubles []string) {
	s.mu.Lock()
	s.problems = nil
	s.mu.Unlock()
	var events []*event.Event
	for _, name := range m.Info().Events {
		today := name
		if name == "session" {
			today = "session_*"
		}
		for _, payload := range recorded(s.t, today, work) {
			ev := s.native("pi", payloadType(payload), payload)
			events = append(events, ev)
		}
	}
	for _, command := range []string{"ls -l", "sudo ls"} {
		for _, agentName := range []string{"claude", "codex"} {
			for _, kind := range []string{"session_start", "input", "tool_call", "tool_result", "agent_end",
				"session_shutdown"} {
				ev, err := s.engine.Sample(agentName, kind, work,
					pi.Encode(pi.Object{"command": command, "prompt": "do it", "output": "done"}))
				if err != nil {
					s.t.Fatal(err)
				}
				events = append(events, ev)
			}
		}
	}
	for _, ev := range events {
		s.mu.Lock()
		s.answers = []Answer{{Confirmed: true, Value: "Yes"}, {Cancelled: true}, {Confirmed: true, Value: "Yes"}}
		s.mu.Unlock()
		if _, err := s.within(m, ev, 20*time.Second); err != nil {
			troubles = append(troubles, ev.Agent+" "+ev.Native+": "+err.Error())
		}
		shown++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.problems {
		troubles = append(troubles, s.problems[i].Event+" "+s.problems[i].Error())
	}
	return shown, troubles
}

// payloadType is pi's name of the event in a payload.
func payloadType(payload string) string {
	e, _ := pi.ParseObject([]byte(payload))["event"].(pi.Object)
	return asString(e["type"])
}

var fenced = regexp.MustCompile("(?s)```(?:typescript|ts)\n(.*?)```")

// documentation is pi's own of the hook era. HOOKMUX_PI_HOOKS_DOC names another
// edition.
func documentation(t *testing.T) string {
	t.Helper()
	path := os.Getenv("HOOKMUX_PI_HOOKS_DOC")
	if path == "" {
		path = fromPackage(t, "@mariozechner/pi-coding-agent", "0.27.9", filepath.Join("docs", "hooks.md"))
	}
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// TestRealDocumentation runs the hooks that the documentation prints: every
// block that exports a factory.
func TestRealDocumentation(t *testing.T) {
	doc := documentation(t)
	t.Setenv("HOME", t.TempDir())
	s := newHarness(t, nil)
	work := workTree(t, s)
	ran := 0
	for _, block := range fenced.FindAllStringSubmatch(doc, -1) {
		if !strings.Contains(block[1], "export default") {
			continue
		}
		ran++
		name := fmt.Sprintf("sample%d.ts", ran)
		m := s.load(name, block[1])
		if m.Info().Generation != pi.Hooks1 {
			t.Errorf("%s: taken for %s, want pi.Hooks1", name, m.Info().Generation)
		}
		shown, troubles := s.drive(m, work)
		t.Logf("%s listens to %v, was shown %d events", name, m.Info().Events, shown)
		for _, said := range troubles {
			// A watched file that nobody made; one port for several sessions.
			if !strings.Contains(said, "ENOENT") && !strings.Contains(said, "EADDRINUSE") {
				t.Errorf(`%s: said = %s, want not !strings.Contains(said, "ENOENT") && !strings.Contains(said, `+
					`"EADDRINUSE")`, name, said)
			}
		}
		s.engine.Unload(m.Path()) // a server's port is free again
	}
	if ran < 8 { // 0.27.9 prints eight, the edition of two days before nine
		t.Errorf("only %d samples; want ran >= 8", ran)
	}
}
