//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// network is namespaces that are linked by a bridge, each with an address of its own.
type network struct {
	t     *testing.T
	tag   string
	names []string
}

func (n *network) ip(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// newNetwork makes namespaces, or skips the test where that isn't possible.
func newNetwork(t *testing.T, count int) *network {
	t.Helper()
	for _, name := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " isn't installed")
		}
	}
	n := &network{t: t, tag: "hmx" + strconv.Itoa(os.Getpid()%100_000)}
	if err := exec.Command("ip", "netns", "add", n.tag).Run(); err != nil {
		t.Skip("no network namespaces can be made here")
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", n.tag).Run() })
	// The bridge is in a namespace of its own: nothing of this machine's network changes.
	n.ip("-n", n.tag, "link", "add", "bridge", "type", "bridge")
	n.ip("-n", n.tag, "link", "set", "bridge", "up")
	for i := range count {
		name := fmt.Sprintf("%s-%d", n.tag, i)
		n.ip("netns", "add", name)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", name).Run() })
		n.ip("-n", name, "link", "add", "eth", "type", "veth", "peer", "name", "port"+strconv.Itoa(i), "netns", n.tag)
		n.ip("-n", n.tag, "link", "set", "port"+strconv.Itoa(i), "master", "bridge", "up")
		n.ip("-n", name, "addr", "add", n.address(i)+"/24", "dev", "eth")
		for _, link := range []string{"lo", "eth"} {
			n.ip("-n", name, "link", "set", link, "up")
		}
		n.names = append(n.names, name)
	}
	return n
}

func (n *network) address(i int) string { return "10.77.0." + strconv.Itoa(i+1) }

// set cuts the link of a machine, or mends it.
func (n *network) set(i int, state string) {
	n.ip("-n", n.tag, "link", "set", "port"+strconv.Itoa(i), state)
}

// forward makes an address of this test's loopback one of a machine's loopback, too.
func (n *network) forward(i int, address string) {
	n.t.Helper()
	there, err := os.Open("/run/netns/" + n.names[i])
	if err != nil {
		n.t.Fatal(err)
	}
	defer there.Close()
	runtime.LockOSThread() // a namespace is a thread's
	defer runtime.UnlockOSThread()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		n.t.Fatal(err)
	}
	defer here.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		n.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		panic(back) // the thread is good for nothing
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				to, err := net.Dial("tcp", address)
				if err != nil {
					return
				}
				defer to.Close()
				go func() { _, _ = io.Copy(to, conn) }()
				_, _ = io.Copy(conn, to)
			}()
		}
	}()
}

// agentOn is a real agent on a machine, with a scripted model that runs one command.
type agentOn struct {
	*machine
	name    string
	in      realagents.Installed
	env     []string
	project string
	model   *model.Server
}

const lookFirst = "version: 1\nrules:\n  - {id: look-first, why: someone should look first, match: {program: touch}, decide: ask, " +
	"examples: {hit: [touch it]}}\n"

func (n *network) agentOn(i int, m *machine, name string) *agentOn {
	n.t.Helper()
	a := &agentOn{machine: m, name: name, in: agentstest.Require(n.t, name), project: agentstest.Project(n.t)}
	var err error
	if a.model, err = model.Start(model.Options{}); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { a.model.Close() })
	if a.env, err = realagents.WriteHome(name, m.home.Dirs.Home, a.model.URL(name), a.project); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { realagents.EndLeftovers(a.in, m.home.Dirs.Home) })
	address, _, _ := strings.Cut(strings.TrimPrefix(a.model.URL(name), "http://"), "/")
	n.forward(i, address)
	rules := filepath.Join(m.home.Dirs.Config, "rules")
	if err := os.MkdirAll(rules, 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(rules, "look.yaml"), []byte(lookFirst), 0o600); err != nil {
		n.t.Fatal(err)
	}
	return a
}

// turn is one turn of an agent that runs `touch FILE`.
type turn struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	over chan struct{}
}

func (a *agentOn) start(file string) *turn {
	a.t.Helper()
	entry, _ := realagents.Find(a.name)
	a.model.SetScenario(a.name, model.Scenario{Steps: []model.Step{{Calls: []model.ToolCall{entry.Shell.Call("touch " + file)}},
		{Say: "done"}}})
	args := slices.Concat([]string{"run"}, a.in.Argv, realagents.Headless(a.name, "Run it "+model.Mark("")))
	r := &turn{cmd: a.command("hookmux", args...), over: make(chan struct{})}
	r.cmd.Env, r.cmd.Dir = slices.Concat(a.env, a.in.Env, r.cmd.Env), a.project
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func() { _ = r.cmd.Wait(); close(r.over) }()
	a.t.Cleanup(func() { r.kill(); <-r.over })
	return r
}

