package registry

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/hook"
)

var known = Known{
	Agent: func(name string) bool { return name == "claude" || name == "codex" },
	Type:  func(_, native string) bool { return native == "PreToolUse" },
}

func TestMain(m *testing.M) {
	if file := os.Getenv("REGISTRY_TEST_ADD_TO"); file != "" {
		r := New(Options{GlobalFile: file, Known: known})
		for i := range 10 {
			if _, err := r.Add(file, sample(fmt.Sprintf("%d.%d", os.Getpid(), i))); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sample(id string) hook.Registration {
	return hook.Registration{ID: id, Agent: "*", HookType: "tool.before", Handler: "command",
		Target: "true && false > x"}
}

func newRegistry(t *testing.T) (*Registry, string) {
	dir := t.TempDir()
	return New(Options{
		GlobalFile: filepath.Join(dir, "config", "hooks.json"),
		State:      filepath.Join(dir, "state"),
		Home:       filepath.Join(dir, "home"),
		Known:      known,
	}), dir
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func ids(s *Set) string {
	var list []string
	for _, h := range s.Hooks {
		list = append(list, h.ID+"@"+h.Scope)
	}
	return strings.Join(list, " ")
}

func lines(problems []Problem) string {
	var list []string
	for _, p := range problems {
		list = append(list, p.String())
	}
	return strings.Join(list, "\n")
}

func one(id, more string) string {
	return fmt.Sprintf(`{"id": %q, "agent": "*", "hookType": "tool.before", "handler": "command", "target": "x"%s}`, id,
		more)
}

func hooks(list ...string) string {
	return "{\"version\": 1, \"hooks\": [\n" + strings.Join(list, ",\n") + "\n]}"
}

func TestMergeAndOrder(t *testing.T) {
	r, dir := newRegistry(t)
	write(t, r.GlobalFile(), hooks(one("late", `, "priority": 200`), one("a", ""), one("shared", ""),
		one("fixed", `, "locked": true`), one("b", "")))
	project := write(t, filepath.Join(dir, "p", DirName, FileName),
		hooks(one("early", `, "priority": 1`), one("fixed", `, "enabled": false`), one("shared", `, "enabled": false`),
			one("c", "")))
	if got := ids(r.Load("", "")); got != "a@global shared@global fixed@global b@global late@global" {
		t.Errorf(`ids(r.Load("", "")) = %q, want "a@global shared@global fixed@global b@global late@global"`, got)
	}
	s := r.Load(project, "")
	if got := ids(s); got != "early@project a@global fixed@global b@global shared@project c@project late@global" {
		t.Errorf(`ids(s) = %q, want "early@project a@global fixed@global b@global shared@project c@project `+
			`late@global"`, got)
	}
	if h, _ := s.Find("shared"); h.IsEnabled() || h.Line != 4 || h.File != project {
		t.Errorf("h = %+v, want not h.IsEnabled(), h.Line = 4 and h.File = %q", h, project)
	}
	if h, _ := s.Find("fixed"); !h.IsEnabled() {
		t.Error("a project switched a locked hook off")
	}
	if len(s.Replaced) != 1 || s.Replaced[0] != "shared" ||
		!strings.Contains(lines(s.Problems), project+":3: fixed: the global hook of this id is locked") {
		t.Errorf(`s.Replaced = %q, lines(s.Problems) = %q; want len(s.Replaced) = 1, s.Replaced[0] = "shared" and `+
			`%q in lines(s.Problems)`,
			s.Replaced, lines(s.Problems), project+":3: fixed: the global hook of this id is locked")
	}
	if len(s.Registrations()) != 7 {
		t.Errorf("len(s.Registrations()) = %v, want 7", len(s.Registrations()))
	}
	old := time.Now().Add(-time.Hour)
	os.Chtimes(project, old, old)
	os.Chtimes(r.GlobalFile(), old, old)
	if first := r.Load(project, ""); r.Load(project, "") != first {
		t.Error("the same hooks were made twice")
	}
}

func TestBrokenFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"syntax", "{\n \"hooks\": [}\n}", "hooks.json:2:12: "},
		{"no object", "[]", "must be an object"},
		{"no list", `{"hooks": {}}`, "must be a list"},
		{"version", `{"version": 2, "hooks": []}`, "too old"},
		{"other key", `{"hook": []}`, `unknown key "hook"`},
		{"element", `{"hooks": [1]}`, "must be an object"},
		{"typing error", hooks(one("a", `, "prioritty": 1`)), `unknown key "prioritty"`},
		{"case", hooks(one("a", `, "onfailure": "deny"`)), `write "onFailure"`},
		{"in match", hooks(one("a", `, "match": {"tol": "shell"}`)), `match: unknown key "tol"`},
		{"twice in one", hooks(one("a", `, "id": "b"`)), "there twice"},
		{"priority of text", hooks(one("a", `, "priority": "abc"`)), "priority must not be a string"},
		{"same id", hooks(one("a", ""), one("a", "")), "hooks.json:3:1: a: this id is taken on line 2"},
		{"unknown agent", hooks(strings.Replace(one("a", ""), `"*"`, `"nobody"`, 1)), `agent "nobody" is unknown`},
		{"unknown type", hooks(strings.Replace(one("a", ""), "tool.before", "tool.befor", 1)), "hooks.json:2:1: a: hookType"},
		{"regex", hooks(one("a", `, "match": {"command": "("}`)), "match.command"},
	} {
		r, _ := newRegistry(t)
		write(t, r.GlobalFile(), c.text)
		if got := lines(r.Load("", "").Problems); !strings.Contains(got, c.want) {
			t.Errorf(`%s: lines(r.Load("", "").Problems) = %q, want %q in it`, c.name, got, c.want)
		}
		if _, err := r.Add(r.GlobalFile(), sample("new")); err == nil ||
			!strings.Contains(err.Error(), "correct it first") {
			t.Errorf("%s: a broken file was added to: %v", c.name, err)
		}
		if got, _ := os.ReadFile(r.GlobalFile()); string(got) != c.text {
			t.Errorf("%s: a broken file was written over", c.name)
		}
	}
}

func TestLastGoodVersionStays(t *testing.T) {
	r, dir := newRegistry(t)
	write(t, r.GlobalFile(), hooks(one("a", ""), one("b", "")))
	r.Load("", "")
	write(t, r.GlobalFile(), hooks(one("a", ""), one("c", `, "role": "gard"`)))
	for _, again := range []*Registry{r, New(r.opt)} { // and after a restart
		s := again.Load("", "")
		if ids(s) != "a@global b@global" || !strings.Contains(lines(s.Problems),
			"last good version of the file stays in force") {
			t.Errorf(`ids(s) = %q, lines(s.Problems) = %q; want ids(s) = "a@global b@global" and "last good version `+
				`of the file stays in force" in lines(s.Problems)`, ids(s), lines(s.Problems))
		}
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "state", "lastgood", "*"))
	if len(kept) != 1 {
		t.Fatalf("kept = %q, want 1 of them", kept)
	}
	if info, _ := os.Stat(kept[0]); info.Mode().Perm() != 0o600 {
		t.Errorf("info.Mode() = %v, want info.Mode().Perm() = 0o600", info.Mode())
	}
	// With no good version known, what is sound in it counts.
	fresh, _ := newRegistry(t)
	write(t, fresh.GlobalFile(), hooks(one("a", ""), one("c", `, "role": "gard"`)))
	if s := fresh.Load("", ""); ids(s) != "a@global" || len(s.Problems) != 1 {
		t.Errorf(`ids(s) = %q, lines(s.Problems) = %q; want ids(s) = "a@global" and len(s.Problems) = 1`,
			ids(s), lines(s.Problems))
	}
	os.Remove(r.GlobalFile())
	if s := r.Load("", ""); len(s.Hooks) != 0 || len(s.Problems) != 0 {
		t.Error("a file that was taken away is still in force")
	}
}

