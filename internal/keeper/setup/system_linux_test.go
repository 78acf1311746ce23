package setup

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	built "github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// The users of this test exist only in its own mount namespace.
const (
	alice = 61001
	bob   = 61002
)

const insideVariable = "HOOKMUX_SYSTEM_TEST"

// TestSystemService installs the real service with real users in a mount namespace of its own, attacks
// it as one of them and removes it.
func TestSystemService(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: it runs programs as different users")
	}
	if os.Getenv(insideVariable) != "" {
		t.Skip("runs as the child of itself")
	}
	base, err := os.MkdirTemp("/var/tmp", "hmsys") // /tmp is another one inside
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(base+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	err = built.Build(base+"/bin", built.Options{Released: true,
		Names: []string{"hookmux", "hookmux-hook", "hookmux-keeper", "hookmux-start"}})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := copyTreeExecutableTo(self, base+"/test"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(base+"/test", "-test.run=^TestInside$", "-test.v")
	cmd.Env = append(os.Environ(), insideVariable+"="+base)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}

func copyTreeExecutableTo(from, to string) error {
	return errors.Join(copyTree(from, to), os.Chmod(to, 0o755))
}

// world is the machine inside.
type world struct {
	*testing.T
	base   string
	keeper *exec.Cmd
	setup  *Setup
}

func TestInside(t *testing.T) {
	base := os.Getenv(insideVariable)
	if base == "" {
		t.Skip("runs only as the child of TestSystemService")
	}
	w := &world{T: t, base: base}
	w.makeMachine()
	w.setup = &Setup{Programs: base + "/bin", User: alice, Start: w.startKeeper, Stop: w.stopKeeper}
	w.makeOldState()
	steps, err := w.setup.Install()
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(steps); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.stopKeeper() })
	if _, err := os.Lstat(w.home() + "/.local/state/hookmux/consent.key"); err == nil {
		t.Error("the key stayed in the home")
	}
	w.wantAnswers()
	w.wantKept()
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			at := *w
			at.T = t
			attack.do(&at)
			at.wantBlocked()
			at.wantKept()
		})
	}
	t.Run("the keeper is gone", func(t *testing.T) {
		at := *w
		at.T = t
		at.withoutKeeper()
		w.keeper = at.keeper
	})
	w.uninstall()
	for _, uid := range []int{alice, bob} { // what is left of theirs; no other process has these users
		_ = as(uid, nil, "/bin/sh", "-c", "kill -9 -1").Run()
	}
}

// makeMachine lays temporary file systems over what is changed.
func (w *world) makeMachine() {
	w.must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	scratch := w.base + "/scratch"
	w.must(os.MkdirAll(scratch, 0o755))
	w.must(unix.Mount("tmpfs", scratch, "tmpfs", 0, "mode=755"))
	for _, dir := range []string{"/etc", "/usr", "/var/lib"} {
		upper, work := scratch+dir+"/upper", scratch+dir+"/work"
		w.must(os.MkdirAll(upper, 0o755))
		w.must(os.MkdirAll(work, 0o755))
		w.must(unix.Mount("overlay", dir, "overlay", 0, "lowerdir="+dir+",upperdir="+upper+",workdir="+work))
	}
	w.must(unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"))
	w.must(unix.Mount("tmpfs", "/home", "tmpfs", 0, "mode=755"))
	w.must(unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777"))
	for name, uid := range map[string]int{"alice": alice, "bob": bob} {
		w.append("/etc/passwd", fmt.Sprintf("%s:x:%d:%d::/home/%s:/bin/sh\n", name, uid, uid, name))
		w.append("/etc/group", fmt.Sprintf("%s:x:%d:\n", name, uid))
		w.must(os.Mkdir("/home/"+name, 0o755))
		w.must(os.Chown("/home/"+name, uid, uid))
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) append(file, text string) {
	w.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	w.must(err)
	_, err = f.WriteString(text)
	w.must(errors.Join(err, f.Close()))
}

func (w *world) home() string { return "/home/alice" }

// startKeeper does what systemd does.
func (w *world) startKeeper() error {
	g, err := group()
	if err != nil {
		return err
	}
	uid, err := lookupUID(paths.KeeperName)
	if err != nil {
		return err
	}
	for dir, mode := range map[string]os.FileMode{paths.KeeperRun: 0o755, paths.KeeperState: 0o700} {
		if err := errors.Join(os.MkdirAll(dir, mode), os.Chown(dir, uid, g), os.Chmod(dir, mode)); err != nil {
			return err
		}
	}
	log, err := os.Create(w.base + "/keeper.log")
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	w.keeper = exec.Command(paths.SystemProgram("hookmux-keeper"))
	w.keeper.Stderr = log
	w.keeper.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(g)}}
	if err := w.keeper.Start(); err != nil {
		return err
	}
	return Reachable(20 * time.Second)
}

func (w *world) stopKeeper() error {
	if w.keeper == nil {
		return nil
	}
	_ = w.keeper.Process.Kill()
	_ = w.keeper.Wait()
	w.keeper = nil
	return nil
}

func lookupUID(name string) (int, error) {
	text, err := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, ":"); f[0] == name {
			return strconv.Atoi(f[2])
		}
	}
	return 0, errors.Join(err, errors.New("no such user"))
}

