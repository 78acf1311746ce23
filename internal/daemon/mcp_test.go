package daemon

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/protocols/mcp"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// openMCP connects a client to the server, through the SDK's own transport.
func openMCP(t *testing.T, w *daemonFixture) *sdk.ClientSession {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	served, err := mcp.NewServer(w.Client, "test").Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); _ = served.Wait() })
	return session
}

// An agent that calls every tool with every argument sees nothing of a session outside
// its project, not even whether there is one.
func TestMCPShowsTheAgentsOwnProject(t *testing.T) {
	w, foreign := twoSessions(t)
	w.set("usage.budgets", `["session=1000tokens block=100%","day=9000tokens ask=50% project=`+foreign+`"]`)
	session := openMCP(t, w)
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("tools %v, error %v; want three", tools, err)
	}
	call := func(tool string, args map[string]any) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return err.Error()
		}
		b, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// What an argument may be: names of the other session and its folder, of everything,
	// and of nothing.
	values := map[string][]any{
		"string":  {"session-" + foreignWord, "codex", foreign, "hookmux", "deny", "none", "0", "1", "999999", "*", "%", "", "echo"},
		"integer": {-1, 0, 1, 100, 1_000_000_000},
		"boolean": {true, false},
	}
	readers := map[string]*proctest.Table{
		"the agent": withAgents("claude"), "what it left": withAgents("left"), "nobody known": withAgents("nobody"),
		"a person": withAgents(""),
	}
	tried := 0
	for reader, table := range readers {
		w.SetProcesses(table)
		for _, tool := range tools.Tools {
			if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
				t.Errorf("%s doesn't say that it only reads", tool.Name)
			}
			check := func(args map[string]any) {
				tried++
				answer := call(tool.Name, args)
				asked, _ := json.Marshal(args)
				for _, echo := range []string{"session-" + foreignWord, foreign} { // what was asked for may be repeated
					if strings.Contains(string(asked), echo) {
						answer = strings.ReplaceAll(answer, echo, "")
					}
				}
				if strings.Contains(answer, foreignWord) {
					t.Errorf("%s sees the other session by %s %s: %s", reader, tool.Name, asked, answer)
				}
				if reader == "a person" && !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, "unexpected") {
					t.Errorf("%s %s answers somebody who is no agent: %s", tool.Name, asked, answer)
				}
			}
			check(nil)
			properties := argumentsOf(t, tool)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				for _, value := range values[properties[name]] {
					check(map[string]any{name: value})
					if _, has := properties["limit"]; has {
						check(map[string]any{name: value, "limit": 1})
					}
				}
			}
			for _, name := range []string{"project", "cwd", "folder", "all", "pid"} { // no argument names the project
				check(map[string]any{name: foreign})
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d calls were tried: the test proves nothing", tried)
	}

	w.SetProcesses(withAgents("claude"))
	if answer := call("sessions", nil); !strings.Contains(answer, "session-own") {
		t.Errorf("the agent doesn't see its own session: %s", answer)
	}
	if answer := call("history", map[string]any{"text": "hamster"}); !strings.Contains(answer, "echo hamster") {
		t.Errorf("the agent doesn't find its own history: %s", answer)
	}
	if answer := call("budgets", nil); !strings.Contains(answer, "session-1000tokens") || !strings.Contains(answer, "session-own") ||
		strings.Contains(answer, "day-9000tokens") {
		t.Errorf("the agent doesn't see its own budget alone: %s", answer)
	}
	for _, args := range []map[string]any{{"limit": 1}, {"limit": 100}, {"hours": 1}} {
		theirs, nobodys := maps.Clone(args), maps.Clone(args)
		theirs["text"], nobodys["text"] = foreignWord, "qwertyuiop"
		if a, b := call("history", theirs), call("history", nobodys); a != b {
			t.Errorf("a word of the other session is answered differently from one that nobody wrote:\n%s\n%s", a, b)
		}
	}
}

