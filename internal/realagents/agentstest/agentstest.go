// Package agentstest runs real agents in tests. Such tests are named TestReal…
// and are skipped, visibly, unless HOOKMUX_VERIFY names the agent.
//
// HOOKMUX_VERIFY is a list of agent names separated by spaces, or "all". An
// agent that cannot be installed here is a skip too, because registries are not
// everywhere; HOOKMUX_VERIFY_STRICT=1 makes it a failure.
package agentstest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// Require returns the installed agent, or skips the test and says why.
func Require(t testing.TB, name string) realagents.Installed {
	t.Helper()
	wanted := strings.Fields(os.Getenv("HOOKMUX_VERIFY"))
	if !slices.Contains(wanted, name) && !slices.Contains(wanted, "all") {
		t.Skipf("real %s not asked for; set HOOKMUX_VERIFY=%q to run it", name, name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	in, err := realagents.Install(ctx, name, "", func(line string) { t.Log(line) })
	switch {
	case err == nil:
		return in
	case os.Getenv("HOOKMUX_VERIFY_STRICT") == "1":
		t.Fatalf("real %s cannot be installed: %v", name, err)
	}
	t.Skipf("real %s cannot be installed here: %v", name, err)
	return in
}

// Repeats skips, visibly, a test whose question another one (named by by) asks as well, if
// HOOKMUX_VERIFY_QUICK=1 asks for each once: `make verify` has minutes, `make verify-all` as long as
// it takes.
func Repeats(t testing.TB, by string) {
	t.Helper()
	if os.Getenv("HOOKMUX_VERIFY_QUICK") == "1" {
		t.Skipf("asked by %s, too; make verify-all runs it", by)
	}
}

// Project creates a folder that is the root of its own repository: agents stop looking for one there,
// and Codex puts nothing next to it.
func Project(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	for _, d := range []string{".git/objects", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBed is everything one run of a real agent needs: a scripted model, a
// throw-away home, a project.
type TestBed struct {
	Agent   realagents.Agent
	In      realagents.Installed
	Model   *model.Server
	Run     string // name of the run at the model
	Home    string
	Project string
	Env     []string
}

// Timeout is how long a headless turn may take on a busy machine.
const Timeout = 4 * time.Minute

// NewTestBed prepares a test bed; the scenario can be changed later with
// Model.SetScenario(bed.Run, …). Everything ends with the test.
func NewTestBed(t testing.TB, name string, sc model.Scenario) *TestBed {
	t.Helper()
	in := Require(t, name)
	a, _ := realagents.Find(name)
	srv, err := model.Start(model.Options{Delay: a.ModelDelay})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	s := &TestBed{Agent: a, In: in, Model: srv, Run: name, Home: filepath.Join(t.TempDir(), "home"),
		Project: Project(t)}
	srv.SetScenario(s.Run, sc)
	if s.Env, err = realagents.WriteHome(name, s.Home, srv.URL(s.Run), s.Project); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		realagents.EndLeftovers(in, s.Home)
		realagents.Sweep(name, s.Home)
	})
	return s
}

// Headless runs the agent on a prompt, with further arguments after the usual
// ones, and logs its output when the test fails.
func (s *TestBed) Headless(t testing.TB, prompt string, more ...string) realagents.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	r, err := realagents.Run(ctx, s.In, s.Env, s.Project, append(realagents.Headless(s.Agent.Name, prompt), more...)...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("exit %d after %s\nstdout: %s\nstderr: %s", r.Exit, r.Took.Round(time.Millisecond), tail(r.Stdout),
				tail(r.Stderr))
			for i, q := range s.Model.Requests(s.Run) {
				t.Logf("request %d: %s %s %s script %q step %d status %d not offered %v of %v", i, q.Method, q.Path,
					q.Kind, q.Script, q.Step, q.Status, q.NotOffered, q.Tools)
			}
			for _, m := range s.Model.Results(s.Run) {
				t.Logf("tool result: %s", tail(m.Text))
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tail(s string) string {
	if n := len(s); n > 3000 {
		return "…" + s[n-3000:]
	}
	return s
}
