//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/postgrestest"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// buildNATS builds NATS's own server, of the version that go.mod names.
var buildNATS = sync.OnceValues(func() (string, error) {
	hookmux, err := exec.LookPath("hookmux")
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(hookmux), "nats-server")
	cmd := exec.Command("go", "build", "-trimpath", "-o", file, "github.com/nats-io/nats-server/v2")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("nats-server can't be built: %w\n%s", err, out)
	}
	return file, nil
})

// cluster is three nodes of NATS, each a process with a folder of its own.
type cluster struct {
	t     *testing.T
	args  [3][]string
	urls  []string
	nodes [3]*exec.Cmd
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("no cluster is started with -short")
	}
	program, err := buildNATS()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t}
	var ports, routes [3]string
	for i := range 6 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, port, _ := net.SplitHostPort(l.Addr().String()); i < 3 {
			ports[i] = port
			c.urls = append(c.urls, "nats://127.0.0.1:"+port)
		} else {
			routes[i-3] = "nats://127.0.0.1:" + port
		}
	}
	for i := range c.args {
		c.args[i] = []string{program, "-n", "node" + strconv.Itoa(i), "-a", "127.0.0.1", "-p", ports[i], "-js", "-sd", t.TempDir(),
			"--cluster_name", "test", "--cluster", routes[i], "--routes", strings.Join(routes[:], ",")}
	}
	t.Cleanup(func() {
		for i := range c.nodes {
			c.kill(i)
		}
	})
	return c
}

func (c *cluster) start(i int) {
	c.t.Helper()
	c.nodes[i] = exec.Command(c.args[i][0], c.args[i][1:]...)
	if err := c.nodes[i].Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) kill(i int) {
	if c.nodes[i] != nil && c.nodes[i].Process != nil {
		_ = c.nodes[i].Process.Kill()
		_ = c.nodes[i].Wait()
	}
}

// agentDeadline is how long the agents of these tests wait for an answer.
const agentDeadline = 60 * time.Second

// asked is one request of an agent: what two operators, who answer it at the same time,
// were told, and what the agent heard.
type asked struct {
	took    time.Duration
	heard   string // allow, deny; "" the agent asks in its own terminal
	told    []string
	unknown bool // an operator wasn't told what became of its answer
}

// asking is agents that ask without a pause, and operators that answer.
type asking struct {
	t    *testing.T
	over chan struct{}
	done atomic.Int64 // requests that were answered

	mu   sync.Mutex
	list map[string]*asked // by what was asked
	runs sync.WaitGroup
}

func (a *asking) note(command string, change func(*asked)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list[command] == nil {
		a.list[command] = &asked{}
	}
	change(a.list[command])
}

func (a *asking) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// agents lets agents of a machine ask for one thing after the other.
func (a *asking) agents(m *machine, count int) {
	for i := range count {
		a.runs.Go(func() {
			for n := 0; !a.isOver(); n++ {
				command := fmt.Sprintf("make target-%d-%d", i, n)
				began := time.Now()
				answer := m.hook("claude", "PermissionRequest", fmt.Sprintf(`{"session_id":"s-%d","cwd":"/tmp",`+
					`"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":%q}}`, i, command))
				heard := ""
				for _, verdict := range []string{"allow", "deny"} {
					if strings.Contains(answer, `"`+verdict+`"`) {
						heard = verdict
					}
				}
				a.note(command, func(one *asked) { one.took, one.heard = time.Since(began), heard })
				a.done.Add(1)
			}
		})
	}
}