func (r *turn) kill() { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }

// wantEnd waits for the turn's end, and looks whether its command ran.
func (a *agentOn) wantEnd(r *turn, file string, ran bool) {
	a.t.Helper()
	select {
	case <-r.over:
	case <-time.After(agentstest.Timeout):
		a.t.Fatalf("%s doesn't end:\n%s", a.name, &r.out)
	}
	if _, err := os.Stat(filepath.Join(a.project, file)); (err == nil) != ran {
		a.t.Errorf("%s ran touch %s: %v, want %v\n%s", a.name, file, err == nil, ran, &r.out)
	}
}

// asksOn waits until a machine's inbox has one request, of the machine host.
func asksOn(t *testing.T, m *machine, host string) (id string) {
	t.Helper()
	eventuallyFleet(t, "a request of "+host+" is in another machine's inbox", func() bool {
		var items []wire.InboxRequest
		m.json(&items, "inbox", "--host", host)
		for _, one := range items {
			if one.Status == wire.InboxPending {
				id = one.ID
			}
		}
		return id != ""
	})
	return id
}

// Real Claude Code and Codex on two of three machines, in network namespaces: requests of
// each are answered from another machine. A daemon is killed, a machine goes away, and a
// link is cut while they wait.
func TestRealFleetInNamespaces(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		agentstest.Require(t, name)
	}
	network := newNetwork(t, 3)
	machines := []*machine{newMachine(t), newMachine(t), newMachine(t)}
	for i, m := range machines {
		m.within = []string{"nsenter", "--net=/run/netns/" + network.names[i]}
	}
	desk := machines[0]
	claude, codex := network.agentOn(1, machines[1], "claude"), network.agentOn(2, machines[2], "codex")
	desk.run("fleet", "init", "--listen", network.address(0)+":4670", "--name", "desk")
	claude.run("fleet", "join", desk.invite("operator"), "--name", "studio")
	joined := time.Now()
	codex.run("fleet", "join", desk.invite("member"), "--name", "cloud")
	for _, m := range machines[:2] {
		m.followInbox()
	}
	for _, m := range machines[1:] {
		m.waitForOperator()
	}

	// Each is answered from another machine, Codex from the one on which Claude Code runs.
	one, other := claude.start("yes"), codex.start("yes")
	desk.run("approve", asksOn(t, desk, "studio"))
	claude.run("approve", asksOn(t, machines[1], "cloud"))
	claude.wantEnd(one, "yes", true)
	codex.wantEnd(other, "yes", true)
	one = claude.start("no")
	desk.run("deny", asksOn(t, desk, "studio"))
	claude.wantEnd(one, "no", false)

	// The daemon dies while Codex waits: the next one asks again.
	other = codex.start("again")
	before := asksOn(t, desk, "cloud")
	_ = syscall.Kill(daemonstart.DaemonPID(codex.home.Dirs), syscall.SIGKILL)
	var id string
	eventuallyFleet(t, "the request comes back", func() bool {
		id = asksOn(t, desk, "cloud")
		out, err := desk.try("approve", id)
		return err == nil || strings.Contains(out, "already")
	})
	t.Logf("before the daemon died the request was %s, then %s", before, id)
	codex.wantEnd(other, "again", true)

	// The link is cut while Codex waits: it asks in its own terminal, where nobody is.
	other = codex.start("cut")
	asksOn(t, desk, "cloud")
	began := time.Now()
	network.set(2, "down")
	codex.wantEnd(other, "cut", false)
	if took := time.Since(began); took > 90*time.Second {
		t.Errorf("Codex waited %s for an answer that couldn't come", took)
	}
	network.set(2, "up")
	for i, m := range machines[1:] {
		t.Logf("comparing the journals of machine %d", i+1)
		wantSameJournals(t, desk, m, joined)
	}

	// The machine goes away, with all that runs there: what it asked leaves the inbox.
	other = codex.start("gone")
	asksOn(t, desk, "cloud")
	_ = syscall.Kill(daemonstart.DaemonPID(codex.home.Dirs), syscall.SIGSTOP)
	network.set(2, "down")
	other.kill()
	eventuallyFleet(t, "desk's inbox has nothing of the lost machine", func() bool {
		var items []wire.InboxRequest
		desk.json(&items, "inbox", "--host", "cloud")
		return len(items) == 0
	})
	_ = syscall.Kill(daemonstart.DaemonPID(codex.home.Dirs), syscall.SIGCONT)
	network.set(2, "up")
}

