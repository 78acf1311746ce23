package keeper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startServer serves in folders of this test; this process's own group is the proof.
func startServer(t *testing.T, group int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hmk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{Run: dir + "/run", State: dir + "/state", Group: group, Log: new(syncBuffer)}
	for _, one := range []string{s.Run, s.State} {
		if err := os.Mkdir(one, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(listener, &unix.SockaddrUnix{Name: dir + "/k.sock"}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(listener, 64); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = s.Serve(listener); close(done) }()
	t.Cleanup(func() {
		_ = unix.Shutdown(listener, unix.SHUT_RDWR)
		<-done
		_ = unix.Close(listener)
	})
	return dir
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// wantReply asks until the answer is the wanted one: a daemon's end is noticed a moment later.
func wantReply(t *testing.T, dir string, request Request, want Status) (Connection, Reply) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		c, r, err := Send(dir+"/k.sock", request)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == want {
			return c, r
		}
		c.Close()
		if time.Now().After(end) {
			t.Fatalf("%c: got %c, want %c", request, r.Status, want)
		}
	}
}

func TestOneDaemonServes(t *testing.T) {
	dir := startServer(t, os.Getegid())
	first, _ := wantReply(t, dir, Serve, Granted)
	_, busy := wantReply(t, dir, Serve, Busy)
	if int(busy.PID) != os.Getpid() {
		t.Errorf("process %d serves, want %d", busy.PID, os.Getpid())
	}
	if _, r := wantReply(t, dir, Ask, Busy); r != busy {
		t.Errorf("asked: %+v, want %+v", r, busy)
	}
	socket := filepath.Join(dir, "run", strconv.Itoa(os.Getuid()), "daemon.sock")
	if _, err := os.Lstat(socket); err != nil {
		t.Error(err)
	}
	use, _ := wantReply(t, dir, Use, Granted)
	use.Close()
	first.Close()
	wantReply(t, dir, Ask, Free)
	second, _ := wantReply(t, dir, Serve, Granted)
	second.Close()
}

func TestFolderIsUsedByItsDescriptor(t *testing.T) {
	dir := startServer(t, os.Getegid())
	one, _ := wantReply(t, dir, Use, Granted)
	defer one.Close()
	if err := os.WriteFile(keptPath(t, &one)+"/file", []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	two, _ := wantReply(t, dir, Use, Granted)
	defer two.Close()
	text, err := os.ReadFile(keptPath(t, &two) + "/file")
	if err != nil || string(text) != "kept" {
		t.Errorf("the next process reads %q, %v", text, err)
	}
}

func keptPath(t *testing.T, c *Connection) string {
	t.Helper()
	path, err := KeptPath(c.Folder, c.Inner)
	if err != nil {
		t.Fatal(err)
	}
	c.Inner = -1
	return path
}

func TestNoDescriptorLeadsToTheFolder(t *testing.T) {
	outer, inner, err := OpenFolder(t.TempDir(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	c := Connection{-1, outer, inner, -1}
	defer c.Close()
	if err := os.WriteFile(keptPath(t, &c)+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d", outer))
	if err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("the outer folder: %v, %v; a user can list it", info, err)
	}
	for fd := range 256 {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/fd/%d/file", fd)); err == nil {
			t.Errorf("descriptor %d leads to the file", fd)
		}
	}
}

func TestFolderIsMadeOnce(t *testing.T) {
	state := t.TempDir()
	var made sync.Map
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			outer, inner, err := OpenFolder(state, 1000)
			if err != nil {
				t.Error(err)
				return
			}
			path, err := KeptPath(outer, inner)
			if err != nil {
				t.Error(err)
			}
			made.Store(filepath.Base(path), true)
			_ = unix.Close(outer)
		})
	}
	all.Wait()
	count := 0
	made.Range(func(any, any) bool { count++; return true })
	if entries, err := os.ReadDir(state); err != nil || len(entries) != 1 || count != 1 {
		t.Errorf("%d folders were opened, and %v is there, %v; want one", count, entries, err)
	}
}

func TestWithoutTheGroupNothingIsGiven(t *testing.T) {
	dir := startServer(t, os.Getegid()+1)
	wantReply(t, dir, Use, Refused)
	wantReply(t, dir, Serve, Refused)
	wantReply(t, dir, Ask, Free)
}

func TestDaemonsThatDieWait(t *testing.T) {
	dir := startServer(t, os.Getegid())
	for range freeDeaths {
		c, _ := wantReply(t, dir, Serve, Granted)
		c.Close()
	}
	wantReply(t, dir, Serve, Later)
	use, _ := wantReply(t, dir, Use, Granted)
	use.Close()
}

func TestConnectionsOfAUserAreBounded(t *testing.T) {
	dir := startServer(t, os.Getegid())
	var held []Connection
	defer func() {
		for i := range held {
			held[i].Close()
		}
	}()
	for range perUser {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, Connection{fd, -1, -1, -1})
		if err := unix.Connect(fd, &unix.SockaddrUnix{Name: dir + "/k.sock"}); err != nil {
			t.Fatal(err)
		}
	}
	wantReply(t, dir, Ask, Overload)
	wantReply(t, dir, Ask, Free) // those that say nothing are closed after a while
}

func TestPeersWithoutTheGroupDoNotStarveTheOthers(t *testing.T) {
	s := &Server{Group: 7, users: map[int]*user{}}
	for uid := range inAll { // one user can connect as all of these
		for s.enter(&unix.Ucred{Uid: uint32(uid), Gid: 1}) {
		}
	}
	for range perUser {
		if !s.enter(&unix.Ucred{Uid: 1, Gid: 7}) {
			t.Fatal("a peer with the group isn't let in")
		}
	}
	if s.enter(&unix.Ucred{Uid: 1, Gid: 7}) {
		t.Error("its connections aren't bounded")
	}
}
