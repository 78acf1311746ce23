package tshook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// Whatever is wrong with a file is said with its place in the
// TypeScript a person wrote.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, where, want string }{
		{"syntax", "const a: string = 1;\n\nexport default function (h) {\n  h.on(\"x\" () => {});\n}\n", "hook.ts:4:15", "Expected \")\""},
		{"no default", "export const a = 1;\n", "hook.ts", "no default export"},
		{"not a function", "export default { a: 1 };\n", "hook.ts", "no default export"},
		{"throws at the top", "interface A { b: string }\n\ntype C = A;\nnull.x;\nexport default () => {};\n", "hook.ts:4:", "TypeError: cannot read property 'x' of null"},
		{"throws in the factory", "type A = 1;\nexport default function (h: any) {\n  // a comment\n  throw new RangeError(\"too far\");\n}\n", "hook.ts:4:", "RangeError: too far"},
		{"rejects", "export default async (h: any) => {\n  await null;\n  throw new Error(\"late\");\n}\n", "hook.ts:3:", "late"},
		{"missing file", "import { a } from \"./other.ts\";\nexport default () => a;\n", "hook.ts:1:", "Could not resolve \"./other.ts\""},
		{"missing package", "import a from \"left-pad\";\nexport default () => a;\n", "hook.ts:1:", "Could not resolve \"left-pad\""},
		{"missing part of Node", "import z from \"node:worker_threads\";\nexport default () => z;\n", "hook.ts", "runtime: node"},
		{"on without a function", "export default (h: any) => {\n\n  h.on(\"tool_call\", 1 as any);\n};\n", "hook.ts:3:", "the handler must be a function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHarness(t, nil)
			m, err := s.engine.Load(context.Background(), Source{Path: s.file("hook.ts", c.text)})
			if err == nil {
				t.Fatal("loaded; want an error")
			}
			text := strings.TrimPrefix(err.Error(), s.dir+"/")
			if !strings.HasPrefix(text, c.where) || !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Errorf("%s\nwant %s … %s", text, c.where, c.want)
			}
			info := m.Info()
			if info.OK() || len(info.Errors) != 1 || s.troubles() != err.Error() {
				t.Errorf("ok %v, errors %v, told %q", info.OK(), info.Errors, s.troubles())
			}
		})
	}
}

// At tool_call a throw is a failure, elsewhere it is reported and
// the other handlers still run.
func TestThrow(t *testing.T) {
	s := newHarness(t, nil)
	s.file("lib/deep.ts", "export interface Unused {}\nexport function deeper(command: string): void {\n  if "+
		"(command) throw new Error(\"no \" + command);\n}\n")
	m := s.load("hook.ts", `// first
import { deeper } from "./lib/deep";
export default function (h: any) {
  h.on("tool_call", async (event: any) => {
    await null;
    deeper(event.input.command);
  });
  h.on("tool_result", () => {
    throw "only text";
  });
  h.on("tool_result", () => ({ content: [{ type: "text", text: "still here" }] }));
}
`)
	for range 2 {
		if _, err := s.handle(m, s.bash("ls")); err == nil || err.Error() != "hook.ts: no ls" {
			t.Errorf(`error %v, want an error and err.Error() = "hook.ts: no ls"`, err)
		}
	}
	d := s.must(m, s.claude("PostToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "ls"},
		"tool_response": pi.Object{"stdout": "a", "stderr": "b", "interrupted": false}}))
	if string(d.Output) != `{"interrupted":false,"stderr":"","stdout":"still here"}` {
		t.Errorf(`d.Output = %s, want {"interrupted":false,"stderr":"","stdout":"still here"}`, d.Output)
	}
	want := filepath.Join(s.dir, "lib", "deep.ts") + ":3:"
	if got := s.troubles(); !strings.HasPrefix(got, want) || strings.Count(got, "no ls") != 1 ||
		!strings.Contains(got, "only text") {
		t.Errorf("told %q, want %s once", got, want)
	}
	if p := s.problems[0]; p.Event != "tool_call" || !strings.Contains(p.Stack, "hook.ts:6:") {
		t.Errorf(`p = %+v, want p.Event = "tool_call" and "hook.ts:6:" in p.Stack`, p)
	}
	if n := len(m.Info().Errors); n != 2 {
		t.Errorf("%d errors kept, want 2", n)
	}
}

