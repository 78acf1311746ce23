//go:build unix

package callers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

type node = proctest.Node

// The processes of one person's machine, as they were seen: a terminal in which
// Claude Code has Codex work, one in which Codex has Claude Code work, and VS Code
// with Cline in its terminal and its extension.
var recordedTable = node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{
	{PID: 900, Name: "systemd", User: 1000, Session: true, Below: []node{
		{PID: 1000, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
			{PID: 1001, Name: "zsh", TTY: "/dev/pts/1", Session: true, Below: []node{
				{PID: 1010, Name: "claude", Program: "/home/u/.local/share/claude/versions/2.1.325", Group: true,
					Below: []node{
						{PID: 1011, Name: "sh", Args: []string{"/bin/sh", "-c", "hookmux-hook claude PreToolUse"},
							Below: []node{{PID: 1012, Name: "hookmux-hook"}}},
						{PID: 1020, Name: "bash", Args: []string{"/bin/bash", "-c", "codex exec 'fix it'"},
							TTY: proctest.None, Session: true, Below: []node{
								{PID: 1021, Name: "node", Program: "/usr/bin/node", Args: []string{"node",
									"/usr/lib/node_modules/@openai/codex/bin/codex.js", "exec", "fix it"},
									Below: []node{
										{PID: 1022, Name: "codex", Program: "/usr/lib/node_modules/@openai/" +
											"codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
											Below: []node{
												{PID: 1023, Name: "zsh", Args: []string{"/bin/zsh", "-lc",
													"hookmux-hook codex PreToolUse"},
													Below: []node{{PID: 1024, Name: "hookmux-hook"}}},
												{PID: 1025, Name: "bash", Below: []node{
													{PID: 1026, Name: "gemini", Program: "/usr/bin/node",
														Args:  []string{"node", "/usr/bin/gemini"},
														Below: []node{{PID: 1027, Name: "hookmux-hook"}}},
												}},
											}},
									}},
							}},
					}},
			}},
			{PID: 1101, Name: "bash", TTY: "/dev/pts/2", Session: true, Below: []node{
				{PID: 1110, Name: "codex", Program: "/usr/local/bin/codex", Group: true, Below: []node{
					{PID: 1111, Name: "bash", Below: []node{
						{PID: 1112, Name: "claude", Program: "/usr/bin/node", Args: []string{"node",
							"/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "-p", "look"},
							Below: []node{{PID: 1113, Name: "sh",
								Below: []node{{PID: 1114, Name: "hookmux-hook"}}}}},
					}},
				}},
				{PID: 1120, Name: "vim", Args: []string{"vim", "/home/u/codex"}, Below: []node{
					{PID: 1121, Name: "hookmux-hook"}}},
			}},
		}},
		{PID: 2000, Name: "code", Program: "/usr/share/code/code", Session: true, TTY: proctest.None, Below: []node{
			{PID: 2001, Name: "code", Program: "/usr/share/code/code",
				Args: []string{"/usr/share/code/code", "--type=utility",
					"--utility-sub-type=node.mojom.NodeService"},
				Below: []node{ // the extension runs inside: no process is its own
					{PID: 2002, Name: "sh", Args: []string{"/bin/sh",
						"/home/u/Documents/Cline/Hooks/PreToolUse"},
						Below: []node{{PID: 2003, Name: "hookmux-hook"}}},
				}},
			{PID: 2010, Name: "bash", TTY: "/dev/pts/3", Session: true, Below: []node{
				{PID: 2011, Name: "cline", Group: true,
					Program: "/usr/lib/node_modules/@cline/cli-linux-x64/bin/cline", Below: []node{
						{PID: 2012, Name: "bash", Args: []string{"bash", "/home/u/.cline/hooks/PreToolUse"},
							Below: []node{{PID: 2013, Name: "hookmux-hook"}}},
					}},
			}},
		}},
	}},
}}