// as runs a program as a user.
func as(uid int, env []string, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = "/tmp"
	cmd.Env = append([]string{"HOME=/home/alice", "PATH=/usr/bin:/bin"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return cmd
}

// shell runs a script as alice; what it says and whether it fails is the attack's business.
func (w *world) shell(script string) string {
	out, _ := as(alice, nil, "/bin/sh", "-c", script).CombinedOutput()
	return string(out)
}

// makeOldState installs the client and accepts settings that turn a guard off, and then those
// that turn it on. An attacker keeps the first.
func (w *world) makeOldState() {
	shim := w.home() + "/.local/share/hookmux/bin"
	w.shell("mkdir -p " + shim + " ~/.local/state/hookmux /home/alice/.config/hookmux; cp " + w.base + "/bin/hookmux-hook " +
		w.base + "/bin/hookmux " + shim)
	accept := func(settings string) {
		w.shell("for p in /proc/[0-9]*; do case $(cat $p/comm) in hookmux) kill -9 ${p#/proc/};; esac; done 2>/dev/null; rm -rf ~/.local/state/hookmux ~/.local/share/hookmux/accepted.once; mkdir -p ~/.local/state/hookmux; cat > ~/.config/hookmux/config.json <<'E'\n" +
			settings + "\nE\ncat > ~/.config/hookmux/hooks.json <<'E'\n" + promptHook + "\nE")
		out, err := w.helper(alice, "accept").CombinedOutput()
		if err != nil {
			w.Fatalf("accept: %v %s", err, out)
		}
	}
	accept(`{"guard.destructive": "off"}`)
	if answer, _ := w.call(dangerous); verdictOf(answer) != "" {
		w.Fatalf("with the guard off: %q; this test tests nothing", answer)
	}
	w.shell("cp -a ~/.local/state/hookmux ~/old-state; cp -a ~/.config/hookmux ~/old-config")
	accept(`{"guard.destructive": "block"}`)
}

func (w *world) daemon() int {
	w.Helper()
	_, reply, err := keeper.Send(paths.KeeperSocket, keeper.Ask)
	w.must(err)
	_ = reply // root's own; alice's is asked for as alice
	out, err := w.helper(alice, "pid").Output()
	w.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(lastLine(string(out))))
	w.must(err)
	return pid
}

func lastLine(text string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "RESULT "); ok {
			return rest
		}
	}
	return text
}

// dangerous is a call that the guard destructive stops, which is off by default. It is only asked
// about, never run.
const dangerous = `{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_input":{"command":"mkfs.ext4 /dev/sda1"}}`

