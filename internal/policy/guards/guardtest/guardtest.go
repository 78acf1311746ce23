// Package guardtest reads the corpora of commands that the tests of the guards
// share, and runs single guards over them.
package guardtest

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// Row is one command of a corpus file.
type Row struct {
	File string
	Line int
	Rule string // the rule that is expected, "" for harmless commands
	Text string
}

// ReadRows reads the files of one directory. Each line is one command; a line "---" opens and
// closes a command of several lines; "# rule: id" names the rule that is expected from there
// on.
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

// ShellCall returns a call of a shell tool in the project /home/dev/app.
func ShellCall(cmd string) facts.Call {
	return facts.Call{
		Agent: "test", ToolKind: "shell", ToolName: "Bash", Commands: []string{cmd},
		Cwd: "/home/dev/app", Project: "/home/dev/app", Home: "/home/dev",
	}
}

// EventOf returns an event with a call.
func EventOf(call *facts.Call) *event.Event {
	return &event.Event{Kind: event.ToolBefore, Agent: call.Agent, Cwd: call.Cwd, Tool: &event.Tool{
		Name: call.ToolName, Kind: event.ToolKind(call.ToolKind), Commands: call.Commands, Reads: call.Reads,
		Writes: call.Writes, URL: call.URL, Input: call.Input,
	}}
}
