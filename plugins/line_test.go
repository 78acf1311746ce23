package plugins_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

func runNode(t testing.TB, dir, script string, env ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), script)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "HOOKMUX_RUNTIME_DIR=" + dir}, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("error %v, cmd.CombinedOutput() = %s; want no error", err, out)
	}
}

func piCall(as, command string) step {
	return step{"do": "call", "as": as, "name": "tool_call",
		"event": step{"type": "tool_call", "toolName": "bash", "toolCallId": "call_" + as,
			"input": step{"command": command}}}
}

func clawCall(as, command string) step {
	return step{"do": "call", "as": as, "name": "before_tool_call",
		"event": step{"toolName": "exec", "toolCallId": "call_" + as, "params": step{"command": command}}}
}

func ampCall(as, command string) step {
	return step{"do": "call", "as": as, "name": "tool.call", "event": step{"thread": step{"id": "T-1"},
		"toolUseID": "TU-" + as, "tool": "shell_command", "input": step{"command": command}}}
}

// evaluated returns what came of a call that all agents' plugins were asked about.
func evaluated(t testing.TB, agent string, p *played, as string) (refused, input string) {
	t.Helper()
	threw, returned, output, event := p.call(t, as)
	if agent == "opencode" {
		return threw, output
	}
	var r struct {
		Block       bool
		Reason      string
		BlockReason string
		Params      json.RawMessage
		Action      string
		Message     string
		Input       json.RawMessage
	}
	if returned != "" && returned != "null" {
		if err := json.Unmarshal([]byte(returned), &r); err != nil {
			t.Fatal(err)
		}
	}
	if threw != "" {
		t.Errorf(`%s was thrown %q, want ""`, agent, threw)
	}
	if agent == "amp" {
		r.Block = r.Action == "reject-and-continue"
		if r.Reason = r.Message; r.Input != nil {
			event = string(r.Input)
		}
	}
	if agent == "openclaw" {
		if r.Reason = r.BlockReason; r.Params != nil {
			event = string(r.Params)
		}
	}
	if r.Block != (r.Reason != "") {
		t.Errorf("half a refusal: %s", returned)
	}
	return r.Reason, event
}

// refusal returns the answer with which an agent's call is refused.
func refusal(agent, reason string) string {
	switch agent {
	case "pi":
		return `{"block":true,"reason":"` + reason + `"}`
	case "openclaw":
		return `{"block":true,"blockReason":"` + reason + `"}`
	case "amp":
		return `{"action":"reject-and-continue","message":"` + reason + `"}`
	}
	return `{"throw":"` + reason + `"}`
}

func toolCall(agent, as, command string) step {
	switch agent {
	case "pi":
		return piCall(as, command)
	case "openclaw":
		return clawCall(as, command)
	case "amp":
		return ampCall(as, command)
	}
	return ocBefore(as, command)
}

func eachAgent(t *testing.T, run func(t *testing.T, agent string)) {
	for _, agent := range plugins.Sources() {
		t.Run(agent, func(t *testing.T) {
			node(t)
			run(t, agent)
		})
	}
}

func TestNoDaemonNoHookmux(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		for _, hook := range []string{"", "/nowhere/hookmux-hook"} {
			p := play(t, agent, filepath.Join(t.TempDir(), "none"), plugins.Options{Hook: hook}, nil,
				toolCall(agent, "call", "ls"))
			if refused, input := evaluated(t, agent, p, "call"); refused != "" ||
				!strings.Contains(input, `"command":"ls"`) {
				t.Errorf("hook %q: refused %q, input %s", hook, refused, input)
			}
			p = play(t, agent, filepath.Join(t.TempDir(), "none"), plugins.Options{Hook: hook, Deny: true}, nil,
				toolCall(agent, "call", "ls"))
			if refused, _ := evaluated(t, agent, p, "call"); !strings.Contains(refused, "can't be reached") {
				t.Errorf("hook %q, installed to refuse: %q", hook, refused)
			}
		}
	})
}