const harmless = `{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_input":{"command":"ls"}}`

// promptHook refuses each prompt; hookmux's own guards don't look at prompts.
const promptHook = `{"version":1,"hooks":[{"id":"quiet","agent":"*","hookType":"turn.start","handler":"command",` +
	`"role":"guard","target":"echo no prompts >&2; exit 2"}]}`

const prompt = `{"session_id":"s","cwd":"/tmp","hook_event_name":"UserPromptSubmit","prompt":"hello"}`

// wantPromptBlocked makes a call that only the user's own hook refuses.
func (w *world) wantPromptBlocked() {
	w.Helper()
	cmd := as(alice, nil, w.home()+"/.local/share/hookmux/bin/hookmux-hook", "claude", "UserPromptSubmit", "60")
	cmd.Stdin = strings.NewReader(prompt)
	out, err := cmd.CombinedOutput()
	if !strings.Contains(string(out), `"block"`) && cmd.ProcessState.ExitCode() != 2 {
		w.Errorf("a prompt passes: %q, %v", out, err)
	}
}

// call makes a hook call as alice's agent.
func (w *world) call(payload string, env ...string) (string, time.Duration) {
	w.Helper()
	cmd := as(alice, env, w.home()+"/.local/share/hookmux/bin/hookmux-hook", "claude", "PreToolUse", "60")
	cmd.Stdin = strings.NewReader(payload)
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		w.Errorf("the hook client: %v", err)
	}
	return string(out), time.Since(start)
}

func verdictOf(answer string) string {
	var a struct {
		Out struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(answer), &a) != nil {
		return ""
	}
	return a.Out.Decision
}

// wantBlocked makes a call that must not pass, in several environments.
func (w *world) wantBlocked() {
	w.Helper()
	for _, env := range [][]string{nil, {"HOME=/tmp/evil", "XDG_STATE_HOME=/tmp/evil", "XDG_CONFIG_HOME=/tmp/evil",
		"HOOKMUX_RUNTIME_DIR=/tmp/evil", "GODEBUG=http2client=0", "LD_PRELOAD=/tmp/evil.so"}} {
		answer, took := w.call(dangerous, env...)
		verdict := verdictOf(answer)
		w.Logf("%s in %v", verdict, took.Round(time.Millisecond))
		if verdict != "deny" && verdict != "ask" {
			w.Errorf("with %v the call passes: %q", env, answer)
		}
	}
}

// wantKept makes sure that the service still has what was accepted: without it every built-in guard
// blocks, but not what only your own rules refuse.
func (w *world) wantKept() {
	w.Helper()
	w.wait()
	shown := w.shell(paths.SystemProgram("hookmux") + " config accept --dry-run --json")
	if !strings.Contains(shown, `"basis": "accepted"`) {
		w.Errorf("what was accepted is lost: %s", shown[:min(len(shown), 300)])
	}
}

// wantAnswers proves that the daemon decides, and that not everything is refused.
func (w *world) wantAnswers() {
	w.Helper()
	answer, _ := w.call(dangerous)
	if verdictOf(answer) != "deny" {
		log, _ := os.ReadFile(w.base + "/keeper.log")
		w.Fatalf("a dangerous call: %q, want deny\nkeeper: %s\nstart: %s\nevaluate: %s", answer, log,
			w.shell(paths.SystemProgram("hookmux-start")+" daemon </dev/null; echo $?"),
			w.shell("echo '"+dangerous+"' | "+paths.SystemProgram("hookmux-start")+" evaluate claude PreToolUse; echo $?"))
	}
	if answer, _ := w.call(harmless); verdictOf(answer) != "" {
		w.Errorf("a harmless call: %q, want nothing", answer)
	}
	if w.daemon() == 0 {
		w.Fatal("no daemon serves")
	}
}

