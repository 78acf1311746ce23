package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// What is kept arrives on another file system, too.
func TestKeepCopiesAcrossFileSystems(t *testing.T) {
	base, into := filepath.Join(t.TempDir(), "stage"), t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "home/.agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "home/.agent/log"), []byte("text"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("log", filepath.Join(base, "home/.agent/link")); err != nil {
		t.Fatal(err)
	}
	elsewhere := func(string, string) error { return errors.New("another file system") }
	to := moveKept(base, into, "agent-act", elsewhere)
	if b, err := os.ReadFile(filepath.Join(to, "home/.agent/link")); to != filepath.Join(into, "agent-act") ||
		err != nil || string(b) != "text" {
		t.Errorf(`to = %s, b = %q, error %v; want to = %q, no error and string(b) = "text"`,
			to, b, err, filepath.Join(into, "agent-act"))
	}
	if _, err := os.Lstat(base); err == nil {
		t.Error("it is still where it was, too")
	}
	if gone := filepath.Join(into, "gone"); moveKept(gone, into, "x", elsewhere) != gone {
		t.Error("what cannot be moved stays where it is")
	}
}

// A record is whole or not there, and never of a few checks.
func TestRecordIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	r := &AgentReport{Agent: "codex", Title: "Codex", Version: "1"}
	if err := r.record(dir, "", []*testbed.Evidence{{Run: "observe"},
		{Run: "term", Err: errors.New("did not start")}}); err == nil || !strings.Contains(err.Error(), "term") {
		t.Errorf(`error %v, want an error and "term" in err.Error()`, err)
	}
	// One of the two cannot be put into place.
	if err := os.MkdirAll(filepath.Join(dir, "codex.json", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.record(dir, "", nil); err == nil {
		t.Error("written over a folder")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left %v; want len(left) <= 0", left)
	}
	if _, err := Run(context.Background(), Options{Record: dir, Checks: []string{"deny"}}); err == nil {
		t.Error("a record of one check")
	}
}

// An agent that cannot even say its version is told apart from one that can.
func TestVersionNeedsAGoodExit(t *testing.T) {
	bin := t.TempDir()
	program := filepath.Join(bin, "goose")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho needs Node 24.1.0 >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	in := realagents.Installed{Name: "goose", Dir: bin, Argv: []string{program}}
	report, err := Run(context.Background(), Options{Targets: []Target{{"goose", in}}, Bin: bin})
	if err != nil || !report.Failed() || !strings.Contains(report.Agents[0].Problem, "code 1") ||
		!strings.Contains(report.Agents[0].Problem, "Node 24.1.0") {
		t.Errorf(`error %v, report.Agents[0] = %+v; want no error, report.Failed(), "code 1" in `+
			`report.Agents[0].Problem and "Node 24.1.0" in report.Agents[0].Problem`, err, report.Agents[0])
	}
}
