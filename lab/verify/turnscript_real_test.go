package verify

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// mcpVariable makes the test program an MCP server.
const mcpVariable = "HOOKMUX_TEST_MCP"

// serveMCP is the smallest server with one tool, echo.
func serveMCP() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var q struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string
				Arguments       struct{ Text string }
			}
		}
		if json.Unmarshal(lines.Bytes(), &q) != nil || q.ID == nil {
			continue
		}
		var result any = map[string]any{}
		switch q.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": q.Params.ProtocolVersion,
				"capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo":   map[string]any{"name": "lab", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "echo", "description": "Echoes",
				"inputSchema": map[string]any{
					"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}}}}}
		case "tools/call":
			result = map[string]any{"content": []any{map[string]any{"type": "text",
				"text": "echoed " + q.Params.Arguments.Text}}}
		}
		b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result})
		fmt.Printf("%s\n", b)
	}
}

// Question, plan, helper and MCP tool, with what must be true
// afterwards, on the agent that has words for all of them. It offers questions
// and plans at a terminal only; hooks answer them there.
func TestRealTurnScripts(t *testing.T) {
	agentstest.Repeats(t, "the rows about questions, plans and helpers")
	const answer, goAhead = "hookmux-verify-answer: blue", "hookmux-verify-plan: not yet"
	for _, c := range []struct {
		name   string
		args   []string // headless, or
		mode   string   // at a terminal in this mode
		script testbed.TurnScript
	}{
		{"question", nil, "default", testbed.TurnScript{
			Steps: []model.ScriptStep{{Question: &model.Question{Header: "Colour", Text: "Which colour?", Options: []string{"red", "blue"}}}, {Run: []string{testbed.TaggedCommand("answered")}}, {Say: testbed.LastWords}},
			Want: testbed.Want{Told: []string{answer}, Files: []string{"ran-answered"}, Tools: []event.ToolKind{event.Question},
				Events: []event.Kind{event.SessionStart, event.ToolBefore, event.ToolBefore, event.TurnEnd}},
		}},
		{"plan", nil, "plan", testbed.TurnScript{
			Steps: []model.ScriptStep{{Plan: "First this, then that."}, {Say: testbed.LastWords}},
			Want:  testbed.Want{Told: []string{goAhead}, Tools: []event.ToolKind{event.Plan}},
		}},
		{"subagent", nil, "", testbed.TurnScript{
			Steps: []model.ScriptStep{{Subagent: "sub"}, {Say: testbed.LastWords}}, Named: map[string][]model.ScriptStep{"sub": testbed.SubSteps},
			Want: testbed.Want{Files: []string{"ran-sub"}, Told: []string{"out-sub", "The scripted helper is done."}, Exit: testbed.ExitsWith(0),
				Events: []event.Kind{event.TurnStart, event.SubagentStart, event.SubagentEnd, event.TurnEnd}},
		}},
		{"mcp", []string{"--mcp-config", "mcp.json", "--allowedTools", "mcp__lab__echo"}, "", testbed.TurnScript{
			Steps: []model.ScriptStep{{MCP: &model.MCP{Server: "lab", Tool: "echo", Input: map[string]any{"text": "hi"}}}, {Say: testbed.LastWords}},
			Want:  testbed.Want{Told: []string{"echoed hi"}, Tools: []event.ToolKind{event.MCP}, Exit: testbed.ExitsWith(0), Events: []event.Kind{event.ToolBefore, event.ToolAfter, event.TurnEnd}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := realTestBed(t, "claude")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			config, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"lab": map[string]any{
				"type": "stdio", "command": self, "args": []string{}, "env": map[string]string{mcpVariable: "1"}}}})
			if err := os.WriteFile(filepath.Join(st.Project, "mcp.json"), config, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := st.SetTurnScript(c.script); err != nil {
				t.Fatal(err)
			}
			err = st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
				if ev.Kind == event.ToolBefore && ev.Tool != nil {
					switch ev.Tool.Kind {
					case event.Question:
						return event.Decision{Verdict: event.Deny, Reason: answer}
					case event.Plan:
						return event.Decision{Verdict: event.Deny, Reason: goAhead}
					}
				}
				return event.Decision{}
			})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if c.mode == "" {
				err = st.RunHeadless(context.Background(), st.AgentCommand(),
					append(st.FreeCommand("Run it"), c.args...))
			} else {
				args := []string{"--permission-mode", c.mode, "--allowedTools", "Bash", "--",
					testbed.MarkedPrompt("Run it")}
				err = st.AtTerminal(context.Background(), args, func(ctx context.Context, _ *testbed.Terminal) error {
					st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd })
					return nil
				})
				var missing testbed.CannotRun
				if errors.As(err, &missing) {
					t.Skip(err)
				}
			}
			e := st.CollectEvidence(err, began)
			if e.Err != nil {
				t.Errorf("e.Err = %v, want no error", e.Err)
			}
			logEvidence(t, e)
			for _, q := range e.Requests {
				if len(q.NotOffered) > 0 {
					t.Logf("not offered: %v of %v", q.NotOffered, q.Tools)
				}
			}
			for _, unmet := range c.script.Want.Unmet(e) {
				t.Errorf("the scene wanted: %s", unmet)
			}
		})
	}
}