// Of agents inside agents the nearest one is the caller, each with its own process.
func TestNestedAgents(t *testing.T) {
	c := New(terminal.NewEvaluator(agent.Builtin(), proctest.New(recordedTable), nil, 900_000))
	for _, test := range []struct {
		what  string
		pid   int
		agent string
		by    int
	}{
		{"Claude Code's own hook", 1012, "claude", 1010},
		{"Codex, in Claude Code's shell", 1024, "codex", 1022},
		{"Gemini, in the shell of Codex, in Claude Code's", 1027, "gemini", 1026},
		{"Claude Code, in the shell of Codex", 1114, "claude", 1112},
		{"Cline, at a terminal of VS Code", 2013, "cline", 2011},
		{"an editor that has a file of that name open", 1121, "", 0},
	} {
		if got := c.Of(test.pid); got.Agent != test.agent || got.PID != test.by || got.Nested {
			t.Errorf("%s: the caller is %q, process %d, below a handler: %v; want %q, %d, false", test.what, got.Agent,
				got.PID, got.Nested, test.agent, test.by)
		}
	}
	// The extension is inside of VS Code: nobody's process is Cline's, and the one it
	// is found in is VS Code's, where the catalogue knows that.
	if got := c.Of(2003); got.Agent != "" && got.PID != 2001 || got.Agent == "cline" {
		t.Errorf("Cline's extension in VS Code: the caller is %q, process %d; want VS Code's or nobody", got.Agent,
			got.PID)
	}
}

// helperChain names what a helper has still to start; helperHere is where its
// programs are.
const (
	helperChain = "CALLERS_TEST_CHAIN"
	helperHere  = "CALLERS_TEST_HERE"
)

// TestHelperStarts is no test: it plays an agent, starts what comes below it, and
// the last one waits until its input is closed.
func TestHelperStarts(t *testing.T) {
	chain, played := os.LookupEnv(helperChain)
	if !played {
		t.Skip("runs only as the child of another test")
	}
	fmt.Println("started", filepath.Base(os.Args[0]), os.Getpid())
	if chain == "" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	next, rest, _ := strings.Cut(chain, " ")
	cmd := exec.Command(filepath.Join(os.Getenv(helperHere), next), "-test.run=^TestHelperStarts$")
	if shell, inside, ok := strings.Cut(next, ":"); ok {
		cmd = exec.Command("/bin/"+shell, "-c", `"$0" "$@"; exit $?`, filepath.Join(os.Getenv(helperHere), inside),
			"-test.run=^TestHelperStarts$")
	}
	cmd.Env = []string{helperChain + "=" + rest, helperHere + "=" + os.Getenv(helperHere)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Println("stopped", err)
	}
	os.Exit(0)
}

// Real processes: Claude Code starts a shell, that Codex, that our client.
func TestNestedAgentsReally(t *testing.T) {
	if _, err := proc.System().Lookup(os.Getpid()); err != nil {
		t.Skipf("processes cannot be looked at here: %v", err)
	}
	here := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude", "codex", hookName} {
		at := filepath.Join(here, name)
		if os.Link(self, at) == nil {
			continue
		}
		program, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(at, program, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(here, "claude"), "-test.run=^TestHelperStarts$")
	cmd.Env = []string{helperChain + "=sh:codex sh:" + hookName, helperHere + "=" + here}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = cmd.Wait() // its end says nothing about callers
	}()
	pids := map[string]int{}
	for lines := bufio.NewScanner(out); len(pids) < 3 && lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "started" {
			pids[words[1]], _ = strconv.Atoi(words[2])
		}
	}
	if len(pids) < 3 {
		t.Fatalf("of the three programs %v started, want all", pids)
	}
	c := New(terminal.NewEvaluator(agent.Builtin(), proc.System(), nil, os.Getpid()+1<<30))
	for _, test := range []struct{ of, agent string }{{hookName, "codex"}, {"codex", "codex"}, {"claude", "claude"}} {
		if got := c.Of(pids[test.of]); got.Agent != test.agent || got.PID != pids[test.agent] {
			t.Errorf("behind %s stands %q, process %d; want %s, process %d", test.of, got.Agent, got.PID, test.agent,
				pids[test.agent])
		}
	}
}
