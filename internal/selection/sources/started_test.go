package sources

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// An agent that goes to another folder does not leave the rules of the project
// behind in which its session started, and finds no rule there that allows more.
func TestRulesOfTheProjectWhereASessionStarted(t *testing.T) {
	s := live(t)
	app, other := filepath.Join(s.Dirs.Home, "app"), filepath.Join(s.Dirs.Home, "other")
	writeFile(t, app+"/.git/HEAD", "ref: refs/heads/main\n")
	writeFile(t, app+"/sub/a", "")
	writeFile(t, other+"/a", "")
	in := func(folder string) string { return ", projects: [\"" + folder + "\"]" }
	writeFile(t, s.Dirs.Config+"/rules/mine.yaml", rulesFile(
		rule("app-deploy", "program: make, subcommand: deploy", "deny", in("~/app"), "make deploy"),
		rule("sub-clean", "program: make, subcommand: clean", "ask", in("~/app/sub"), "make clean"),
		rule("infra", "path: ./infra/, access: change", "deny", "", "rm ./infra/a"),
		rule("other-go", "program: go", "allow", in("~/other"), "go test"),
		rule("any-node", "program: node", "allow", "", "node a.js"),
	))
	for _, c := range []struct {
		cwd, started, command string
		want                  event.Verdict
	}{
		{app, app, "make deploy", event.Deny},
		{"/tmp", app, "make deploy", event.Deny},
		{app, "/tmp", "make deploy", event.Deny},
		{"/tmp", "/tmp", "make deploy", event.None},
		{"/tmp", app + "/sub", "make deploy", event.Deny},
		{app, app + "/sub", "make clean", event.Ask},
		{app + "/sub", app, "make clean", event.Ask},
		{app, app, "make clean", event.None},
		{"/tmp", app, "rm " + app + "/infra/a", event.Deny},
		{"/tmp", app + "/sub", "rm " + app + "/infra/a", event.Deny},
		{other, app, "rm infra/a", event.Deny},
		{other, other, "go test", event.Allow},
		{other, app, "go test", event.None},
		{app, other, "go test", event.None},
		{other, other + "/a", "go test", event.Allow},
		{other, app, "node a.js", event.Allow},
	} {
		o := GuardOptions{Started: func(*event.Event) (string, error) { return c.started, nil }}
		got := decideBy(s, o, shellEvent(c.cwd, c.command))
		if got.Verdict != c.want {
			t.Errorf("%s in %s, session of %s: %s by %q, want %s", c.command, c.cwd, c.started, got.Verdict.Word(),
				got.Rule, c.want.Word())
		}
		o.Settings[0] = s.Config.Settings()
		if said := s.Examine(t.Context(), shellEvent(c.cwd, c.command), o); said.Verdict != c.want.Word() ||
			(len(said.Findings) > 0) != (c.want != event.None) {
			t.Errorf("%s in %s, session of %s: `rules test` says %s with %d findings, want %s", c.command, c.cwd,
				c.started, said.Verdict, len(said.Findings), c.want.Word())
		}
	}
	// What nobody knows may be the project that a rule names.
	for command, want := range map[string]event.Verdict{"make deploy": event.Ask, "go test": event.None, "ls": event.None} {
		o := GuardOptions{Started: func(*event.Event) (string, error) { return "", errors.New("lost") }}
		if got := decideBy(s, o, shellEvent(other, command)); got.Verdict != want {
			t.Errorf("%s of a session of which nobody knows where it started: %s, want %s", command, got.Verdict.Word(),
				want.Word())
		}
	}
}