// Three real daemons in network namespaces: a request of one is answered from another, a
// cut link loses nothing and lets no agent wait. HOOKMUX_FLEET_CUT is how long it's cut.
func TestFleetInNamespaces(t *testing.T) {
	cut := 45 * time.Second
	if span, err := time.ParseDuration(os.Getenv("HOOKMUX_FLEET_CUT")); err == nil {
		cut = span
	} else if testing.Short() {
		t.Skip("no network is made with -short")
	}
	network := newNetwork(t, 3)
	desk, build, wall := newMachine(t), newMachine(t), newMachine(t)
	for i, m := range []*machine{desk, build, wall} {
		m.within = []string{"nsenter", "--net=/run/netns/" + network.names[i]}
	}
	desk.run("fleet", "init", "--listen", network.address(0)+":4670", "--name", "desk")
	build.run("fleet", "join", desk.invite("member"), "--name", "build")
	joined, id := time.Now(), build.status().ID
	wall.run("fleet", "join", desk.invite("operator"), "--name", "wall")

	watching := wall.command("hookmux", "inbox", "--follow")
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watching.Process.Kill(); _ = watching.Wait() }()
	attended := func() bool {
		info, err := (&client.Client{Socket: build.home.Dirs.Socket(), Timeout: daemontest.Patience}).Info(t.Context())
		return err == nil && info.Inbox.CanAnyoneAnswer
	}
	asks := func() (answered chan string) {
		answered = make(chan string, 1)
		go func() {
			answered <- build.hook("claude", "PermissionRequest", `{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PermissionRequest",`+
				`"tool_name":"Bash","tool_input":{"command":"make deploy"}}`)
		}()
		return answered
	}
	var items []wire.InboxRequest
	waits := func() bool {
		wall.json(&items, "inbox")
		return len(items) == 1 && items[0].Host == "build" && items[0].Status == wire.InboxPending
	}
	eventuallyFleet(t, "build knows that an operator looks", attended)
	answered := asks()
	eventuallyFleet(t, "build's request is in the inbox of wall", waits)
	wall.run("approve", items[0].ID)
	if answer := <-answered; !strings.Contains(answer, `"allow"`) {
		t.Errorf("the agent heard %s, want wall's yes", answer)
	}

	// The link is cut while a request waits: the agent asks in its own terminal, and the
	// others see that build is lost.
	answered = asks()
	eventuallyFleet(t, "build's next request is in the inbox of wall", waits)
	began := time.Now()
	network.set(1, "down")
	for i := range 20 {
		build.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, i, i))
	}
	answer := <-answered
	if took := time.Since(began); took > 60*time.Second || strings.Contains(answer, "allow") {
		t.Errorf("after %s the agent heard %s, want nothing within its deadline of 60 s", took, answer)
	}
	eventuallyFleet(t, "wall's inbox has nothing of the lost machine", func() bool {
		items = nil
		wall.json(&items, "inbox")
		return len(items) == 0
	})
	eventuallyFleet(t, "wall says that build is lost", func() bool {
		var sessions []wire.Session
		wall.json(&sessions, "ps")
		return len(sessions) > 0 && sessions[0].Status == wire.StatusUnknown && sessions[0].HostLost != nil
	})
	if s := build.status(); s.Backlog < 20 {
		t.Errorf("build says that %d events wait for the fleet, want 20 or more", s.Backlog)
	}
	time.Sleep(max(0, cut-time.Since(began)))
	network.set(1, "up")
	var wrong []string
	for end := time.Now().Add(2 * daemontest.Patience); ; time.Sleep(200 * time.Millisecond) {
		if wrong = compareJournals(t, desk, build, id, joined); len(wrong) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the link is back (%+v), and rows are wrong:\n%s", build.status(), strings.Join(wrong[:min(10, len(wrong))], "\n"))
		}
	}
	t.Logf("the link was cut for %s", time.Since(began).Round(time.Second))
}
