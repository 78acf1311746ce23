package start

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// newStarter returns a machine with one agent's program on PATH and nothing installed.
func newStarter(t *testing.T, programs ...string) *Starter {
	t.Helper()
	base := t.TempDir()
	bin := filepath.Join(base, "bin")
	for _, name := range append(programs, "hookmux", "hookmux-hook") {
		if err := os.MkdirAll(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"PATH": bin, "HOME": base, "HOOKMUX_RUNTIME_DIR": filepath.Join(base, "run")}
	s := &Starter{
		Catalogue: agent.Builtin(), Cwd: base, Project: base, Version: "1.0.0",
		Getenv: func(name string) string { return env[name] },
		Programs: func() (string, string, error) {
			return filepath.Join(bin, "hookmux"), filepath.Join(bin, "hookmux-hook"), nil
		},
		Host:       func() (*install.Host, error) { return nil, errors.New("not needed") },
		PrintNotes: func([]string) {},
	}
	s.Dirs, s.DirsError = paths.Find(s.Getenv)
	if s.DirsError != nil {
		t.Fatalf("s.DirsError = %v, want no error", s.DirsError)
	}
	return s
}

func TestPlan(t *testing.T) {
	s := newStarter(t, "claude")
	plan, err := s.Plan("claude", []string{"-p", "hi"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if !plan.Injected || filepath.Base(plan.Program) != "claude" || plan.Argv[0] != plan.Program {
		t.Errorf("the plan runs %s as %q (injected %v), want claude with hooks", plan.Program, plan.Argv, plan.Injected)
	}
	if !slices.Contains(plan.Argv, "hi") || !strings.Contains(strings.Join(plan.Argv, " "), "hookmux-hook") {
		t.Errorf("the command line is %q, want the user's words and hooks", plan.Argv)
	}
	byPath, err := s.Plan(plan.Program, []string{"-p", "hi"}, false)
	if err != nil || !slices.Equal(byPath.Argv, plan.Argv) {
		t.Errorf("by its path the plan is %+v (%v), want that by name: %q", byPath, err, plan.Argv)
	}
	// Without folders an agent is started all the same.
	s.DirsError = errors.New("no home")
	if plan, err := s.Plan("claude", nil, false); err != nil || !plan.Injected {
		t.Errorf("without folders the plan is %+v (%v), want one with hooks", plan, err)
	}
}

func TestPlanFails(t *testing.T) {
	s := newStarter(t)
	for _, c := range []struct {
		name string
		kind Kind
		text string
	}{
		{"nobody", UnknownAgent, "nobody"},
		{"/opt/x/nobody", Usage, "there's no program at /opt/x/nobody"},
		{"claude", NotFound, "claude"},
	} {
		_, err := s.Plan(c.name, nil, false)
		var got *Error
		if !errors.As(err, &got) || got.Kind != c.kind || !strings.Contains(got.Text, c.text) {
			t.Errorf("%s: the error is %#v, want kind %d with %q", c.name, err, c.kind, c.text)
		}
	}
}
