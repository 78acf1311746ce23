package sources

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

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
	tree := filepath.Join(s.Dirs.Home, "tree")
	writeFile(t, tree+"/.git", "gitdir: "+app+"/.git/worktrees/tree\n")
	writeFile(t, app+"/.git/worktrees/tree/commondir", "../..\n")
	in := func(folder string) string { return ", projects: [\"" + folder + "\"]" }
	writeFile(t, s.Dirs.Config+"/rules/mine.yaml", rulesFile(
		rule("app-deploy", "program: make, subcommand: ship", "deny", in("~/app"), "make ship"),
		rule("sub-clean", "program: make, subcommand: clean", "ask", in("~/app/sub"), "make clean"),
		rule("infra", "path: ./infra/, access: change", "deny", "", "rm ./infra/a"),
		rule("other-go", "program: go", "allow", in("~/other"), "go test"),
		rule("any-node", "program: node", "allow", "", "node a.js"),
	))
	for _, c := range []struct {
		cwd, started, command string
		want                  event.Verdict
	}{
		{app, app, "make ship", event.Deny},
		{"/tmp", app, "make ship", event.Deny},
		{app, "/tmp", "make ship", event.Deny},
		{"/tmp", "/tmp", "make ship", event.None},
		{"/tmp", app + "/sub", "make ship", event.Deny},
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
		// in a further work tree of the repository
		{tree, tree, "make ship", event.Deny},
		{"/tmp", tree, "make ship", event.Deny},
		{tree, tree, "node a.js", event.Allow},
		// by the command line's own words
		{other, other, "cd ~/app && make ship", event.Deny},
		{other, other, "cd ../app/x && make ship", event.Deny},
		{"/tmp", "/tmp", "cd " + s.Dirs.Home + " && (cd app; make ship)", event.Deny},
		{other, other, "cd $DIR && make ship", event.Ask},
		{other, other, "cd /tmp && make ship", event.None},
		{app, app, "cd ../other && go test", event.None},
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
	for command, want := range map[string]event.Verdict{"make ship": event.Ask, "go test": event.None, "ls": event.None} {
		o := GuardOptions{Started: func(*event.Event) (string, error) { return "", errors.New("lost") }}
		if got := decideBy(s, o, shellEvent(other, command)); got.Verdict != want {
			t.Errorf("%s of a session of which nobody knows where it started: %s, want %s", command, got.Verdict.Word(),
				want.Word())
		}
	}
}

// What rests comes back, whatever happens to the clock.
func TestPausesEndWhateverTheClockDoes(t *testing.T) {
	since := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	pause := Pause{Name: "a", Since: since, Until: since.Add(10 * time.Minute)}
	off := Off{Since: pause.Since, Until: pause.Until}
	for _, c := range []struct {
		what string
		now  time.Time
		over bool
	}{
		{"at once", since, false}, {"in between", since.Add(9 * time.Minute), false},
		{"at its end", since.Add(10 * time.Minute), true}, {"a day later", since.Add(24 * time.Hour), true},
		{"a clock that goes a little slow", since.Add(-30 * time.Second), false},
		{"a clock set back an hour", since.Add(-time.Hour), true}, {"by a year", since.AddDate(-1, 0, 0), true},
	} {
		if pause.IsOver(c.now) != c.over || off.At(c.now) == c.over {
			t.Errorf("%s: pause over %v, off %v; want over %v", c.what, pause.IsOver(c.now), off.At(c.now), c.over)
		}
	}
	// The machine slept: time went by on the wall, and not for the process.
	now := time.Now()
	asleep := Pause{Since: now.Add(-8 * time.Hour).Round(0), Until: now.Add(-7 * time.Hour).Round(0)}
	if !asleep.IsOver(now) {
		t.Error("a pause goes on after the machine slept through its end, want it over")
	}
	if long := (Pause{Since: since, Until: since.AddDate(1, 0, 0)}); !long.IsOver(since.Add(time.Hour)) {
		t.Error("a pause of a year counts, want none beyond a day")
	}
	if forGood := (Off{Since: since}); !forGood.At(since.Add(-time.Hour)) {
		t.Error("hookmux that is off until somebody switches it on is on, want off")
	}
}
