package guards

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// homeWithFiles makes a home directory with files in it, and returns it with its project.
func homeWithFiles(t testing.TB) (home, project string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"canary-9", "notes.txt", ".claude/settings.json", ".claude/notes.md", ".config/app/x",
		".local/state/hookmux/consent.key", ".local/state/hookmux/journal.db", ".local/bin/tool",
		"app/dist/a.js", "app/dist/b.js", "app/src/main.go", "app/src/deep/x.go", "app/README.md"} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, ".claude/settings.json"), filepath.Join(home, "app/link.json")); err != nil {
		t.Fatal(err)
	}
	return home, filepath.Join(home, "app")
}

func machineAt(home string) facts.Machine {
	return facts.Machine{OwnPaths: []string{filepath.Join(home, ".local/state/hookmux")}, Resolve: paths.Real,
		Disk: &facts.Disk{List: paths.List, Exists: paths.Exists}}
}

// Guards know which files a pattern stands for.
func TestGuardsExpandPatterns(t *testing.T) {
	home, project := homeWithFiles(t)
	g := NewGuard("", Options{Home: home, Machine: machineAt(home)})
	for _, c := range []struct{ command, want string }{
		{"mv ~/.loc[a]l x", "own-files.delete"},
		{"mv ~/.loc[!b]l x", "own-files.delete"},
		{"mv ~/.loc[[:alpha:]]l x", "own-files.delete"},
		{"chmod 000 ~/.l*", "own-files.delete"},
		{"cd ~/.cl* && touch settings.json", "own-files.write"},
		{"git -C ~/.cl* restore settings.json", "own-files.write"},
		{"touch ~/.c*e/set*", "own-files.write"},
		{"touch ~/{.cl*,x}/settings.json", "own-files.write"},
		{"cd ~ && touch .c?????/s*", "own-files.write"},
		{"echo x > ~/.c*/sett*", "own-files.write"},
		{"touch l*.json", "own-files.write"}, // a link to them
		{"shopt -s dotglob; mv ~/*l x", "own-files.delete"},
		{"cp ~/.local/state/hookmux/* s/", "secrets.read"},
		{"cat ~/.local/state/*/consent.*", "secrets.read"},
		{"base64 ~/.local/state/*/c*", "secrets.read"},
		{"base64 ~/.local/**/c*", "secrets.read"},
		{"rm dist/*.js", ""},
		{"cat src/*.go", ""},
		{"cat src/**/*.go", ""},
		{"ls *", ""},
		{"ls ~/*", ""},
		{"wc -l */*", ""},
		{"grep -n 'a[b]*' src/*.go", ""},
		{"cat ~/.cl*/notes.md", ""},
		{"cd s* && cat m*", ""},
		{"ssh host 'touch ~/.c*/no*'", ""},
	} {
		got := g.Check(Call{Agent: "test", ToolKind: "shell", ToolName: "Bash", Commands: []string{c.command}, Cwd: project,
			Project: project, Home: home})
		if c.want == "" && len(got) > 0 || c.want != "" && !hasRule(got, c.want) {
			t.Errorf("%s: %v, want %q", c.command, got, c.want)
		}
	}
}

