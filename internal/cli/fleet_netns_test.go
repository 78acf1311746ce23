//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
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

// Three real daemons in network namespaces: a request of one is answered from another, a
// cut link loses nothing and lets no agent wait. HOOKMUX_FLEET_CUT is how long it's cut.
func TestFleetInNamespaces(t *testing.T) {
	cut := 45 * time.Second
	if span, err := time.ParseDuration(os.Getenv("HOOKMUX_FLEET_CUT")); err == nil {
		cut = span
	} else if testing.Short() {
		t.Skip("it takes a minute")
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
