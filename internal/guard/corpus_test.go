package guard

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is one command of a corpus file.
type sample struct {
	file string
	line int
	rule string
	text string
}

// readCorpus reads the files of one directory of testdata. One command per line; a
// line "---" opens and closes a command of several lines; "# rule: id" names
// the rule expected from there on.
func readCorpus(t testing.TB, dir string) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in testdata/%s: %v", dir, err)
	}
	var out []sample
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		rule, n, open, block := "", 0, 0, []string(nil)
		sc := bufio.NewScanner(f)
		for sc.Scan() {
			n++
			l := sc.Text()
			switch {
			case l == "---" && open == 0:
				open = n
			case l == "---":
				out = append(out, sample{name, open, rule, strings.Join(block, "\n")})
				open, block = 0, nil
			case open > 0:
				block = append(block, l)
			case strings.HasPrefix(l, "# rule: "):
				rule = strings.TrimPrefix(l, "# rule: ")
			case l == "" || strings.HasPrefix(l, "#"):
			default:
				out = append(out, sample{name, n, rule, l})
			}
		}
		if open > 0 {
			t.Fatalf("%s:%d: block never closed", name, open)
		}
		f.Close()
	}
	return out
}

func allGuards() Set {
	return Set{NewDestructive(Options{}), NewSecrets(Options{}), NewOwnFiles(Options{})}
}

func shellCall(cmd string) Call {
	return Call{Agent: "test", ToolKind: "shell", ToolName: "Bash", Commands: []string{cmd}, Cwd: "/home/dev/app",
		Project: "/home/dev/app", Home: "/home/dev"}
}

func hasRule(list []Finding, rule string) bool {
	for _, f := range list {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

func TestDangerousCorpus(t *testing.T) {
	set := allGuards()
	all := readCorpus(t, "dangerous")
	known := map[string]bool{}
	for _, g := range List() {
		for _, r := range g.Rules {
			known[r.ID] = true
		}
	}
	seen := map[string]bool{}
	for _, s := range all {
		if !known[s.rule] {
			t.Errorf("%s:%d: rule %q is not in List", s.file, s.line, s.rule)
		}
		got := set.Check(shellCall(s.text))
		if !hasRule(got, s.rule) {
			t.Errorf("%s:%d: %q: want %s, got %v", s.file, s.line, s.text, s.rule, got)
		}
		seen[s.rule] = true
	}
	if len(all) < 450 {
		t.Errorf("%d dangerous commands, want at least 450", len(all))
	}
	for r := range known {
		if !seen[r] && r != "secrets.file" {
			t.Errorf("rule %s has no command in the corpus", r)
		}
	}
	t.Logf("%d dangerous commands", len(all))
}

func TestHarmlessCorpus(t *testing.T) {
	set := allGuards()
	all := readCorpus(t, "harmless")
	distinct := map[string]bool{}
	for _, s := range all {
		distinct[s.text] = true
		for _, f := range set.Check(shellCall(s.text)) {
			t.Errorf("%s:%d: %q: false alarm %s: %s", s.file, s.line, s.text, f.Rule, f.Reason)
		}
	}
	if len(distinct) < 1200 {
		t.Errorf("%d different harmless commands, want at least 1200", len(distinct))
	}
	t.Logf("%d harmless commands", len(distinct))
}