// fakeClient writes a hookmux-hook that notes what it is called with.
func fakeClient(t testing.TB, says string) (program, notes string) {
	t.Helper()
	dir := t.TempDir()
	program, notes = filepath.Join(dir, "hookmux-hook"), filepath.Join(dir, "notes")
	text := "#!/bin/sh\n{ echo \"$@\"; cat; echo; } >> '" + notes + "'\ncat <<'EOF'\n" + says + "\nEOF\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, notes
}

func TestNoDaemonGoesThroughTheClient(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		program, notes := fakeClient(t, refusal(agent, "the client says no"))
		p := play(t, agent, t.TempDir(), plugins.Options{Hook: program, Deny: true}, nil, toolCall(agent, "call", "ls"))
		if refused, _ := evaluated(t, agent, p, "call"); refused != "the client says no" {
			t.Errorf(`refused %q, want "the client says no"`, refused)
		}
		b, err := os.ReadFile(notes)
		if err != nil {
			t.Fatal(err)
		}
		name := map[string]string{"opencode": "tool.execute.before", "openclaw": "before_tool_call",
			"amp": "tool.call", "pi": "tool_call"}[agent]
		if text := string(b); !strings.HasPrefix(text, "--on-unavailable=deny "+agent+" "+name+" 3") ||
			!strings.Contains(text, `"command":"ls"`) {
			t.Errorf("called with %s; want text to begin with \"--on-unavailable=deny \"+agent+\" \"+name+\" "+
				"3\" and `\"command\":\"ls\"` in text", text)
		}
	})
}

func TestNoDaemonLeavesWhatWasTold(t *testing.T) {
	t.Parallel()
	program, notes := fakeClient(t, "")
	play(t, "opencode", t.TempDir(), plugins.Options{Hook: program}, nil,
		ocEvent("session.created", step{"info": step{"id": ses}}), ocEvent("session.compacted", step{}))
	b, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, name := range []string{"opencode session.created ", "opencode session.compacted ", "opencode dispose "} {
		i := strings.Index(string(b)[at:], name)
		if i < 0 {
			t.Fatalf("%snot left in its place: %s", name, b)
		}
		at += i
	}
}

func TestSilentDaemon(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		h := newFakeDaemon(t, func(*frame.Request) string { return silent })
		p := play(t, agent, h.dir, plugins.Options{Limit: 400 * time.Millisecond}, []string{"HARNESS_DISPOSE=0"},
			toolCall(agent, "call", "ls"))
		if refused, _ := evaluated(t, agent, p, "call"); refused != "" {
			t.Errorf(`refused %q, want ""`, refused)
		}
		p = play(t, agent, h.dir, plugins.Options{Limit: 400 * time.Millisecond, Deny: true},
			[]string{"HARNESS_DISPOSE=0"}, toolCall(agent, "call", "ls"))
		if refused, _ := evaluated(t, agent, p, "call"); refused == "" {
			t.Error("ran although installed to refuse")
		}
		for _, r := range h.all() {
			if r.Deadline > 300*time.Millisecond {
				t.Errorf("deadline %v leaves no margin", r.Deadline)
			}
		}
	})
}

func TestDaemonDiesInMidRequest(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		var asked atomic.Int32
		h := newFakeDaemon(t, func(r *frame.Request) string {
			if r.Event != "tool_call" && r.Event != "tool.execute.before" && r.Event != "before_tool_call" &&
				r.Event != "tool.call" {
				return ""
			}
			if asked.Add(1) < 3 {
				return dies
			}
			return refusal(agent, "third time lucky")
		})
		p := play(t, agent, h.dir, plugins.Options{}, nil, toolCall(agent, "call", "ls"))
		if refused, _ := evaluated(t, agent, p, "call"); refused != "third time lucky" {
			t.Errorf(`refused %q, want "third time lucky"`, refused)
		}
		if all := h.all(); len(all) < 3 || all[0].ID != all[1].ID || all[1].ID != all[2].ID {
			t.Error("asked again under another id")
		}
	})
}

func TestDaemonThatAlwaysDies(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		h := newFakeDaemon(t, func(*frame.Request) string { return dies })
		p := play(t, agent, h.dir, plugins.Options{Limit: 5 * time.Second}, nil, toolCall(agent, "call", "ls"))
		if refused, _ := evaluated(t, agent, p, "call"); refused != "" {
			t.Errorf(`refused %q, want ""`, refused)
		}
	})
}

