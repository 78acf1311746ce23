package client

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const listenerVariable = "CLIENT_TEST_LISTENER"

// TestHelperListener plays a daemon that answers everything.
func TestHelperListener(t *testing.T) {
	socket := os.Getenv(listenerVariable)
	if socket == "" {
		t.Skip("runs only as the child of another test")
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"))
	}
}

// A daemon in a user namespace of its own is not talked to.
func TestDaemonInAnotherNamespace(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		socket := filepath.Join(t.TempDir(), "daemon.sock")
		cmd := exec.Command(os.Args[0], "-test.run=^TestHelperListener$")
		cmd.Env = append(os.Environ(), listenerVariable+"="+socket)
		if elsewhere {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		}
		if err := cmd.Start(); err != nil {
			if elsewhere {
				t.Skipf("this user may make no namespaces: %v", err)
			}
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		c := &Client{Socket: socket}
		err := ErrNoDaemon
		for end := time.Now().Add(20 * time.Second); errors.Is(err, ErrNoDaemon) && time.Now().Before(end); {
			err = c.Call(context.Background(), "daemon.info", nil, nil)
		}
		if errors.Is(err, ErrElsewhere) != elsewhere || !elsewhere && err != nil {
			t.Errorf("a daemon in another namespace (%v): got %v", elsewhere, err)
		}
	}
}