// attacks are what a program of the same user tries. After each, the call must not pass.
var attacks = []struct {
	name string
	do   func(*world)
}{
	{"kill the daemon", func(w *world) { w.shell(fmt.Sprintf("kill -9 %d", w.daemon())) }},
	{"kill every daemon for a while", func(w *world) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 30 {
				w.shell("for p in /proc/[0-9]*; do case $(cat $p/comm) in hookmux-daemon) kill -9 ${p#/proc/};; esac; done 2>/dev/null")
			}
		}()
		w.wantBlocked()
		<-done
	}},
	{"stop the daemon", func(w *world) {
		w.wait()
		pid := w.daemon()
		w.wantPromptBlocked()
		w.shell(fmt.Sprintf("kill -STOP %d", pid))
		w.wantBlocked()
		w.wantPromptBlocked()
		w.shell(fmt.Sprintf("kill -CONT %d", pid))
	}},
	{"take the daemon's limits away", func(w *world) {
		w.wait()
		out, err := w.helper(alice, "limit", strconv.Itoa(w.daemon())).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "RESULT limited") {
			w.Errorf("%v %s", err, out) // else this test tests nothing
		}
		w.wantBlocked()
		w.shell(fmt.Sprintf("kill -9 %d", w.daemon()))
	}},
	{"swap the socket", func(w *world) {
		folder := paths.UserSocketFolder(alice)
		for _, script := range []string{"rm -f %s/daemon.sock", "mv %s /tmp/x", "touch %s/x", "chmod 777 %s", "ls %s",
			"ln -s /tmp/x %s/y", "rm -f " + paths.KeeperSocket, "touch " + paths.SystemFolder + "/x", "rm -f " + paths.SystemMarker,
			"mv " + paths.SystemFolder + "/hookmux-hook /tmp/x", "echo x > " + paths.SystemProgram("hookmux-daemon"),
			"ls " + paths.KeeperState, "cat " + paths.SystemProgram("hookmux-daemon") + " > /dev/null"} {
			script = strings.ReplaceAll(script, "%s", folder)
			if out, err := as(alice, nil, "/bin/sh", "-c", script).CombinedOutput(); err == nil {
				w.Errorf("%s works: %s", script, out)
			}
		}
	}},
	{"delete every file", func(w *world) {
		w.shell(fmt.Sprintf("kill -9 %d; rm -rf ~/.local/state/hookmux ~/.config/hookmux /run/user/%d/hookmux", w.daemon(), alice))
	}},
	{"write over every file", func(w *world) {
		w.shell(fmt.Sprintf("kill -9 %d; mkdir -p ~/.local/state/hookmux ~/.config/hookmux; cp -a ~/old-state/. ~/.local/state/hookmux/; "+
			"for f in $(find ~/.local/state/hookmux -type f); do echo garbage > $f; done; echo '{' > ~/.config/hookmux/config.json", w.daemon()))
	}},
	{"bring back what was accepted once", func(w *world) {
		w.shell(fmt.Sprintf("rm -rf ~/.local/state/hookmux ~/.config/hookmux; cp -a ~/old-state ~/.local/state/hookmux; "+
			"cp -a ~/old-config ~/.config/hookmux; kill -9 %d", w.daemon()))
	}},
	{"say it's off", func(w *world) {
		w.shell(fmt.Sprintf("echo '{\"content\":{\"until\":\"2099-01-01T00:00:00Z\"}}' > ~/.local/state/hookmux/off.json; "+
			"for f in guarded away.json; do echo > ~/.local/state/hookmux/$f; done; kill -9 %d", w.daemon()))
	}},
	{"look into the daemon", func(w *world) {
		w.wait()
		pid := w.daemon()
		for _, way := range []string{"mem", "environ", "fd", "maps", "ptrace", "seize", "pidfd", "vm", "cwd", "auxv"} {
			out, err := w.helper(alice, "look", way, strconv.Itoa(pid)).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "RESULT refused") {
				w.Errorf("%s: %v %s", way, err, out)
			}
		}
	}},
	{"start the launcher disturbed", func(w *world) {
		for _, way := range []string{"nnp", "userns", "traced", "fs", "files", "nofile", "cpu"} {
			out, err := w.helper(alice, "start", way).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "RESULT refused") {
				w.Errorf("%s: %v %s", way, err, out)
			}
		}
	}},
	{"lead the daemon into its folder", func(w *world) {
		w.wait()
		keys, err := filepath.Glob(filepath.Join(paths.KeeperState, strconv.Itoa(alice), "*", "state", "consent.key"))
		w.must(err)
		if len(keys) != 1 {
			w.Fatalf("keys %v, want one", keys) // else this test tests nothing
		}
		key, err := os.ReadFile(keys[0])
		w.must(err)
		w.shell("mkdir -p ~/.config/hookmux/rules; cd ~/.config/hookmux/rules; for n in $(seq 3 60); do " +
			"ln -s /proc/self/fd/$n/state/consent.key a$n.yaml; ln -s /proc/self/fd/$n/consent.key b$n.yaml; " +
			"ln -s /proc/self/fd/$n c$n.yaml; done; " +
			"ln -s /proc/self/environ e.yaml; ln -s /proc/self/maps m.yaml")
		shown := w.shell(paths.SystemProgram("hookmux") + " config accept --dry-run --json")
		w.Logf("%d bytes are shown", len(shown))
		if !strings.Contains(shown, "a3.yaml") {
			w.Errorf("the daemon didn't look at the links: %s", shown)
		}
		for _, secret := range []string{strings.TrimSpace(string(key)), filepath.Base(filepath.Dir(filepath.Dir(keys[0])))} {
			for _, text := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
				if strings.Contains(shown, text) {
					w.Errorf("the daemon shows %q", text)
				}
			}
		}
		w.shell("rm -rf ~/.config/hookmux/rules")
	}},
	{"pose as the daemon", func(w *world) {
		w.shell(fmt.Sprintf("kill -9 %d", w.daemon()))
		cmd := as(alice, []string{"HOOKMUX_GIVEN=3 4 5"}, paths.SystemProgram("hookmux-daemon"), "daemon")
		a, b, err := os.Pipe()
		w.must(err)
		dir, err := os.Open("/home/alice/old-state")
		w.must(err)
		cmd.ExtraFiles = []*os.File{dir, a, b}
		w.must(cmd.Start())
		w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}},
	{"starve the keeper", func(w *world) {
		var held []net.Conn
		for range 200 {
			if c, err := net.Dial("unix", paths.KeeperSocket); err == nil {
				held = append(held, c)
			}
		}
		hold := w.helper(alice, "hold")
		w.must(hold.Start())
		w.Cleanup(func() { _ = hold.Process.Kill(); _ = hold.Wait() })
		out, err := w.helper(bob, "use").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "RESULT 0") {
			w.Errorf("another user can't use the service meanwhile: %v %s", err, out)
		}
		for _, c := range held {
			_ = c.Close()
		}
	}},
	{"say garbage to the keeper", func(w *world) {
		for _, text := range []string{"", "x", "dd", "u\n", strings.Repeat("a", 20_000), "\x00", "GET / HTTP/1.0\r\n\r\n"} {
			out, err := w.helper(alice, "say", fmt.Sprintf("%x", text)).CombinedOutput()
			if err != nil || strings.Contains(string(out), "RESULT given") {
				w.Errorf("%q: %v %s", text[:min(9, len(text))], err, out)
			}
		}
		out, err := w.helper(alice, "say", "64").CombinedOutput() // a daemon's request, without the group
		if err != nil || !strings.Contains(string(out), "RESULT r") {
			w.Errorf("without the group: %v %s", err, out)
		}
	}},
	{"another user", func(w *world) {
		w.wait()
		if c, err := w.helper(bob, "connect", paths.UserSocketFolder(alice)+"/daemon.sock").CombinedOutput(); err != nil ||
			!strings.Contains(string(c), "RESULT refused") {
			w.Errorf("bob reaches alice's daemon: %v %s", err, c)
		}
	}},
	{"descriptors of the daemon", func(w *world) {
		w.wait()
		pid := w.daemon()
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fdinfo", pid))
		w.must(err)
		if len(entries) < 5 {
			w.Errorf("%d descriptors, want more", len(entries))
		}
		for _, e := range entries {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, e.Name()))
			if n, _ := strconv.Atoi(e.Name()); err != nil || n < 3 {
				continue
			}
			_, flags, _ := strings.Cut(string(text), "flags:")
			flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
			bits, err := strconv.ParseUint(flags, 8, 64)
			if err != nil || bits&unix.O_CLOEXEC == 0 {
				to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, e.Name()))
				w.Errorf("descriptor %s (%s) reaches children", e.Name(), to)
			}
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		w.must(err)
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "Gid:") && strings.TrimSpace(line) != fmt.Sprintf("Gid:\t%d\t%[1]d\t%[1]d\t%[1]d", alice) {
				w.Errorf("the daemon has %s", line)
			}
		}
	}},
	{"memory of the keeper", func(w *world) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.keeper.Process.Pid))
		w.must(err)
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.Atoi(strings.Fields(rest)[0])
				w.Logf("VmRSS of the keeper after all attacks: %d kB", kb)
				if kb > 15<<10 || kb == 0 {
					w.Errorf("it takes %d kB, more than 15 MB", kb)
				}
			}
		}
	}},
}

