package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// nobodysWord is as long as foreignWord, and nobody ever wrote it.
const nobodysWord = "qwertyui"

// Whatever an agent puts into the arguments of a tool, the answer is the same as if the other
// session didn't exist: what it asks about somebody else is answered like what it asks about
// nobody.
func TestMCPAnswersHostileArguments(t *testing.T) {
	w, foreign := twoSessions(t)
	own := w.Base + "/own"
	if err := os.Symlink(foreign, filepath.Join(own, "link-"+foreignWord)); err != nil {
		t.Fatal(err)
	}
	w.set("usage.budgets", `["session=1000tokens block=100%","day=9000tokens ask=50% project=`+foreign+`"]`)
	session := openMCP(t, w)
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(tool string, args json.RawMessage) string {
		result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return "error: " + err.Error()
		}
		b, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if result.IsError && strings.Contains(string(b), "validating") && !strings.Contains(string(b), foreignWord) {
			return "invalid" // for one of several reasons
		}
		return string(b)
	}
	texts := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", " ", ".", "..", "/", "*", "%", "_", "?", "0", "-1", "1", "9999999999999999999", "null", "\x00", "\u202e", "\ufffd", "ＡＢ",
			"session-" + foreignWord, "session-own", foreign, foreign + "/", own, own + "/../" + foreignWord, own + "/link-" + foreignWord,
			own + "/link-" + foreignWord + "/.", "/proc/self/cwd", "file://" + foreign, "~", foreignWord, foreignWord + "*", `"` + foreignWord + `"`,
			"session:" + foreignWord, "text:" + foreignWord + " OR hamster", "hamster OR " + foreignWord, "NOT hamster", "' OR 1=1 --",
			`" OR "" = "`, "NEAR(tell " + foreignWord + ")", "codex", "claude", "hookmux", "deny", "allow", "none", "deny\n",
		}),
		rapid.String(),
		rapid.Custom(func(rt *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", foreignWord + " ", "\u00e9", "(", `"`}).Draw(rt, "piece"),
				rapid.SampledFrom([]int{100, 5000, 60_000}).Draw(rt, "times"))
		}),
	)
	var values func(depth int) *rapid.Generator[any]
	values = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(rt *rapid.T) any {
			switch kind := rapid.IntRange(0, 7+2*depth).Draw(rt, "kind"); kind {
			case 4:
				return rapid.OneOf(rapid.IntRange(-10, 200), rapid.Int()).Draw(rt, "int")
			case 5:
				return rapid.Float64Range(-1e9, 1e9).Draw(rt, "float")
			case 6:
				return rapid.Bool().Draw(rt, "bool")
			case 7:
				return nil
			case 8:
				return []any{values(0).Draw(rt, "element")}
			case 9:
				return map[string]any{texts.Draw(rt, "key"): values(0).Draw(rt, "value")}
			default:
				return texts.Draw(rt, "text")
			}
		})
	}
	for reader, table := range map[string]*proctest.Table{"the agent": withAgents("claude"), "what it left": withAgents("left"), "nobody known": withAgents("nobody")} {
		w.SetProcesses(table)
		rapid.Check(t, func(rt *rapid.T) {
			tool := rapid.SampledFrom(tools.Tools).Draw(rt, "tool")
			names := []string{"project", "cwd", "folder", "all", "pid", "host", "session_id", "filter", foreignWord}
			for name := range argumentsOf(t, tool) {
				names = append(names, name, name, name)
			}
			slices.Sort(names) // the same for the same seed
			args := map[string]any{}
			for range rapid.IntRange(0, 4).Draw(rt, "arguments") {
				args[rapid.SampledFrom(names).Draw(rt, "name")] = values(1).Draw(rt, "value")
			}
			theirs, err := json.Marshal(args)
			if err != nil {
				rt.Skip() // no JSON: it can't be sent
			}
			nobodys := json.RawMessage(strings.ReplaceAll(string(theirs), foreignWord, nobodysWord))
			a, b := ask(tool.Name, theirs), ask(tool.Name, nobodys)
			if invalid := strings.Contains(a, "validating") || a == "invalid"; invalid && strings.Contains(string(theirs), foreignWord) {
				return // what was asked is repeated
			}
			if strings.ReplaceAll(a, foreignWord, nobodysWord) != b {
				rt.Fatalf("%s, %s %.300s: the answer tells the other session from none:\n%.1000s\n%.1000s", reader, tool.Name, theirs, a, b)
			}
			if strings.Contains(a, foreignWord) && !strings.Contains(string(theirs), foreignWord) {
				rt.Fatalf("%s, %s %.300s sees the other session: %.1000s", reader, tool.Name, theirs, a)
			}
		})
	}
}

// An agent reports its own sessions, and so may report one in any folder. That opens no other
// project to it.
func TestMCPOfForgedSessions(t *testing.T) {
	w, foreign := twoSessions(t)
	own := w.Base + "/own"
	link := filepath.Join(own, "link")
	if err := os.Symlink(foreign, link); err != nil {
		t.Fatal(err)
	}
	session := openMCP(t, w)
	for i, folder := range []string{foreign, link, own + "/../" + foreignWord, foreign + "/.", w.Base, "/", ""} {
		w.SetProcesses(withAgents("claude"))
		for _, one := range [][2]string{{"claude", fmt.Sprint("session-forged-", i)}, {"claude", "session-own"},
			{"claude", "session-" + foreignWord}, {"codex", "session-forged"}, {"codex", "session-" + foreignWord}} {
			w.tellSession(one[0], one[1], folder, "forged")
			for _, tool := range []string{"sessions", "history", "budgets"} {
				result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(`{}`)})
				if err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(result.StructuredContent)
				if err != nil {
					t.Fatal(err)
				}
				var seen struct {
					Sessions []struct{ Agent, ID string }
					Events   []struct{ Summary string }
				}
				if err := json.Unmarshal(b, &seen); err != nil {
					t.Fatal(err)
				}
				for _, it := range seen.Sessions {
					if it.Agent == "codex" && it.ID == "session-"+foreignWord {
						t.Errorf("a report of %s in %q shows the other session", one, folder)
					}
				}
				for _, it := range seen.Events {
					if strings.Contains(it.Summary, foreignWord) {
						t.Errorf("a report of %s in %q shows what the other session did: %s", one, folder, it.Summary)
					}
				}
			}
		}
	}
}

// Where the agent's process works, its project is: sessions of other agents there are shown.
func TestMCPShowsSiblings(t *testing.T) {
	w, _ := twoSessions(t)
	own := w.Base + "/own"
	if err := os.Mkdir(own+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	w.SetProcesses(withAgents("codex"))
	w.tellSession("codex", "session-sibling", own+"/sub", "hamster")
	w.SetProcesses(daemontest.AtTerminal(
		proctest.Node{PID: daemontest.AgentPID, Name: "claude", Program: "/opt/claude/bin/claude", Env: []string{"PWD=" + own}, Below: []proctest.Node{
			{PID: daemontest.AgentPID + 50, Name: "sh", Program: "/usr/bin/sh", Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux"}}}}},
		proctest.Node{PID: otherPID, Name: "codex", Program: "/opt/codex/bin/codex"}))
	result, err := openMCP(t, w).CallTool(t.Context(), &sdk.CallToolParams{Name: "sessions", Arguments: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(result.StructuredContent)
	if err != nil || !strings.Contains(string(b), "session-sibling") || strings.Contains(string(b), foreignWord) {
		t.Errorf("sessions are %s, error %v; want the other agent's in the same project, and none beyond it", b, err)
	}
}
