package verify

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

// acpAgents are the programs that speak ACP for an agent, where it does not
// speak it itself.
var acpAgents = map[string]struct {
	adapter realagents.Agent
	args    []string
	mode    string // in which it asks
}{
	"claude": {adapter: realagents.Agent{Name: "claude-agent-acp", Version: "0.99.1", Node: true,
		Packages: []string{"@agentclientprotocol/claude-agent-acp@{version}"},
		Program:  "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"}},
	"codex": {adapter: realagents.Agent{Name: "codex-acp", Version: "2.6.0", Node: true,
		Packages: []string{"@agentclientprotocol/codex-acp@{version}"},
		Program:  "node_modules/@agentclientprotocol/codex-acp/dist/index.js"}, mode: "read-only"},
	"gemini": {args: []string{"--experimental-acp"}},
}

// Between an editor and a real agent a guard refuses a call that the
// editor is not asked about, the editor allows another, and hookmux knows the
// session.
func TestRealACP(t *testing.T) {
	for name, how := range acpAgents {
		t.Run(name, func(t *testing.T) {
			driver, _ := drivers.Find(name)
			shell := func(a realagents.Agent, command string) model.ToolCall {
				call := a.Shell.Call(command)
				if driver.Escalate != nil {
					call = driver.Escalate(call)
				}
				return call
			}
			st := agentstest.NewTestBed(t, name, model.Scenario{})
			t.Parallel()
			own := filepath.Join(st.Home, ".config", "hookmux", "config.json")
			ran := filepath.Join(st.Project, "ran.txt")
			st.Model.SetScenario(st.Run, model.Scenario{Steps: []model.Step{
				{Calls: []model.ToolCall{shell(st.Agent, "echo x >> "+own)}},
				{Say: "The first one is over."},
			}, Named: map[string][]model.Step{"second": {
				{Calls: []model.ToolCall{shell(st.Agent, "echo ran > "+ran)}},
				{Say: "All of it is done."},
			}}})
			in := st.In
			if how.adapter.Name != "" {
				how.adapter.Platforms = st.Agent.Platforms
				ctx, cancel := context.WithTimeout(context.Background(), agentstest.Timeout)
				defer cancel()
				var err error
				if in, err = realagents.InstallAgent(ctx, how.adapter, "", func(line string) { t.Log(line) }); err != nil {
					t.Skipf("%s cannot be installed here: %v", how.adapter.Name, err)
				}
			}
			hookmux := filepath.Join(builtBin(t), "hookmux")
			env := append(append(st.Env, in.Env...), "HOOKMUX_RUNTIME_DIR="+t.TempDir())
			run := func(args ...string) string {
				cmd := exec.Command(hookmux, args...)
				cmd.Dir, cmd.Env = st.Project, env
				out, _ := cmd.Output()
				return string(out)
			}
			dirs, err := paths.Find(paths.GetenvLast(env))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // it still writes into the home when it's told to end
				if err := daemontest.EndDaemon(dirs); err != nil {
					t.Error(err)
				}
			})
			e := startEditor(t, hookmux, env, st.Project, append(append([]string{"acp", "--"}, in.Argv...), how.args...))
			e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"script","version":"1"}}`)
			session := e.call("session/new", `{"cwd":`+quoted(st.Project)+`,"mcpServers":[]}`).SessionID
			if how.mode != "" {
				e.call("session/set_mode", `{"sessionId":`+quoted(session)+`,"modeId":`+quoted(how.mode)+`}`)
			}
			prompt := func(text string) string {
				return e.call("session/prompt", `{"sessionId":`+quoted(session)+`,"prompt":[{"type":"text","text":`+
					quoted(text)+`}]}`).StopReason
			}
			prompt("Do the first " + model.Mark(""))
			if e.asked != 0 {
				t.Errorf("the editor was asked %d times about what a guard refuses, want 0", e.asked)
			}
			if _, err := os.Stat(own); err == nil {
				t.Error("the call that a guard refuses ran, want it stopped")
			}
			if stop := prompt("Do the second " + model.Mark("second")); stop != "end_turn" || e.asked != 1 {
				t.Errorf("the turn ended by %q, and the editor was asked %d times; want end_turn and 1", stop, e.asked)
			}
			if _, err := os.Stat(ran); err != nil {
				t.Errorf("what the editor allowed did not run: %v", err)
			}
			if ps := run("ps", "--json"); !strings.Contains(ps, `"agent": "`+name+`"`) || !strings.Contains(ps, session) {
				t.Errorf("ps shows %s, want the session %s of %s", ps, session, name)
			}
			e.end()
		})
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// acpEditor is an editor that allows everything it is asked about, once.
type acpEditor struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
	next  int
	asked int
}

func startEditor(t *testing.T, program string, env []string, dir string, args []string) *acpEditor {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), agentstest.Timeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &acpEditor{t: t, cmd: cmd, stdin: stdin, lines: bufio.NewReader(stdout)}
}

type acpResult struct{ SessionID, StopReason string }

// call asks the agent something and answers what it asks meanwhile.
func (e *acpEditor) call(method, params string) acpResult {
	e.t.Helper()
	e.next++
	request := map[string]any{"jsonrpc": "2.0", "id": e.next, "method": method, "params": json.RawMessage(params)}
	e.send(request)
	for {
		line, err := e.lines.ReadBytes('\n')
		if err != nil {
			e.t.Fatalf("%s: the agent ended: %v", method, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Options []struct{ OptionID, Kind string }
			}
			Result acpResult
			Error  json.RawMessage
		}
		_ = json.Unmarshal(line, &m) // what has another shape is not for this editor
		switch {
		case m.Method == "session/request_permission":
			e.asked++
			for _, option := range m.Params.Options {
				if option.Kind == "allow_once" {
					e.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
						"outcome": map[string]any{"outcome": "selected", "optionId": option.OptionID}}})
					break
				}
			}
		case m.Method != "" && m.ID != nil:
			e.send(map[string]any{"jsonrpc": "2.0", "id": m.ID,
				"error": map[string]any{"code": -32601, "message": "not here"}})
		case m.Method == "" && string(m.ID) == string(mustJSON(e.next)):
			if m.Error != nil {
				e.t.Fatalf("%s: the agent says %s", method, m.Error)
			}
			return m.Result
		}
	}
}

func mustJSON(v any) []byte { b, _ := json.Marshal(v); return b }

func (e *acpEditor) send(message any) {
	e.t.Helper()
	if _, err := e.stdin.Write(append(mustJSON(message), '\n')); err != nil {
		e.t.Fatal(err)
	}
}

// end leaves, as an editor does.
func (e *acpEditor) end() {
	e.t.Helper()
	_ = e.stdin.Close()
	if err := e.cmd.Wait(); err != nil {
		e.t.Errorf("hookmux acp ended by %v, want the agent's exit code 0", err)
	}
}