// wait makes calls until the daemon decides again.
func (w *world) wait() {
	w.Helper()
	for end := time.Now().Add(time.Minute); w.daemon() == 0; w.call(harmless) {
		if time.Now().After(end) {
			w.Fatal("no daemon comes up")
		}
	}
}

// withoutKeeper stops the service: what guards look at doesn't pass, and the reason says what to do.
func (w *world) withoutKeeper() {
	pid := w.daemon()
	w.must(w.stopKeeper())
	w.shell(fmt.Sprintf("kill -9 %d", pid))
	answer, _ := w.call(dangerous)
	if v := verdictOf(answer); v != "ask" && v != "deny" || !strings.Contains(answer, paths.Repair) {
		w.Errorf("without the keeper: %q", answer)
	}
	w.wantBlocked()
	w.must(w.startKeeper())
	w.wantAnswers()
}

func (w *world) uninstall() {
	steps, err := w.setup.Uninstall()
	w.must(err)
	w.must(Run(steps))
	for _, path := range []string{paths.SystemFolder, paths.SystemMarker, paths.KeeperState, paths.KeeperRun, unitFile} {
		if _, err := os.Lstat(path); err == nil {
			w.Errorf("%s is left", path)
		}
	}
	for _, file := range []string{"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"} {
		if text, _ := os.ReadFile(file); bytes.Contains(text, []byte(paths.KeeperName)) {
			w.Errorf("%s names %s", file, paths.KeeperName)
		}
	}
	if _, err := os.Stat(w.home() + "/.local/state/hookmux/consent.key"); err != nil {
		w.Errorf("the state didn't come back: %v", err)
	}
	if to, err := os.Readlink(w.home() + "/.local/share/hookmux/bin/hookmux-hook"); err == nil {
		w.Errorf("agents run %s", to)
	}
}

// helper runs TestHelper as a user.
func (w *world) helper(uid int, args ...string) *exec.Cmd {
	return as(uid, []string{"HOOKMUX_HELPER=" + strings.Join(args, " ")}, w.base+"/test", "-test.run=^TestHelper$", "-test.v")
}

// TestHelper plays a user's programs.
func TestHelper(t *testing.T) {
	args := strings.Fields(os.Getenv("HOOKMUX_HELPER"))
	if len(args) == 0 {
		t.Skip("runs only as a child of TestInside")
	}
	runtime.LockOSThread()
	fmt.Println("RESULT " + help(t, args))
}