func TestNonsenseIsNoOpinion(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		nonsense := []string{"{", "null", "[1]", `"x"`, "7", `{"block":"yes","throw":true}`, `{"unknown":true}`,
			`{"ask":true}`, "\xff\xfe"}
		h := newFakeDaemon(t, func(r *frame.Request) string {
			for i, answer := range nonsense {
				if strings.Contains(string(r.Payload), fmt.Sprintf("number %d!", i)) {
					return answer
				}
			}
			return ""
		})
		var steps []step
		for i := range nonsense {
			steps = append(steps, toolCall(agent, fmt.Sprint(i), fmt.Sprintf("number %d!", i)))
		}
		p := play(t, agent, h.dir, plugins.Options{}, nil, steps...)
		for i, answer := range nonsense {
			if refused, input := evaluated(t, agent, p, fmt.Sprint(i)); refused != "" ||
				!strings.Contains(input, "number") {
				t.Errorf(`%q: refused %q, input %s; want refused == "" and "number" in input`, answer, refused, input)
			}
		}
		// A change that can't be made must not let the unchanged call run.
		h = newFakeDaemon(t, func(*frame.Request) string {
			return `{"action":"modify","input":"text","params":"text","output":{"args":"text"}}`
		})
		p = play(t, agent, h.dir, plugins.Options{}, nil, toolCall(agent, "call", "ls"))
		if refused, _ := evaluated(t, agent, p, "call"); refused == "" {
			t.Error("ran with the change left out")
		}
	})
}

func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	eachAgent(t, func(t *testing.T, agent string) {
		h := newFakeDaemon(t, func(*frame.Request) string { return refusal(agent, "no") })
		for _, off := range []string{"HOOKMUX_DISABLED=1", "HOOKMUX_" + strings.ToUpper(agent) + "_DISABLED=true"} {
			p := play(t, agent, h.dir, plugins.Options{}, []string{off}, toolCall(agent, "call", "ls"))
			if refused, _ := evaluated(t, agent, p, "call"); refused != "" || h.heard() != "" {
				t.Errorf(`%s: refused %q, heard %s; want refused == "" and h.heard() == ""`, off, refused, h.heard())
			}
		}
	})
}

// Both sides must arrive at the same socket, or a plugin talks to nobody.
func TestSocketPathAgreesWithTheDaemons(t *testing.T) {
	t.Parallel()
	program := node(t)
	file := filepath.Join(t.TempDir(), "where.mjs")
	line, err := os.ReadFile("line/line.js")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(line, "\nprocess.stdout.write(socketPath());\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 20)+"ö")
	for _, env := range [][]string{
		{"HOME=/h"}, {"HOME=/h/"}, {"HOME=relative"}, {"HOME="},
		{"HOME=/h", "HOOKMUX_RUNTIME_DIR=/r/"}, {"HOME=/h", "HOOKMUX_RUNTIME_DIR=/r//a/../b/"}, {"HOME=/h", "HOOKMUX_RUNTIME_DIR=relative"},
		{"HOME=/h", "HOOKMUX_RUNTIME_DIR=" + long},
	} {
		getenv := paths.GetenvFrom(env)
		dirs, err := paths.RuntimeOnly(getenv)
		if err != nil {
			t.Logf("%v: %v", env, err) // no home to be found here by anybody
			continue
		}
		if strings.HasSuffix(env[len(env)-1], long) {
			if err := dirs.MakeRuntime(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Remove(filepath.Dir(dirs.Socket())) })
		}
		cmd := exec.Command(program, file)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || string(out) != dirs.Socket() {
			t.Errorf("%v: plugin says %q, the daemon %q (%v %s)", env, out, dirs.Socket(), err, stderr.Bytes())
		}
	}
}