func TestChangesKeepTheText(t *testing.T) {
	r, _ := newRegistry(t)
	file := r.GlobalFile()
	text := "\ufeff{\r\n  \"version\": 1, // form\r\n  \"hooks\": [\r\n    // mine\r\n    {\"id\": \"a\", " +
		"\"agent\": \"*\", \"hookType\": \"*\", \"handler\": \"builtin\", \"target\": \"log\"}, // keep\r\n  ],\r\n}"
	write(t, file, text)
	c, err := r.Add(file, sample("new"))
	if err != nil || string(c.Before) != text || c.Hook.ID != "new" {
		t.Fatalf(`c = %+v, error %v; want no error, string(c.Before) = %q and c.Hook.ID = "new"`, c, err, text)
	}
	if got, _ := os.ReadFile(file); string(got) != string(c.After) ||
		!strings.Contains(string(got), `"true && false > x"`) {
		t.Errorf(`got %s, want string(c.After) and "true && false > x" in it`, got)
	}
	if _, err := r.Remove(file, "new"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != text {
		t.Errorf("got %q, want %q", got, text)
	}
	c, err = r.Set(file, "a", func(reg *hook.Registration) error {
		off, p := false, 5
		reg.Enabled, reg.Priority, reg.Target = &off, &p, "a && b"
		return nil
	})
	want := strings.Replace(text, `"log"}`, `"a && b", "priority": 5, "enabled": false}`, 1)
	if err != nil || string(c.After) != want {
		t.Errorf("c.After = %s, error %v; want no error and string(c.After) = %q", c.After, err, want)
	}
	c, err = r.Set(file, "a", func(reg *hook.Registration) error {
		reg.Enabled, reg.Priority, reg.Target = nil, nil, "log"
		return nil
	})
	if err != nil || string(c.After) != text {
		t.Errorf("c.After = %q, error %v; want no error and string(c.After) = %q", c.After, err, text)
	}
	if _, err := r.Put(file, sample("p")); err != nil {
		t.Fatal(err)
	}
	again := sample("p")
	again.Target = "other"
	if _, err := r.Put(file, again); err != nil {
		t.Fatal(err)
	}
	if list, _ := r.List(file); len(list) != 2 || list[1].Target != "other" {
		t.Errorf(`list = %+v, want 2 of them and list[1].Target = "other"`, list)
	}
}

func TestChangesRefused(t *testing.T) {
	r, _ := newRegistry(t)
	file := r.GlobalFile()
	if _, err := r.Add(file, sample("a")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); !strings.HasPrefix(string(got),
		"{\n  \"version\": 1,\n  \"hooks\": [\n    {\n      \"id\": \"a\",") {
		t.Errorf(`got %s, want one that begins with "{\n \"version\": 1,\n \"hooks\": [\n {\n \"id\": \"a\","`, got)
	}
	r.Add(file, sample("b"))
	bad := sample("x")
	bad.HookType = "nonsense"
	oops := errors.New("oops")
	for name, try := range map[string]func() error{
		"use `set`|set a": func() error { _, err := r.Add(file, sample("a")); return err },
		"hookType":        func() error { _, err := r.Add(file, bad); return err },
		"no hook":         func() error { _, err := r.Remove(file, "zzz"); return err },
		"no hook \"y\"":   func() error { _, err := r.Set(file, "y", func(*hook.Registration) error { return nil }); return err },
		"oops":            func() error { _, err := r.Set(file, "a", func(*hook.Registration) error { return oops }); return err },
		"already": func() error {
			_, err := r.Set(file, "a", func(reg *hook.Registration) error { reg.ID = "b"; return nil })
			return err
		},
	} {
		_, part, found := strings.Cut(name, "|")
		if !found {
			part = name
		}
		if err := try(); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want an error and %q in err.Error()", name, err, part)
		}
	}
	if list, _ := r.List(file); len(list) != 2 {
		t.Errorf("r.List(file) = %+v, want 2 of them", list)
	}
}

