package packstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/policy/rules"
)

const (
	goodManifest = "name: team\nversion: 1.0.0\nwhat: what our team agreed on\n"
	goodRules    = `version: 1
rules:
  - id: no-push
    why: CI pushes
    match: {program: git, subcommand: push}
    decide: deny
    examples: {hit: [git push], miss: [git pull]}
  - id: tests
    why: tests may run
    match: {program: go, subcommand: test}
    decide: allow
    examples: {hit: [go test ./...]}
`
)

// writePack writes files into a new folder.
func writePack(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatalf("%s: want a folder for it, got %v", name, err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatalf("%s: want it written, got %v", name, err)
		}
	}
	return dir
}

func goodPack() map[string]string {
	return map[string]string{"pack.yaml": goodManifest, "rules/git.yaml": goodRules, "README.md": "read me"}
}

func TestReadFolder(t *testing.T) {
	pack, err := ReadFolder(writePack(t, goodPack()))
	if err != nil || pack.Name != "team" || len(pack.Files) != 2 {
		t.Fatalf("a pack: want team with 2 files, got %+v, %v", pack, err)
	}
	list, err := pack.CheckRules()
	if err != nil || len(list) != 2 || list[0].ID != "team/no-push" || list[0].Layer != rules.Pack {
		t.Errorf("its rules: want team/no-push first of 2, got %v, %v", list, err)
	}
	again, err := ReadFolder(writePack(t, goodPack()))
	if err != nil || again.Hash() != pack.Hash() {
		t.Errorf("the same content: want the hash %s, got %v, %v", pack.Hash(), again, err)
	}
}

func TestRefusedFolders(t *testing.T) {
	for what, c := range map[string]struct {
		change func(t *testing.T, files map[string]string)
		after  func(t *testing.T, dir string)
		want   string
	}{
		"no manifest":    {change: func(_ *testing.T, f map[string]string) { delete(f, "pack.yaml") }, want: "no pack.yaml"},
		"no rules":       {change: func(_ *testing.T, f map[string]string) { delete(f, "rules/git.yaml") }, want: "no rules"},
		"no name":        {change: manifest("version: 1\nwhat: x\n"), want: "name is"},
		"a wrong name":   {change: manifest("name: ../x\nversion: 1\nwhat: x\n"), want: "name is"},
		"a guard's name": {change: manifest("name: destructive\nversion: 1\nwhat: x\n"), want: "hookmux's own"},
		"no version":     {change: manifest("name: x\nwhat: x\n"), want: "version is"},
		"no purpose":     {change: manifest("name: x\nversion: 1\n"), want: "what must say"},
		"another key":    {change: manifest("name: x\nversion: 1\nwhat: x\nrun: ./x.sh\n"), want: "run"},
		"control bytes":  {change: manifest("name: x\nversion: 1\nwhat: \"a\\e[2Jb\"\n"), want: "what must say"},
		"another ending": {change: func(_ *testing.T, f map[string]string) { f["rules/a.yml"] = goodRules }, want: "doesn't belong"},
		"a folder below rules": {change: func(_ *testing.T, f map[string]string) { f["rules/a/b.yaml"] = goodRules },
			want: "is a folder"},
		"a large file": {change: func(_ *testing.T, f map[string]string) {
			f["rules/big.yaml"] = "# " + strings.Repeat("x", maxFile)
		}, want: "larger than"},
		"many files": {change: func(_ *testing.T, f map[string]string) {
			for i := range maxFiles {
				f["rules/"+strings.Repeat("x", i%50+1)+strings.Repeat("y", i/50+1)+".yaml"] = goodRules
			}
		}, want: "more than"},
		"much beside": {change: func(_ *testing.T, f map[string]string) {
			for i := range maxEntries {
				f["docs/"+strings.Repeat("a", i%50+1)+"/"+strings.Repeat("b", i/50+1)] = ""
			}
		}, want: "more than"},
		"a submodule": {change: func(_ *testing.T, f map[string]string) { f["lib/.git"] = "gitdir: ../.git/modules/lib" },
			want: "submodule"},
		"a list of submodules": {change: func(_ *testing.T, f map[string]string) { f[".gitmodules"] = "x" }, want: "submodule"},
		"a link to a file": {after: func(t *testing.T, dir string) { link(t, "/etc/passwd", dir, "rules/a.yaml") },
			want: "symbolic link"},
		"a link within": {after: func(t *testing.T, dir string) { link(t, "git.yaml", dir, "rules/a.yaml") },
			want: "symbolic link"},
		"a link beside the rules": {after: func(t *testing.T, dir string) { link(t, "/etc", dir, "docs") }, want: "symbolic link"},
		"rules is a link": {change: func(_ *testing.T, f map[string]string) { delete(f, "rules/git.yaml") },
			after: func(t *testing.T, dir string) { link(t, "/etc", dir, "rules") }, want: "symbolic link"},
	} {
		t.Run(what, func(t *testing.T) {
			files := goodPack()
			if c.change != nil {
				c.change(t, files)
			}
			dir := writePack(t, files)
			if c.after != nil {
				c.after(t, dir)
			}
			if pack, err := ReadFolder(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want it refused with %q, got %v, %v", c.want, pack, err)
			}
		})
	}
}