// Rules about paths decide on each file that a pattern stands for, and one that allows has
// to allow them all.
func TestRulesExpandPatterns(t *testing.T) {
	home, project := homeWithFiles(t)
	many := filepath.Join(project, "many")
	if err := os.Mkdir(many, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := os.WriteFile(filepath.Join(many, strconv.Itoa(i)+".txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, problems := rules.Parse(rules.Source{Name: "x.yaml", Layer: rules.User, Data: []byte(`version: 1
rules:
  - {id: canary, why: w, match: {path: "~/canary-*", access: change}, decide: deny, examples: {hit: ["touch ~/canary-1"]}}
  - {id: last, why: w, match: {path: "./many/*9.txt"}, decide: deny, examples: {hit: [cat many/9.txt]}}
  - {id: reads, why: w, match: {program: cat, path: ["./**", "!./src/deep/**"], access: read}, decide: allow, examples: {hit: [cat a]}}
`)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set := rules.NewSet(list, rules.Options{Home: home})
	for _, c := range []struct {
		command string
		want    rules.Verdict
	}{
		{"touch ~/canary?9", rules.Deny},
		{"touch ~/c*", rules.Deny},
		{"mv ~/ca* .", rules.Deny},
		{"touch ~/[b-d]anary-?", rules.Deny},
		{"cd ~ && touch c*", rules.Deny},
		{"f=~/c*; touch $f", rules.Deny},
		{"sh -c 'touch ~/*y-9'", rules.Deny},
		{"touch ../c*", rules.Deny},
		{"touch $HOME/c*", rules.Deny},
		{"echo x > ~/c*9", rules.Deny},
		{"cat ~/c*", rules.NoVerdict},
		{"touch ~/n*", rules.NoVerdict},
		{"rm dist/*.js", rules.NoVerdict},
		{"cat dist/*.js", rules.Allow},
		{"cat src/*.go", rules.Allow},
		{"cat src/*/*.go", rules.NoVerdict}, // one of them may not be read
		{"cat li*.json", rules.NoVerdict},   // leads out of the project
		{"cat many/*.md many/1*", rules.Deny},
		{"cat many/*.tx?", rules.Deny},
		{"touch many/*.txt ~/c*", rules.Deny}, // too many in front
	} {
		ev := &event.Event{Kind: event.ToolBefore, Cwd: project, Tool: &event.Tool{Name: "Bash", Kind: "shell",
			Commands: []string{c.command}}}
		machine := machineAt(home)
		f := facts.Collect(ev, project, set.Needs(), facts.Options{Home: home, Resolve: machine.Resolve, Disk: machine.Disk})
		if got := set.Decide(f); got.Verdict != c.want {
			t.Errorf("%s: %q, want %q", c.command, got.Verdict, c.want)
		}
	}
}

// What one command line may read is bounded; beyond that it isn't known what a pattern stands for.
func TestPatternsAreBounded(t *testing.T) {
	home, project := homeWithFiles(t)
	asked, read := 0, 0
	disk := &facts.Disk{Exists: paths.Exists}
	disk.List = func(folder string, most int) ([]os.DirEntry, error) {
		list, err := paths.List(folder, most)
		asked, read = asked+1, read+len(list)
		return list, err
	}
	for i := range 5000 {
		if err := os.WriteFile(filepath.Join(project, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		command  string
		unlisted bool
	}{
		{"touch *", true},
		{"touch *.md", true},
		{"touch ~/n*", false},
		{"touch ~/*/*/*/*/*/x", true},
		{"touch" + strings.Repeat(" *", 500), true},
	} {
		asked, read = 0, 0
		ev := &event.Event{Kind: event.ToolBefore, Cwd: project, Tool: &event.Tool{Name: "Bash", Kind: "shell",
			Commands: []string{c.command}}}
		f := facts.Collect(ev, project, facts.Everything(), facts.Options{Home: home, Disk: disk})
		unlisted := false
		for i := range f.Paths {
			unlisted = unlisted || f.Paths[i].Unlisted()
		}
		if unlisted != c.unlisted || read > 4097 || asked > 10 || len(f.Paths) > 300 {
			t.Errorf("%.40s: unlisted %v after %d names of %d folders, %d paths; want %v, and at most 4097 of 10, 300 paths",
				c.command, unlisted, read, asked, len(f.Paths), c.unlisted)
		}
	}
}

func BenchmarkPatterns(b *testing.B) {
	home, project := homeWithFiles(b)
	with := NewGuard("", Options{Home: home, Machine: machineAt(home)})
	machine := machineAt(home)
	machine.Disk = nil
	without := NewGuard("", Options{Home: home, Machine: machine})
	for _, command := range []string{"go test ./...", "cat src/*.go", "rm dist/*.js", "ls *"} {
		call := Call{Agent: "test", ToolKind: "shell", ToolName: "Bash", Commands: []string{command}, Cwd: project,
			Project: project, Home: home}
		b.Run(command+" without", func(b *testing.B) {
			for b.Loop() {
				without.Check(call)
			}
		})
		b.Run(command, func(b *testing.B) {
			for b.Loop() {
				with.Check(call)
			}
		})
	}
}