func TestGeneratedIDs(t *testing.T) {
	r, _ := newRegistry(t)
	seen := map[string]bool{}
	for range 50 {
		id := NewID("claude", "PreToolUse")
		if seen[id] || !strings.HasPrefix(id, "claude.PreToolUse.") {
			t.Fatalf(`id = %q, want not seen[id] and one that begins with "claude.PreToolUse."`, id)
		}
		seen[id] = true
	}
	c, err := r.Add(r.GlobalFile(), sample(""))
	if err != nil || !strings.HasPrefix(c.Hook.ID, "any.tool.before.") {
		t.Errorf(`c.Hook.ID = %q, error %v; want no error and c.Hook.ID that begins with "any.tool.before."`,
			c.Hook.ID, err)
	}
}

func TestTwoHundredWritersAtOnce(t *testing.T) {
	r, _ := newRegistry(t)
	file := r.GlobalFile()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "REGISTRY_TEST_ADD_TO="+file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: cmd.CombinedOutput() = %s, want no error", err, out)
			}
		})
		wg.Go(func() {
			if _, err := r.Add(file, sample(fmt.Sprintf("here.%d", i))); err != nil {
				t.Error(err)
			}
			r.Load("", "")
		})
	}
	wg.Wait()
	if s := r.Load("", ""); len(s.Hooks) != 220 || len(s.Problems) != 0 {
		t.Errorf("%d of 220 survived; %s; want len(s.Hooks) == 220 and len(s.Problems) == 0",
			len(s.Hooks), lines(s.Problems))
	}
}

