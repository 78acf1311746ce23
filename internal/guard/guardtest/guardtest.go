// Package guardtest reads the corpora of commands that the tests of the guards
// share, and runs single guards over them.
package guardtest

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// Row is one command of a corpus file.
type Row struct {
	File string
	Line int
	Rule string // the rule that is expected, "" for harmless commands
	Text string
}

// ReadRows reads the files of one directory. One command stands in a line; a line
// "---" opens and closes a command of several lines; "# rule: id" names the rule
// that is expected from there on.
func ReadRows(t testing.TB, dir string) []Row {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus in %s: %v", dir, err)
	}
	var out []Row
	for _, name := range files {
		out = append(out, readFile(t, name)...)
	}
	return out
}

func readFile(t testing.TB, name string) []Row {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []Row
	rule, n, open, block := "", 0, 0, []string(nil)
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		n++
		l := sc.Text()
		switch {
		case l == "---" && open == 0:
			open = n
		case l == "---":
			out = append(out, Row{name, open, rule, strings.Join(block, "\n")})
			open, block = 0, nil
		case open > 0:
			block = append(block, l)
		case strings.HasPrefix(l, "# rule: "):
			rule = strings.TrimPrefix(l, "# rule: ")
		case l == "" || strings.HasPrefix(l, "#"):
		default:
			out = append(out, Row{name, n, rule, l})
		}
	}
	if open > 0 {
		t.Fatalf("%s:%d: block never closed", name, open)
	}
	return out
}

// ShellCall is a call of a shell tool in the project /home/dev/app.
func ShellCall(cmd string) inspect.Call {
	return inspect.Call{
		Agent: "test", ToolKind: "shell", ToolName: "Bash", Commands: []string{cmd},
		Cwd: "/home/dev/app", Project: "/home/dev/app", Home: "/home/dev",
	}
}

// HasRule reports whether one of the findings is of that rule.
func HasRule(list []inspect.Finding, rule string) bool {
	for _, f := range list {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

// Checker is the part of a guard that reads commands.
type Checker interface {
	MustParse(command string) bool
	CheckScript(s *inspect.Scope)
}

// CheckCorpus runs one guard over all rows: it must find what it is responsible
// for, and nothing in harmless commands. dir holds the directories dangerous and
// harmless.
func CheckCorpus(t *testing.T, dir, guard string, c Checker) {
	t.Helper()
	for _, row := range ReadRows(t, filepath.Join(dir, "dangerous")) {
		if !strings.HasPrefix(row.Rule, guard+".") || strings.HasSuffix(row.Rule, ".unreadable") {
			continue
		}
		if got := checkCommand(c, guard, row.Text); !HasRule(got, row.Rule) {
			t.Errorf("%s:%d: %q: want %s, got %v", row.File, row.Line, row.Text, row.Rule, got)
		}
		if !c.MustParse(row.Text) {
			t.Errorf("%s:%d: %q is not parsed at all", row.File, row.Line, row.Text)
		}
	}
	for _, row := range ReadRows(t, filepath.Join(dir, "harmless")) {
		for _, f := range checkCommand(c, guard, row.Text) {
			t.Errorf("%s:%d: %q: false alarm %s: %s", row.File, row.Line, row.Text, f.Rule, f.Reason)
		}
	}
}

func checkCommand(c Checker, guard, cmd string) []inspect.Finding {
	call := ShellCall(cmd)
	script := shell.Parse(cmd)
	report := inspect.NewReport(guard, inspect.Allowed{})
	report.Command = cmd
	c.CheckScript(inspect.NewScope(&call, &script, report, nil))
	return report.List
}
