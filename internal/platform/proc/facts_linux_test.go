package proc

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

func TestParseFileLocks(t *testing.T) {
	const head = "Limit                     Soft Limit           Hard Limit           Units     \n"
	for row, want := range map[string]uint64{
		"Max file locks            unlimited            unlimited            locks     \n": Unlimited,
		"Max file locks            7                    1024                 locks     \n": 1024,
	} {
		if got, err := parseFileLocks([]byte(head + row)); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", row, got, err, want)
		}
	}
	for _, bad := range []string{"", head, head + "Max file locks", head + "Max file locks 1 x locks\n"} {
		if _, err := parseFileLocks([]byte(bad)); err == nil {
			t.Errorf("%q was read; want an error", bad)
		}
	}
}

// A limit that was set is read back, and a process below has it, too.
func TestLimitFileLocks(t *testing.T) {
	before, err := FileLocks(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if !slices.Contains(Descendants(os.Getpid()), cmd.Process.Pid) {
		t.Errorf("%d is not among %v, what this test started", cmd.Process.Pid, Descendants(os.Getpid()))
	}
	want := before - 1
	if before == 0 {
		want = 0
	}
	if err := LimitFileLocks(cmd.Process.Pid, want); err != nil {
		t.Fatal(err)
	}
	if got, err := FileLocks(cmd.Process.Pid); err != nil || got != want {
		t.Errorf("limit %d, %v; want %d", got, err, want)
	}
	if _, err := FileLocks(-1); err == nil {
		t.Error("no process has a limit")
	}
}

func TestTerminalIndex(t *testing.T) {
	for text, want := range map[string]string{"pos:\t0\nflags:\t02\ntty-index:\t12\n": "12", "pos:\t0\n": "", "": ""} {
		if got := terminalIndex([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestParseTCP(t *testing.T) {
	const file = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:0016 0100007F:8F02 01 00000000:00000000 00:00000000 00000000     0        0 777 1 0\n" +
		"   1: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 778 1 0\n" +
		"   2: 0000000000000000FFFF00000100007F:8F02 0000000000000000FFFF00000100007F:0016 01 0:0 0:0 0 1000 0 779 " +
		"1 0\n" +
		"   3: short\n   4: ZZ:0016 0100007F:8F02 01 0:0 0:0 0 0 0 780 1 0\n"
	server, client := netip.MustParseAddrPort("127.0.0.1:22"), netip.MustParseAddrPort("127.0.0.1:36610")
	want := []TCPEnd{{server, client, 0, 777}, {client, server, 1000, 779}}
	if got := parseTCP([]byte(file)); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Both ends of a socket are found, each with the other as its peer.
func TestUnixSockets(t *testing.T) {
	dir := sandbox.TempDir(t)
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	near, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = near.Close() }()
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = far.Close() }()
	sockets, err := UnixSockets()
	if err != nil {
		t.Skip("the kernel does not list sockets here: ", err)
	}
	mine, err := SocketNumbers(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	listening, joined := false, false
	for _, s := range sockets {
		listening = listening || s.Listening && s.Path == path && mine[s.Number]
		joined = joined || s.Path == path && s.Peer != 0 && mine[s.Number] && mine[s.Peer]
	}
	if !listening || !joined {
		t.Errorf("listening %v, joined %v among %d sockets", listening, joined, len(sockets))
	}
}

func TestListenerOwner(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	port := listener.Addr().(*net.TCPAddr).Port
	if pid, ok := ListenerOwner(port, []int{1 << 30, os.Getpid()}); !ok || pid != os.Getpid() {
		t.Errorf("%d %v, wanted this process, %d", pid, ok, os.Getpid())
	}
	if pid, ok := ListenerOwner(port, []int{1 << 30}); ok {
		t.Errorf("%d listens there; want !ok", pid)
	}
}

func TestParsePauses(t *testing.T) {
	status := "Name:\tsshd\nUmask:\t0022\nState:\t%s\nTgid:\t7\nvoluntary_ctxt_switches:\t81\nnonvoluntary_ctxt_switches:\t3\n"
	for state, want := range map[string]Pause{"S (sleeping)": {81, true}, "T (stopped)": {81, false},
		"R (running)": {81, false}} {
		if got, err := parsePauses(fmt.Appendf(nil, status, state)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", state, got, err, want)
		}
	}
	if got, err := parsePauses([]byte("Name:\tsshd\nState:\tS (sleeping)\n")); err == nil {
		t.Errorf("without a count: %+v, want an error", got)
	}
}