func TestFindProject(t *testing.T) {
	r, dir := newRegistry(t)
	dir, _ = filepath.EvalSymlinks(dir)
	home := filepath.Join(dir, "home")
	repo := filepath.Join(home, "code", "repo")
	deep := filepath.Join(repo, "a", "b")
	os.MkdirAll(deep, 0o755)
	want := func(from, root string) {
		t.Helper()
		if got := r.FindProject(from); got != root {
			t.Errorf("from %s: %q, want %q", from, got, root)
		}
	}
	write(t, ProjectFile(dir), hooks()) // above the home folder
	want(deep, "")
	want(dir, "")
	write(t, ProjectFile(filepath.Join(home, "code")), hooks())
	want(deep, filepath.Join(home, "code"))
	os.MkdirAll(filepath.Join(repo, ".git"), 0o755)
	want(deep, filepath.Join(home, "code")) // an empty .git is no repository
	write(t, filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main\n")
	want(deep, "")
	if got := r.RootFor(deep); got != repo {
		t.Errorf("new hooks would go to %q", got)
	}
	write(t, ProjectFile(repo), hooks())
	want(deep, repo)
	want(filepath.Join(deep, "not", "there"), repo)
	write(t, ProjectFile(filepath.Join(repo, "a")), hooks())
	want(deep, filepath.Join(repo, "a"))
	write(t, filepath.Join(deep, ".git"), "gitdir: elsewhere\n") // a worktree or submodule
	want(deep, "")

	link := filepath.Join(dir, "home", "link")
	os.Symlink(repo, link)
	want(link, repo)

	r.opt.OwnDirs = []string{filepath.Join(repo, DirName)}
	want(repo, "")
	r.opt.OwnDirs = nil
	gone := filepath.Join(home, "gone")
	os.MkdirAll(gone, 0o755)
	r.opt.KnownProject = func(d string) bool { return d == gone }
	want(gone, gone)
	r.opt.KnownProject = nil

	r.uid = os.Getuid() + 1 // as if all this were somebody else's
	if os.Getuid() != 0 {
		want(repo, "")
	} else if os.Chown(filepath.Join(repo, DirName), 12345, 12345) == nil {
		want(repo, "")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(hooks(one("a", `, "match": {"tool": "shell"}`))))
	f.Add([]byte("{\"hooks\": [{}, null, [],],}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, problems := Parse(data, known)
		for _, p := range problems {
			if p.Text == "" {
				t.Error("a problem without words")
			}
		}
		for _, p := range list {
			if p.ID == "" || p.Line == 0 {
				t.Errorf("p = %+v, want p.ID not empty and p.Line other than 0", p)
			}
		}
	})
}