func manifest(text string) func(*testing.T, map[string]string) {
	return func(_ *testing.T, files map[string]string) { files["pack.yaml"] = text }
}

func link(t *testing.T, to, dir, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatalf("%s: want a link, got %v", name, err)
	}
}

func TestWrongRulesAreRefused(t *testing.T) {
	pack, err := ReadFolder(writePack(t, map[string]string{"pack.yaml": goodManifest,
		"rules/a.yaml": strings.Replace(goodRules, "miss: [git pull]", "miss: [git push x]", 1)}))
	if err != nil {
		t.Fatalf("want the pack read, got %v", err)
	}
	if _, err := pack.CheckRules(); err == nil || !strings.Contains(err.Error(), "should miss") {
		t.Errorf("an example that fails: want it named, got %v", err)
	}
	if _, err := New(t.TempDir()).Add(pack, Origin{}, "", time.Now()); err == nil {
		t.Error("a pack whose example fails: want it refused, got it added")
	}
}

func TestStore(t *testing.T) {
	state := t.TempDir()
	s := New(state)
	dir := writePack(t, goodPack())
	pack, err := ReadFolder(dir)
	if err != nil {
		t.Fatalf("want a pack, got %v", err)
	}
	kept, err := s.Add(pack, Origin{Folder: dir}, "", time.Now())
	if err != nil || kept.Hash != pack.Hash() {
		t.Fatalf("add: want the hash %s, got %+v, %v", pack.Hash(), kept, err)
	}
	if _, err := s.Add(pack, Origin{Folder: dir}, "", time.Now()); err == nil {
		t.Error("the same name again: want it refused, got it added")
	}
	// What counts is the copy, wherever the folder went.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatalf("want the folder gone, got %v", err)
	}
	sources, problems := New(state).Sources()
	if len(problems) > 0 || len(sources) != 1 || sources[0].Prefix != "team" || string(sources[0].Data) != goodRules {
		t.Fatalf("sources: want the file of team, got %v, %v", sources, problems)
	}
	newer, err := NewPack([]File{{"pack.yaml", []byte(strings.Replace(goodManifest, "1.0.0", "1.1.0", 1))},
		{"rules/git.yaml", []byte(strings.Replace(goodRules, "CI pushes", "CI pushes, nobody else", 1))}})
	if err != nil {
		t.Fatalf("want a newer pack, got %v", err)
	}
	if _, err := s.Add(newer, Origin{Folder: dir}, kept.Hash, time.Now()); err != nil {
		t.Errorf("renewed: want it taken in, got %v", err)
	}
	copies, err := filepath.Glob(filepath.Join(state, "packs", "team", "*"))
	if err != nil || len(copies) != 1 {
		t.Errorf("want one copy on disk, got %v, %v", copies, err)
	}
	// A copy that somebody changed does not count.
	if err := os.WriteFile(filepath.Join(copies[0], "rules", "git.yaml"), []byte("version: 1\nrules: []\n"), 0o600); err != nil {
		t.Fatalf("want the copy changed, got %v", err)
	}
	if sources, problems := s.Sources(); len(sources) != 0 || len(problems) != 1 ||
		!strings.Contains(problems[0].Text, "not what you took in") {
		t.Errorf("a changed copy: want it named and not used, got %v, %v", sources, problems)
	}
	if err := s.Remove("team"); err != nil {
		t.Errorf("remove: want it gone, got %v", err)
	}
	if list, err := s.List(); len(list) != 0 || err != nil {
		t.Errorf("after removing: want no pack, got %v, %v", list, err)
	}
	if err := s.Remove("team"); err == nil {
		t.Error("removing what is not there: want it said, got nothing")
	}
}