// What the user opens to agents, the tools show as well, and nothing else; only the user opens it.
func TestMCPShowsWhatTheUserOpened(t *testing.T) {
	w, foreign := twoSessions(t)
	third := w.Base + "/third"
	if err := os.Mkdir(third, 0o700); err != nil {
		t.Fatal(err)
	}
	w.SetProcesses(withAgents("codex"))
	w.tellSession("codex", "session-third", third, "badger")
	w.tellSession("codex", "session-beside", foreign+"-2", "badger")
	w.SetProcesses(withAgents(""))
	session := openMCP(t, w)
	sees := func(reader string) (words []string) {
		t.Helper()
		w.SetProcesses(withAgents(reader))
		var all strings.Builder
		for _, tool := range []string{"sessions", "history", "budgets"} {
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{}})
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
		for _, word := range []string{"session-own", "session-" + foreignWord, "make " + foreignWord, "project-budget", "session-third", "session-beside"} {
			if strings.Contains(strings.ReplaceAll(all.String(), "day-9000tokens", "project-budget"), word) {
				words = append(words, word)
			}
		}
		w.SetProcesses(withAgents(""))
		return words
	}
	expect := func(when, reader string, want ...string) {
		t.Helper()
		if got := sees(reader); !slices.Equal(got, want) {
			t.Errorf("%s, %s sees %q; want %q", when, cmp.Or(reader, "a person"), got, want)
		}
	}
	w.set(config.UsageBudgets, `["day=9000tokens ask=50% project=`+foreign+`"]`)
	opened := []string{"session-own", "session-" + foreignWord, "make " + foreignWord, "project-budget"}
	expect("as installed", "claude", "session-own")

	w.SetProcesses(withAgents("claude"))
	for _, value := range []string{`["all"]`, `["` + foreign + `"]`, `"all"`} {
		if err := w.Call(wire.MethodConfigSet, wire.ConfigSetParams{Key: config.MCPProjects, Value: json.RawMessage(value)}, nil); !isRefused(err) {
			t.Errorf("an agent sets %s: %v; want a refusal", value, err)
		}
	}
	w.SetProcesses(withAgents(""))
	expect("after an agent tried to open it", "claude", "session-own")

	w.set(config.MCPProjects, `["`+foreign+`"]`)
	expect("opened", "claude", opened...)
	for _, nobody := range []string{"left", "nobody", ""} {
		expect("opened", nobody)
	}
	w.SetProcesses(withAgents("claude"))
	var listed []wire.Session
	w.MustCall(wire.MethodSessions, wire.SessionsParams{All: true}, &listed)
	for _, one := range listed {
		if one.ID != "session-own" {
			t.Errorf("the list of sessions shows %s; only the MCP server's tools show what's opened", one.ID)
		}
	}
	w.SetProcesses(withAgents(""))

	link := w.Base + "/link"
	if err := os.Symlink(foreign, link); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{link, foreign + "/.", foreign + "/../" + foreignWord} {
		w.set(config.MCPProjects, `["`+value+`"]`)
		expect("opened as "+value, "claude", opened...)
	}
	for _, value := range []string{foreignWord, "*", "..", ""} {
		if err := w.Call(wire.MethodConfigSet, wire.ConfigSetParams{Key: config.MCPProjects, Value: json.RawMessage(`["` + value + `"]`)}, nil); err == nil {
			t.Errorf("%q is taken for a folder", value)
		}
	}
	for _, value := range []string{foreign + "/deeper", "~/" + foreignWord} {
		w.set(config.MCPProjects, `["`+value+`"]`)
		expect("opened as "+value, "claude", "session-own")
	}
	w.set(config.MCPProjects, `["all"]`)
	expect("all opened", "claude", append(slices.Clone(opened), "session-third", "session-beside")...)
	w.set(config.MCPProjects, `[]`)
	expect("closed", "claude", "session-own")
}

// argumentsOf returns the arguments of a tool and their types.
func argumentsOf(t *testing.T, tool *sdk.Tool) map[string]string {
	t.Helper()
	b, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]struct{ Type string }
	}
	if err := json.Unmarshal(b, &schema); err != nil || len(schema.Properties) == 0 && tool.Name != "budgets" {
		t.Fatalf("%s: schema %s, error %v", tool.Name, b, err)
	}
	types := map[string]string{}
	for name, p := range schema.Properties {
		types[name] = p.Type
	}
	return types
}
