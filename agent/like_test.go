package agent

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// An agent that is like another says and hears as that one does, wherever its
// file stands; where its own files are and how it is recognised it says itself.
func TestLikeAnotherAgent(t *testing.T) {
	model, _ := Builtin().Agent("opencode")
	kilo, ok := Builtin().Agent("kilo")
	if !ok {
		t.Fatal("kilo is not in the catalogue, want it there")
	}
	if kilo.Dialect != model.Dialect || len(kilo.Events) != len(model.Events) || len(kilo.Tools) != len(model.Tools) ||
		!reflect.DeepEqual(kilo.Inbox, model.Inbox) {
		t.Errorf("kilo has dialect %s, %d events, %d tools; want what opencode has: %s, %d, %d", kilo.Dialect,
			len(kilo.Events), len(kilo.Tools), model.Dialect, len(model.Events), len(model.Tools))
	}
	for _, own := range [][]string{kilo.Marks.Programs, kilo.Marks.Paths, kilo.Marks.Environment} {
		for _, mark := range own {
			if strings.Contains(strings.ToLower(mark), "opencode") {
				t.Errorf("kilo is recognised by %q, want marks of its own", mark)
			}
		}
	}
	if kilo.Tried == model.Tried || kilo.Install.Places[0].Path == model.Install.Places[0].Path {
		t.Errorf("kilo was tried at %s and written at %s, want its own version and place", kilo.Tried,
			kilo.Install.Places[0].Path)
	}
}

func TestLikeNobody(t *testing.T) {
	for _, like := range []string{"nobody", "added"} {
		c, problems := LoadFiles([]File{{Name: "added.yaml", Data: []byte("name: added\nlike: " + like + "\n")}})
		if len(problems) != 1 || problems[0].Line != 2 || !strings.Contains(problems[0].Text, "no other agent") {
			t.Errorf("like %s: problems %v, want one in line 2 that says it is no other agent", like, problems)
		}
		if _, there := c.Agent("added"); there {
			t.Errorf("like %s: the agent was added, want it left out", like)
		}
	}
}

// Kilo's processes carry OpenCode's variables, too.
func TestKiloIsNotTakenForOpenCode(t *testing.T) {
	environment := map[string]string{"OPENCODE": "1", "KILO": "1", "KILO_PID": "7", "AGENT": "1"}
	got, _, ok := Builtin().BelowAgent(func(name string) string { return environment[name] })
	if !ok || got.Name != "kilo" {
		t.Errorf("a process with Kilo's and OpenCode's variables is below %v, want kilo", got)
	}
}

// omp's commands carry Claude Code's variable, too.
func TestOmpIsNotTakenForClaude(t *testing.T) {
	environment := map[string]string{"CLAUDECODE": "1", "OMPCODE": "1"}
	got, _, ok := Builtin().BelowAgent(func(name string) string { return environment[name] })
	if !ok || got.Name != "omp" {
		t.Errorf("a process with omp's and Claude Code's variables is below %v, want omp", got)
	}
}

// omp gives a handler 30 seconds, and refuses a call whose handler takes longer: hookmux gives up before.
func TestOmpIsAnsweredBeforeItsLimit(t *testing.T) {
	omp, _ := Builtin().Agent("omp")
	for _, e := range omp.Events {
		if e.Answer == "" || e.Install != InstallDefault {
			continue
		}
		if limit := omp.InstallTimeout(e.Name); limit >= time.Duration(e.Timeout) || limit <= 0 {
			t.Errorf("%s: hookmux waits %v, want less than omp's %v", e.Name, limit, time.Duration(e.Timeout))
		}
	}
}

func TestNobodyAddsAProtocol(t *testing.T) {
	for _, name := range []string{"added", "claude"} {
		_, problems := LoadFiles([]File{{Name: "added.yaml", Data: []byte("name: " + name + "\nprotocol: true\n")}})
		if len(problems) != 1 || problems[0].File != "added.yaml" || problems[0].Line != 2 ||
			!strings.Contains(problems[0].Text, "hookmux's own entries") {
			t.Errorf("%s with protocol: problems %v, want one in line 2 of added.yaml that refuses it", name, problems)
		}
	}
}
