package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// accepting returns a bench whose daemon wants changes of files accepted, with these
// files in the folder of settings.
func accepting(t *testing.T, byUser bool, files map[string]string) *daemontest.Bench {
	t.Helper()
	w := newFixture(t)
	w.Accept, w.ByUser = true, byUser
	for name, text := range files {
		w.Write(filepath.Join(w.Dirs.Config, name), text)
	}
	return w.Bench
}

// shellCall returns a Bash call of Claude.
func shellCall(w *daemontest.Bench, command string) frame.Request {
	return daemontest.ToolBefore("claude", "s1", w.Dirs.Home, command)
}

func acceptNow(t *testing.T, w *daemontest.Bench) {
	t.Helper()
	var view wire.AcceptView
	w.MustCall(wire.MethodAcceptLook, nil, &view)
	w.MustCall(wire.MethodAccept, wire.AcceptParams{Hash: view.Hash}, nil)
}

const gateTSHook = `export default (hooks) => { hooks.on("tool_call", (event) => { if (event.input.command.includes(%WORD%)) return { block: true, reason: "gate says no" } }) }
`

// tsHookThatRefuses returns a hook in TypeScript that refuses commands with a word.
func tsHookThatRefuses(word string) string {
	return strings.ReplaceAll(gateTSHook, "%WORD%", `"`+word+`"`)
}

func TestTSHooksCountAsTheyWereAccepted(t *testing.T) {
	w := accepting(t, true, map[string]string{"hooks/gate.ts": tsHookThatRefuses("lx")})
	w.Up()
	file := filepath.Join(w.Dirs.Config, "hooks/gate.ts")
	w.MustDeny(shellCall(w, "lx"), "gate says no")
	w.Write(file, tsHookThatRefuses("other"))
	w.Eventually("the change waits", func() bool { _, waits := w.Problem("unaccepted"); return waits })
	w.MustDeny(shellCall(w, "lx"), "gate says no")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	w.MustDeny(shellCall(w, "lx"), "gate says no")
	w.Down()
	w.Up() // another daemon goes by the same
	w.MustDeny(shellCall(w, "lx"), "gate says no")
	w.Write(file, tsHookThatRefuses("other"))
	acceptNow(t, w)
	w.Eventually("the accepted file is loaded", func() bool { return daemontest.Denies(w.Send(shellCall(w, "other"))) })
	w.MustPass(shellCall(w, "lx"))
}

// A file that appears beside what an accepted hook imports does not take its
// place.
func TestImportsCountAsTheyWereAccepted(t *testing.T) {
	w := accepting(t, true, map[string]string{
		"hooks/gate.ts": `import { word } from "./lib/word"
export default (hooks) => { hooks.on("tool_call", (event) => { if (event.input.command.includes(word)) return { block: true, reason: "gate says no" } }) }
`,
		"hooks/lib/word.js": `export const word = "lx"`,
	})
	w.Up()
	w.MustDeny(shellCall(w, "lx"), "gate says no")
	w.Write(filepath.Join(w.Dirs.Config, "hooks/lib/word.ts"), `export const word = "nothing"`)
	w.Write(filepath.Join(w.Dirs.Config, "hooks/lib/word.js"), `export const word = "nothing"`)
	w.Down()
	w.Up()
	w.MustDeny(shellCall(w, "lx"), "gate says no")
}

// Nobody accepted anything yet: what is there refuses, and says nothing else.
func TestWithoutAcceptanceFilesOnlyRefuse(t *testing.T) {
	w := accepting(t, false, map[string]string{
		"config.json": `{"guard.own-files":"off","guard.secrets":"block","journal.keep":"90d"}`,
		"hooks.json": `{"version":1,"hooks":[
			{"id":"no","agent":"*","hookType":"tool.before","handler":"command","target":"echo no-lx >&2; exit 2","match":{"command":"^lx"}},
			{"id":"yes","agent":"*","hookType":"tool.before","handler":"command","target":"echo '{\"decision\":\"allow\"}'","match":{"command":"^echo"}}]}`,
	})
	w.Up()
	w.MustDeny(shellCall(w, "lx"), "no-lx")
	w.MustDeny(shellCall(w, "hookmux off"), "own-files")
	w.MustDeny(shellCall(w, "cat .env"), "secrets")
	w.MustPass(shellCall(w, "echo hello"))
	var settings []wire.Setting
	w.MustCall(wire.MethodConfigGet, wire.ConfigListParams{}, &settings)
	for _, s := range settings {
		if s.Key == "journal.keep" && string(s.Value) != `"90d"` {
			t.Errorf("journal.keep is %s: an upgrade would throw events away", s.Value)
		}
	}
	p, waits := w.Problem("unaccepted")
	if !waits || !strings.Contains(p.What, "haven't accepted") || !strings.Contains(p.Fix, "hookmux config accept") {
		t.Errorf("status says %+v, want that the settings were never accepted and what to run", p)
	}
	acceptNow(t, w)
	w.MustPass(shellCall(w, "hookmux off"))
	if got := w.Send(shellCall(w, "echo hello")); !strings.Contains(string(got.Stdout), "allow") {
		t.Errorf("an accepted hook that allows was answered with %q", got.Stdout)
	}
	if _, waits := w.Problem("unaccepted"); waits {
		t.Error("something still waits after it was accepted")
	}
}

// A person accepts what they saw, and nothing that came afterwards.
func TestAcceptingTakesWhatWasSeen(t *testing.T) {
	w := accepting(t, true, map[string]string{"config.json": `{"guard.destructive":"block"}`})
	w.Up()
	file := filepath.Join(w.Dirs.Config, "config.json")
	w.Write(file, `{"guard.destructive":"block","inbox.wait":"1m"}`)
	var seen wire.AcceptView
	w.MustCall(wire.MethodAcceptLook, nil, &seen)
	w.Write(file, `{"guard.destructive":"off"}`)
	if err := w.Call(wire.MethodAccept, wire.AcceptParams{Hash: seen.Hash}, nil); err == nil ||
		!strings.Contains(err.Error(), "changed since you looked") {
		t.Errorf("accepting something other than was seen: %v", err)
	}
	w.MustDeny(shellCall(w, "git push --force origin main"), "git")
	w.SetProcesses(daemontest.BelowAgent("claude"))
	for _, method := range []string{wire.MethodAccept, wire.MethodAcceptFollow, wire.MethodAcceptFirst,
		wire.MethodAcceptFile, wire.MethodAcceptRestore} {
		if err := w.Call(method, nil, nil); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("an agent called %s: %v", method, err)
		}
	}
}