// A plugin of an installation takes its folder from what the installation wrote
// down, whatever the environment says; and it talks to nobody in a folder that
// others can write.
func TestInstalledPluginTakesNothingFromTheEnvironment(t *testing.T) {
	t.Parallel()
	program := node(t)
	source, err := os.ReadFile("line/line.js")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	passwd := filepath.Join(home, "passwd")
	user := fmt.Sprintf("root:x:1:1::/nowhere:/bin/sh\nme:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), home)
	key := strings.Repeat("k", 32)
	record := "hookmux installation 1\nhome=" + home + "\nruntime=" + home + "/run\nhook=/opt/hookmux-hook"
	record += "\nseal=" + paths.PlainMAC([]byte(key), "installation\x00"+record) + "\nend\n"
	written := home + "/.local/state/hookmux/installation"
	for file, text := range map[string]string{passwd: user, written: record,
		home + "/.local/state/hookmux/consent.key": key} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(hook, expression string) string {
		t.Helper()
		text := strings.NewReplacer("/etc/passwd", passwd, "__HOOKMUX_HOOK__", hook).Replace(string(source))
		file := filepath.Join(t.TempDir(), "where.mjs")
		if err := os.WriteFile(file, []byte(text+"\nprocess.stdout.write("+expression+");\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, file)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "HOOKMUX_RUNTIME_DIR=/r"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "failed: " + string(out)
		}
		return string(out)
	}
	if got, want := run("/opt/hookmux-hook", "socketPath()"), home+"/run/daemon.sock"; got != want {
		t.Errorf("the installation's plugin goes to %q, want %q", got, want)
	}
	// A record that something else wrote, or none, names no other place.
	usual := filepath.Join(home, ".local/state/hookmux/run")
	if _, err := os.Stat(fmt.Sprint("/run/user/", os.Getuid())); err == nil {
		usual = fmt.Sprint("/run/user/", os.Getuid(), "/hookmux")
	}
	shim := filepath.Join(home, ".local/share/hookmux/bin/hookmux-hook")
	unsealed, _, _ := strings.Cut(record, "\nseal=")
	for _, c := range []struct{ hook, text string }{
		{"/opt/hookmux-hook", strings.Replace(record, "/run\n", "/evil\n", 1)}, {"/opt/hookmux-hook", unsealed + "\nend\n"},
		{shim, strings.Replace(record, "/opt/", "/other/", 1)}, {shim, ""},
	} {
		if err := os.WriteFile(written, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(c.hook, "runtimeDir(process.getuid())"); got != usual {
			t.Errorf("with the record %q the plugin goes to %q, want %q", c.text, got, usual)
		}
	}
	if err := os.WriteFile(written, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run("/elsewhere/hookmux-hook", "socketPath()"); got != "/r/daemon.sock" {
		t.Errorf("another plugin goes to %q, want /r/daemon.sock", got)
	}
	if err := os.Mkdir(home+"/run", 0o700); err != nil {
		t.Fatal(err)
	}
	if got := run("/opt/hookmux-hook", "trustedSocket()"); got != home+"/run/daemon.sock" {
		t.Errorf("a folder of one's own: %q", got)
	}
	if err := os.Chmod(home+"/run", 0o777); err != nil {
		t.Fatal(err)
	}
	if got := run("/opt/hookmux-hook", "trustedSocket()"); !strings.Contains(got, "is open to others") {
		t.Errorf("a folder that others can write: %q", got)
	}
}

func TestChosenEvents(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	steps := []step{ocPrompt("prompt", "go"), await("prompt"), ocEvent("session.compacted", step{}),
		ocEvent("todo.updated", step{})}
	play(t, "opencode", h.dir, plugins.Options{}, nil, steps...)
	if got := h.heard(); got != "chat.message session.compacted dispose" {
		t.Errorf(`by default: %s, want "chat.message session.compacted dispose"`, got)
	}
	h = newFakeDaemon(t, nil)
	play(t, "opencode", h.dir, plugins.Options{Events: []string{"todo.updated", "chat.message"}}, nil, steps...)
	if got := h.heard(); got != "chat.message todo.updated" {
		t.Errorf(`chosen: %s, want "chat.message todo.updated"`, got)
	}
}

func TestLargePayloads(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, answers(map[string]string{"tool.execute.after": `{"output":{"output":"short"}}`}))
	p := play(t, "opencode", h.dir, plugins.Options{}, nil, ocAfter("some", strings.Repeat("x", 60_000)))
	if _, _, out, _ := p.call(t, "some"); !strings.Contains(out, `"output":"short"`) {
		t.Error("a larger payload was not answered")
	}
}