// A guard whose file does not load refuses; when it was mended it
// works again.
func TestBroken(t *testing.T) {
	s := newHarness(t, nil)
	path := s.file("gate.ts", "export default (h) => h.on(\"tool_call\", () => {})")
	m, err := s.engine.Load(context.Background(), Source{Path: path, Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	<-s.changed
	if d := s.must(m, s.bash("ls")); d.Verdict != event.None {
		t.Errorf("d = %+v, want d.Verdict = event.None", d)
	}
	s.file("gate.ts", "export default (h) => h.on(\"tool_call\", () => {")
	<-s.changed
	if _, err := s.handle(m, s.bash("ls")); err == nil || !strings.HasPrefix(err.Error(), path+":1:") {
		t.Errorf("error %v, want an error and err.Error() that begins with %q", err, path+":1:")
	}
	if r := m.Registrations("gate"); len(r) == 0 || r[1].HookType != "tool.before" || r[1].Role != "guard" ||
		r[1].OnFailure != "deny" {
		t.Errorf(`r = %+v, want len(r) other than 0, r[1].HookType = "tool.before", r[1].Mode = "guard" and `+
			`r[1].OnFailure = "deny"`, r)
	}
	s.file("gate.ts", "export default (h) => h.on(\"tool_call\", () => ({ block: true, reason: \"mended\" }))")
	<-s.changed
	if d := s.must(m, s.bash("ls")); d.Verdict != event.Deny || d.Reason != "mended" {
		t.Errorf(`d = %+v, want d.Verdict = event.Deny and d.Reason = "mended"`, d)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	<-s.changed
	if _, err := s.handle(m, s.bash("ls")); err == nil {
		t.Error("a guard whose file is gone said nothing")
	}
}

// A handler that nothing ever calls is told of, and one of
// a name that some generation has is not.
func TestMisspeltEvents(t *testing.T) {
	s := newHarness(t, nil)
	for _, c := range []struct{ imports, names, never string }{
		{`import type { HookAPI } from "hookmux";`, "tool_cal tool_call tool_result input session_start agent_settled session_info_changed context user_bash turn_end", "tool_cal"},
		{`import type { HookAPI } from "hookmux"; // pi.on("session"`, "session tool_call", ""},
		{`import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";`, "session agent_start turn_end tool_call PreToolUse", "PreToolUse"},
		{`import type { HookAPI } from "@mariozechner/pi-coding-agent";`, "session_start session_switch session_branch session_before_branch session_before_compact session_shutdown", ""},
	} {
		m := s.load("names.ts", c.imports+"\nexport default (pi: HookAPI) => { for (const name of \""+c.names+
			"\".split(\" \")) pi.on(name as any, () => {}); };")
		var never []string
		for _, l := range m.Info().Limits {
			if strings.Contains(l.Text, "no such event") {
				never = append(never, l.Event)
			}
		}
		if got := strings.Join(never, " "); got != c.never {
			t.Errorf("%s: never called are %q, want %q", c.names, got, c.never)
		}
	}
}

// A promise that is rejected and that nothing handles is
// reported with its place, in both runtimes; one that gets a handler is not.
func TestFloatingRejection(t *testing.T) {
	for _, runtime := range []string{"quickjs", "node"} {
		t.Run(runtime, func(t *testing.T) {
			if _, err := exec.LookPath("node"); runtime == "node" && err != nil {
				t.Skip("no node here")
			}
			s := newHarness(t, nil)
			m := s.load("float.ts", "// runtime: "+runtime+`
interface Unused { a: string }
async function lose(what: string): Promise<void> {
  await null;
  throw new RangeError("lost " + what);
}
export default (h: any) => h.on("tool_call", async (event: any) => {
  lose("one").catch(() => {});
  await lose("two").then(undefined, () => {});
  const late = lose("three");
  await late.catch(() => {});
  void lose("four");
  Promise.reject("only words");
});
`)
			s.must(m, s.bash("ls"))
			await.Until(t, "two reports", func() bool { return strings.Count(s.troubles(), "\n") >= 1 })
			got := s.troubles()
			if !strings.Contains(got, filepath.Join(s.dir, "float.ts")+":5:") || // the engines differ in the column
				!strings.Contains(got, ": a promise was rejected and nothing handles it: RangeError: lost four") ||
				!strings.Contains(got, "nothing handles it: only words") || strings.Count(got, "\n") != 1 {
				t.Errorf("reported:\n%s\nwant two lines, one for each rejection", got)
			}
			if d := s.must(m, s.bash("ls")); d.Verdict != event.None {
				t.Errorf("afterwards: %v, expected no opinion", d)
			}
		})
	}
}

// What fails outside of the engine is reported with the line
// that asked for it.
func TestPlacesOfFailures(t *testing.T) {
	for name, c := range map[string]struct{ imports, line string }{
		"fetch":     {"", `await fetch("http://127.0.0.1:1/x");`},
		"file":      {`import { readFile } from "node:fs/promises";`, `await readFile("/nowhere/at/all");`},
		"file sync": {`import * as fs from "node:fs";`, `fs.readFileSync("/nowhere/at/all");`},
		"net":       {`import net from "node:net";`, `net.connect(1);`},
		"process":   {`import { execSync } from "node:child_process";`, `execSync("exit 3");`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, nil)
			m, err := s.engine.Load(t.Context(), Source{Path: s.file("place.ts", c.imports+`
interface Unused { a: string }
export default (h: any) => h.on("tool_call", async (event: any) => {
  await null;
    `+c.line+`
});
`)})
			where := "place.ts:5:"
			if err != nil && name == "net" { // refused when the file is loaded, at its import
				where = "place.ts:1:"
			} else if err != nil {
				t.Fatal(err)
			} else if _, err = s.handle(m, s.bash("ls")); err == nil {
				t.Fatal("expected a failure, got none")
			}
			if got := s.troubles(); !strings.HasPrefix(got, filepath.Join(s.dir, where)) {
				t.Errorf("reported %q, want a place that begins with %s (%v)", got, where, err)
			}
		})
	}
}

// A hook that ends its own Node is reported with the place.
func TestNodeEnds(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here")
	}
	s := newHarness(t, nil)
	m := s.load("ends.ts", "// runtime: node\ntype A = 1;\nexport default (h: any) => h.on(\"tool_call\", () => {\n "+
		" process.exit(3);\n});\n")
	if _, err := s.handle(m, s.bash("ls")); err == nil || !strings.Contains(err.Error(), "node ended") {
		t.Errorf("got %v, expected that node ended", err)
	}
	await.Until(t, "a report", func() bool { return s.troubles() != "" })
	if got := s.troubles(); !strings.HasPrefix(got, filepath.Join(s.dir, "ends.ts")+":4:") ||
		!strings.Contains(got, "exit code 3") {
		t.Errorf(`reported %q; want got to begin with filepath.Join(s.dir, "ends.ts")+":4:" and "exit code `+
			`3" in got`, got)
	}
	if errs := m.Info().Errors; len(errs) == 0 {
		t.Error("the module's errors do not have it")
	}
}
