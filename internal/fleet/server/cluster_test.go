//go:build unix

package server

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// nodeVariable makes this test program a node of a cluster: number, folder and all ports.
const nodeVariable = "HOOKMUX_TEST_NATS_NODE"

func TestMain(m *testing.M) {
	if text := os.Getenv(nodeVariable); text != "" {
		runNode(strings.Fields(text))
		return
	}
	os.Exit(m.Run())
}

func runNode(words []string) {
	number, _ := strconv.Atoi(words[0])
	ports := make([]int, len(words)-2)
	for i, word := range words[2:] {
		ports[i], _ = strconv.Atoi(word)
	}
	nodes := len(ports) / 2
	var routes []*url.URL
	for i := range nodes {
		routes = append(routes, &url.URL{Scheme: "nats", Host: "127.0.0.1:" + strconv.Itoa(ports[nodes+i])})
	}
	s, err := natsserver.NewServer(&natsserver.Options{ServerName: "node" + words[0], Host: "127.0.0.1", Port: ports[number],
		JetStream: true, StoreDir: words[1], Routes: routes, NoSigs: true, NoLog: true,
		Cluster: natsserver.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[nodes+number]}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Start()
	s.WaitForShutdown()
}

// cluster is three nodes, each a process with a folder of its own.
type cluster struct {
	t     *testing.T
	ports []int
	dirs  []string
	nodes []*exec.Cmd
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, nodes: make([]*exec.Cmd, 3)}
	for range 6 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c.ports = append(c.ports, l.Addr().(*net.TCPAddr).Port)
	}
	for range 3 {
		c.dirs = append(c.dirs, t.TempDir())
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
	words := []string{strconv.Itoa(i), c.dirs[i]}
	for _, p := range c.ports {
		words = append(words, strconv.Itoa(p))
	}
	c.nodes[i] = exec.Command(os.Args[0])
	c.nodes[i].Env = append(os.Environ(), nodeVariable+"="+strings.Join(words, " "))
	c.nodes[i].Stderr = os.Stderr
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

func (c *cluster) urls() (list []string) {
	for _, p := range c.ports[:3] {
		list = append(list, "nats://127.0.0.1:"+strconv.Itoa(p))
	}
	return list
}

// Nodes of a cluster of three are killed at random while a member sends events. What was
// acknowledged is in the central journal exactly once. HOOKMUX_FLEET_ROUNDS sets the
// rounds.
func TestClusterLosesNothing(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("HOOKMUX_FLEET_ROUNDS")); err == nil {
		rounds = n
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d, %d rounds", seed, rounds)
	c := startCluster(t)
	for i := range 3 {
		c.start(i)
	}
	var f *fleetOf
	for end := time.Now().Add(time.Minute); f == nil; time.Sleep(time.Second) { // until the cluster has a leader
		var err error
		if f, err = tryFleet(t, Options{NATS: c.urls()}); err != nil && time.Now().After(end) {
			t.Fatal(err)
		}
	}
	one := f.member("one", protocol.RoleMember)

	var sending sync.WaitGroup
	over := make(chan struct{})
	acknowledged := []string{}
	var count atomic.Int64
	retries := 0
	sending.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			default:
			}
			id := fmt.Sprintf("e%06d", n)
			for !one.acknowledged(batchOf(anEvent(id))) {
				retries++
			}
			acknowledged = append(acknowledged, id)
			count.Add(1)
		}
	})
	longest := time.Duration(0)
	for range rounds {
		victim := random.IntN(3)
		c.kill(victim)
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		c.start(victim)
		began, before := time.Now(), count.Load()
		for count.Load() < before+5 && time.Since(began) < time.Minute {
			time.Sleep(20 * time.Millisecond)
		}
		longest = max(longest, time.Since(began))
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
	}
	t.Logf("the longest wait for the next five events after a kill was %s", longest.Round(time.Millisecond))
	close(over)
	sending.Wait()
	t.Logf("%d events acknowledged, %d attempts failed", len(acknowledged), retries)
	got := map[string]int{}
	for end := time.Now().Add(2 * time.Minute); len(got) < len(acknowledged); time.Sleep(200 * time.Millisecond) {
		clear(got)
		for row, err := range f.server.hub.central.Query(t.Context(), journal.Filter{ID: one.id + idMark}) {
			if err != nil {
				t.Fatal(err)
			}
			got[strings.TrimPrefix(row.ID, one.id+idMark)]++
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, id := range acknowledged {
		if got[id] != 1 {
			t.Errorf("%s is %d times in the central journal, want once", id, got[id])
		}
	}
	if len(got) != len(acknowledged) {
		t.Errorf("the central journal has %d events, want %d", len(got), len(acknowledged))
	}
	if len(acknowledged) < 5*rounds {
		t.Errorf("only %d events in %d rounds", len(acknowledged), rounds)
	}
	if kept, err := Erase(t.Context(), f.server.o); err != nil || len(kept) > 0 {
		t.Errorf("what the cluster stored can't be deleted: %v, %q", err, kept)
	}
}

// acknowledged sends events and reports whether the server has them.
func (p *peer) acknowledged(data []byte) bool {
	msg, err := p.conn.Request(protocol.UpSubject(p.id, protocol.UpEvents), data, 10*time.Second)
	return err == nil && !strings.Contains(string(msg.Data), `"error"`)
}