// A list that something else wrote adds no pack.
func TestForgedListIsNotBelieved(t *testing.T) {
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "packs"), 0o700); err != nil {
		t.Fatalf("want a folder, got %v", err)
	}
	forged := `{"content":{"version":1,"packs":[{"name":"team","hash":"00"}]},"mac":"00"}`
	if err := os.WriteFile(filepath.Join(state, recordFile), []byte(forged), 0o600); err != nil {
		t.Fatalf("want the list written, got %v", err)
	}
	if sources, problems := New(state).Sources(); len(sources) != 0 || len(problems) != 1 {
		t.Errorf("a forged list: want one problem and no rules, got %v, %v", sources, problems)
	}
}

func TestChanges(t *testing.T) {
	parse := func(text string) []*rules.Rule {
		list, problems := rules.Parse(rules.Source{Name: "a", Data: []byte(text), Layer: rules.Pack, Prefix: "team"})
		if len(problems) > 0 {
			t.Fatalf("want rules, got %v", problems)
		}
		return list
	}
	before := parse(goodRules)
	moved := parse("# a comment\n" + goodRules)
	if got := Changes(before, moved); len(got) != 0 {
		t.Errorf("rules that only moved: want no change, got %v", got)
	}
	after := parse(strings.Replace(strings.Replace(goodRules, "decide: deny", "decide: ask", 1), "id: tests", "id: test", 1))
	got := Changes(before, after)
	if len(got) != 3 || got[0].ID != "team/no-push" || got[0].Before == nil || got[0].After.Decide != rules.Ask ||
		got[1].Before != nil || got[2].After != nil {
		t.Errorf("want one changed, one new, one gone, got %+v", got)
	}
}

func TestParseOrigin(t *testing.T) {
	for text, want := range map[string]Origin{
		"./team":                                 {Folder: "/w/team"},
		"/a/../b":                                {Folder: "/b"},
		"git+https://git.example.com/a/b@v1.2.3": {URL: "https://git.example.com/a/b", Ref: "v1.2.3"},
		"git+ssh://git@git.example.com/a/b@main": {URL: "ssh://git@git.example.com/a/b", Ref: "main"},
		"git+file:///srv/x.git@v1":               {URL: "file:///srv/x.git", Ref: "v1"},
	} {
		if got, err := ParseOrigin(text, "/w"); err != nil || got != want {
			t.Errorf("%s: want %+v, got %+v, %v", text, want, got, err)
		}
	}
	for _, text := range []string{"", "https://git.example.com/a@v1", "git+https://git.example.com/a",
		"git+ssh://git@git.example.com/a", "git+http://git.example.com/a@v1", "git+ext::sh -c x@v1",
		"git+https://u:p@git.example.com/a@v1", "git+https://git.example.com/a@-x", "git+https://git.example.com/a@a..b",
		"git+ssh://-oProxyCommand=x/a@v1", "git+ssh://-x@h/a@v1", "git+https://h/a?x@v1", "git+file://host/a@v1",
		"git+https:///a@v1", "git+https://h/a b@v1", "git+https://h/a@$(x)"} {
		if got, err := ParseOrigin(text, "/w"); err == nil {
			t.Errorf("%q: want it refused, got %+v", text, got)
		}
	}
}
