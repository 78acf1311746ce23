//go:build unix

// Package postgrestest starts a real PostgreSQL server for tests.
package postgrestest

import (
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a PostgreSQL server in a folder of its own.
type Server struct {
	File string // has its URL
	stop func()
}

// Stop ends the server.
func (s *Server) Stop() { s.stop() }

// Start starts a server that ends with the test, or skips the test where PostgreSQL isn't
// installed, and with -short.
func Start(t *testing.T) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("no PostgreSQL is started with -short")
	}
	programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(programs) == 0 {
		t.Skip("PostgreSQL isn't installed")
	}
	bin := programs[len(programs)-1]
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		if os.Getuid() == 0 { // it refuses to be root's
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: postgresUser(t, dir)}
		}
		return cmd
	}
	if out, err := command("initdb", "-D", filepath.Join(dir, "data"), "-U", "fleet", "--auth=trust", "--no-sync", "-E", "UTF8",
		"--locale=C").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	_ = free.Close()
	server := command("postgres", "-D", filepath.Join(dir, "data"), "-p", port, "-k", dir, "-h", "127.0.0.1")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() { _ = server.Process.Signal(syscall.SIGQUIT); _ = server.Wait() })
	t.Cleanup(stop)
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err := command("pg_isready", "-h", "127.0.0.1", "-p", port).Run(); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("PostgreSQL isn't ready")
		}
	}
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("postgres://fleet@127.0.0.1:"+port+"/postgres\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &Server{file, stop}
}

func postgresUser(t *testing.T, dir string) *syscall.Credential {
	t.Helper()
	who, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("there's no user postgres")
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