// operator answers everything that another machine asks, with the same choice.
func (a *asking) operator(m *machine, choice string) {
	c := &client.Client{Socket: m.home.Dirs.Socket(), Timeout: 30 * time.Second}
	verdict := map[string]string{"once": "allow", "deny": "deny"}[choice]
	seen := map[string]bool{}
	a.runs.Go(func() {
		for !a.isOver() {
			var items []wire.InboxRequest
			_ = c.Call(context.Background(), wire.MethodInboxItems, wire.InboxListParams{}, &items) // asked again soon
			for _, one := range items {
				if one.Host == "" || one.Status != wire.InboxPending || seen[one.ID] {
					continue
				}
				seen[one.ID] = true
				a.runs.Go(func() {
					var result wire.InboxReplyResult
					err := c.Call(context.Background(), wire.MethodInboxReply,
						wire.InboxReplyParams{ID: one.ID, Choice: choice, SHA256: one.SHA256}, &result)
					var input struct{ Command string }
					_ = json.Unmarshal(one.Input, &input)
					a.note(input.Command, func(one *asked) {
						if err == nil && result.Outcome == wire.ReplyDelivered {
							one.told = append(one.told, verdict)
						}
						refused := (*wire.Error)(nil)
						one.unknown = one.unknown || err != nil && !(errors.As(err, &refused) && refused.Code != wire.CodeGone)
					})
				})
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// check says which requests were lost, answered twice, or kept an agent waiting.
func (a *asking) check() {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	counts, longest := map[string]int{}, time.Duration(0)
	for command, one := range a.list {
		longest = max(longest, one.took)
		switch {
		case one.took > agentDeadline+5*time.Second:
			a.t.Errorf("%s: the agent waited %s, want %s at most", command, one.took, agentDeadline)
		case len(one.told) > 1:
			a.t.Errorf("%s: two operators were told that their answer was delivered: %v", command, one.told)
		case len(one.told) == 1 && one.told[0] != one.heard:
			a.t.Errorf("%s: an operator was told that %s was delivered, and the agent heard %q", command, one.told[0], one.heard)
		case len(one.told) == 0 && one.heard != "" && !one.unknown:
			a.t.Errorf("%s: the agent heard %s, which no operator said", command, one.heard)
		}
		heard := one.heard
		if heard == "" {
			heard = "nothing, and asks in its own terminal"
		}
		counts[heard]++
	}
	a.t.Logf("%d requests; the agents heard %v; the longest wait was %s", len(a.list), counts, longest.Round(time.Millisecond))
	if counts["allow"]+counts["deny"] < len(a.list)/2 || len(a.list) == 0 {
		a.t.Errorf("fewer than half of the requests were answered: %v", counts)
	}
}

// Nodes of a cluster of three are killed at random, and now and then hookmux-fleet, while
// agents ask and two operators answer each request. Nodes, server and daemons are processes
// of their own. No request is lost or answered twice, no agent waits past its deadline, and
// the fleet's journal has what each machine's own has, row by row. HOOKMUX_FLEET_ROUNDS
// sets the rounds.
func TestFleetOnClusterLosesNothing(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("HOOKMUX_FLEET_ROUNDS")); err == nil {
		rounds = n
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, %d rounds", seed, rounds)
	c := startCluster(t)
	for i := range c.nodes {
		c.start(i)
	}
	desk, build, wall := newMachine(t), newMachine(t), newMachine(t)
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk", "--nats", strings.Join(c.urls, ","))
	joined := map[*machine]time.Time{}
	for m, as := range map[*machine][]string{build: {"member", "build"}, wall: {"operator", "wall"}} {
		m.run("fleet", "join", desk.invite(as[0]), "--name", as[1])
		joined[m] = time.Now()
	}
	for _, m := range []*machine{desk, wall} {
		m.followInbox()
	}
	build.waitForOperator()
	work := &asking{t: t, over: make(chan struct{}), list: map[string]*asked{}}
	work.agents(build, 4)
	work.operator(desk, "once")
	work.operator(wall, "deny")
	faults := map[string]int{}
	for range rounds {
		if random.IntN(10) == 0 {
			faults["server"]++
			if p, err := os.FindProcess(desk.serverPID()); err == nil && p.Pid > 1 {
				_ = p.Kill()
			}
		} else {
			faults["node"]++
			victim := random.IntN(3)
			c.kill(victim)
			time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
			c.start(victim)
		}
		for began, before := time.Now(), work.done.Load(); work.done.Load() < before+4 && time.Since(began) < 90*time.Second; {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
	}
	t.Logf("faults: %v", faults)
	close(work.over)
	work.runs.Wait()
	work.check()
	for m, since := range joined {
		wantSameJournals(t, desk, m, since)
	}
	decided := map[string]int{}
	for _, row := range rowsOf(t, journalOf(build.home.Dirs)) {
		var note struct{ Request string }
		if row.Native == wire.OwnDecision && json.Unmarshal(row.Body, &note) == nil {
			decided[note.Request]++
		}
	}
	for request, n := range decided {
		if n != 1 {
			t.Errorf("request %s was decided %d times", request, n)
		}
	}
	if out := desk.run("fleet", "leave", "--delete-fleet", "--yes"); strings.Contains(out, "left behind") {
		t.Errorf("the cluster isn't cleaned: %s", out)
	}
	c.wantNoStreams()
}

// wantNoStreams checks that nothing of a fleet is stored in the cluster.
func (c *cluster) wantNoStreams() {
	c.t.Helper()
	conn, err := nats.Connect(strings.Join(c.urls, ","))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		c.t.Fatal(err)
	}
	list := js.StreamNames(c.t.Context())
	for name := range list.Name() {
		c.t.Errorf("the stream %s is left behind", name)
	}
	if err := list.Err(); err != nil {
		c.t.Error(err)
	}
}

// wantSameJournals waits until the fleet's journal has what a machine's own has.
func wantSameJournals(t *testing.T, desk, m *machine, since time.Time) {
	t.Helper()
	var wrong []string
	id := m.status().ID
	for end := time.Now().Add(2 * daemontest.Patience); ; time.Sleep(200 * time.Millisecond) {
		if wrong = compareJournals(t, desk, m, id, since); len(wrong) == 0 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	b, _ := os.ReadFile(filepath.Join(desk.home.Dirs.State, "fleet-server", "log"))
	t.Fatalf("%d rows of %+v are wrong:\n%s\nthe server's log:\n%s", len(wrong), m.status(),
		strings.Join(wrong[:min(len(wrong), 10)], "\n"), b[max(0, len(b)-3000):])
}

// Leaving works while the other side is gone, leaves nothing on this machine, and says what
// is left elsewhere.
func TestLeavingWhileTheOtherSideIsGone(t *testing.T) {
	t.Parallel()
	db := postgrestest.Start(t)
	c := startCluster(t)
	for i := range c.nodes {
		c.start(i)
	}
	desk, build := newMachine(t), newMachine(t)
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk", "--nats", strings.Join(c.urls, ","), "--postgres", db.File)
	build.run("fleet", "join", desk.invite("member"), "--name", "build")
	build.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, 0, 0))
	db.Stop()
	for i := range c.nodes {
		c.kill(i)
	}
	desk.killDaemon()
	if p, err := os.FindProcess(desk.serverPID()); err == nil && p.Pid > 1 {
		_ = p.Kill()
	}
	if out := build.run("fleet", "leave"); !strings.Contains(out, "`hookmux fleet remove build`") {
		t.Errorf("a member that leaves while the server is gone isn't told what is left to do: %s", out)
	}
	out := desk.run("fleet", "leave", "--delete-fleet", "--yes")
	for _, want := range []string{"left behind: the streams HOOKMUX_EVENTS_", "left behind: the schema hookmux_"} {
		if !strings.Contains(out, want) {
			t.Errorf("the machine that served the fleet doesn't say %q: %s", want, out)
		}
	}
	wantNothingOfTheFleet(t, desk, build)
}

// wantNothingOfTheFleet checks that machines have nothing of a fleet any more.
func wantNothingOfTheFleet(t *testing.T, list ...*machine) {
	t.Helper()
	for _, m := range list {
		for _, file := range []string{"fleet.json", "fleet-server", "fleet-policy.json"} {
			if _, err := os.Lstat(filepath.Join(m.home.Dirs.State, file)); err == nil {
				t.Errorf("%s is left behind", file)
			}
		}
		m.hook("claude", "UserPromptSubmit", `{"session_id":"later","cwd":"/tmp","hook_event_name":"UserPromptSubmit","prompt":"afterwards"}`)
		eventuallyFleet(t, "the next event is in the journal", func() bool { return strings.Contains(m.run("log", "-n", "5"), "afterwards") })
		if rows := outboxOf(t, m); rows > 0 {
			t.Errorf("%d events still wait for the fleet", rows)
		}
		var hosts []wire.Host
		if m.json(&hosts, "remote", "list"); len(hosts) > 0 {
			t.Errorf("the machines %+v are still shown", hosts)
		}
		if s := m.status(); s.Joined {
			t.Errorf("a machine that left is still in the fleet: %+v", s)
		}
		var status struct{ Problems []wire.Problem }
		m.json(&status, "status")
		for _, p := range status.Problems {
			if strings.HasPrefix(p.Key, "fleet") {
				t.Errorf("a problem of the fleet is left: %+v", p)
			}
		}
	}
}

// outboxOf returns how many events of a machine wait for its fleet.
func outboxOf(t *testing.T, m *machine) int64 {
	t.Helper()
	j, err := journal.OpenReadOnly(journalOf(m.home.Dirs))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	rows, _, err := j.OutboxSize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
