package proc

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"golang.org/x/sys/unix"
)

// connectVariable has the test program connect to a socket and end.
const connectVariable = "PROC_TEST_CONNECT"

func TestConnectAndEnd(t *testing.T) {
	socket := os.Getenv(connectVariable)
	if socket == "" {
		t.Skip("run by TestPeerLives")
	}
	if _, err := net.Dial("unix", socket); err != nil {
		t.Fatal(err)
	}
}

func TestPeerLives(t *testing.T) {
	dir := sandbox.TempDir(t)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accept := func() *net.UnixConn {
		conn, err := listener.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	own, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	conn := accept()
	if !PeerLives(conn) {
		t.Error("this process counts as ended")
	}
	// It waits to be accepted while its process ends.
	cmd := exec.Command(os.Args[0], "-test.run=^TestConnectAndEnd$")
	cmd.Env = append(os.Environ(), connectVariable+"="+listener.Addr().String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("error %v, cmd.CombinedOutput() = %s; want no error", err, out)
	}
	ended := accept()
	if !knowsPeers(t, conn) {
		t.Skip("this kernel does not tell")
	}
	if PeerLives(ended) {
		t.Error("a process that has ended counts as alive")
	}
}

func knowsPeers(t *testing.T, conn *net.UnixConn) bool {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	known := false
	if err := raw.Control(func(fd uintptr) {
		process, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if known = !errors.Is(err, unix.ENOPROTOOPT); known {
			_ = unix.Close(process)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return known
}
