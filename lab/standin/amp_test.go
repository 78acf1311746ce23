//go:build unix

package standin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
)

// ampPlays is Amp's process of one plugin, as `amp plugins show-docs` describes it: it
// calls the default function with the API, then the handlers of an event, and takes what
// the handler of a request returns. The current folder is the plugin's.
const ampPlays = `
import { pathToFileURL } from "node:url";
const [file, root, name, event] = process.argv.slice(2);
const handlers = {};
const { default: plugin, description } = await import(pathToFileURL(file));
if (typeof plugin !== "function") throw new Error("a plugin exports a default function");
if (typeof description !== "string" || description.length > 300) throw new Error("the description is not a short text");
const system = { workspaceRoot: { toString: () => root } };
const known = ["session.start", "tool.call", "tool.result", "agent.start", "agent.end", "changes.prompt"];
plugin({ system, on(event, handler) {
  if (!known.includes(event)) throw new Error(event + " is no event of Amp's");
  handlers[event] = handler;
} });
const result = await handlers[name](JSON.parse(event), { system });
if (name === "tool.call" && !["allow", "reject-and-continue", "modify", "synthesize", "error"].includes(result?.action))
  throw new Error("tool.call needs a result, and got " + JSON.stringify(result));
process.stdout.write(JSON.stringify(result ?? null));
`

// TestAmpAsDocumented goes from the installer to the answer, in both scopes, with the daemon
// and without it.
func TestAmpAsDocumented(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here, and plays Amp's")
	}
	a, ok := agent.Builtin().Agent("amp")
	if !ok {
		t.Fatal("amp is not in the catalogue")
	}
	w := &world{Bench: newBench(t), agent: a}
	plays := filepath.Join(t.TempDir(), "plays.mjs")
	if err := os.WriteFile(plays, []byte(ampPlays), 0o600); err != nil {
		t.Fatal(err)
	}
	for scope, name := range map[string]string{install.User: "~/.config/amp/plugins/hookmux.ts",
		install.Project: "./.amp/plugins/hookmux.ts"} {
		w.install(t, scope)
		text, err := os.ReadFile(w.file(name))
		if err != nil {
			t.Fatalf("%s: %v, want the plugin where Amp looks for it", scope, err)
		}
		// Amp's Bun takes the types out of a .ts; this file has none, and node takes it under another name.
		module := filepath.Join(t.TempDir(), "hookmux.mjs")
		if err := os.WriteFile(module, text, 0o600); err != nil {
			t.Fatal(err)
		}
		call := func(command string) (action, message string) {
			event, _ := json.Marshal(map[string]any{"thread": map[string]any{"id": "T-1"}, "toolUseID": "TU-1",
				"tool": "shell_command", "input": map[string]any{"command": command}})
			cmd := exec.Command(node, plays, module, "file://"+w.Project, "tool.call", string(event))
			cmd.Dir, cmd.Env = filepath.Dir(module), append(slices.Clone(w.Env), "PATH="+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			var result struct{ Action, Message string }
			if err == nil {
				err = json.Unmarshal(out, &result)
			}
			if err != nil {
				t.Fatalf("%s: error %v, Amp's process said %s; want a result of the handler", scope, err, out)
			}
			return result.Action, result.Message
		}
		if action, _ := call("ls"); action != "allow" {
			t.Errorf("%s: no opinion became %q, want allow, which leaves it to Amp's own rules", scope, action)
		}
		if action, why := call("deploy now"); action != "reject-and-continue" || !strings.Contains(why, "no deploys") {
			t.Errorf("%s: a refusal became %q %q, want reject-and-continue with the reason", scope, action, why)
		}
		w.uninstall(t)
		if _, err := os.Stat(w.file(name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v, want the plugin gone", scope, err)
		}
	}
}
