package proc_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// long is a limit that only a hang reaches.
const long = 20 * time.Second

func onlyWhereSupported(t testing.TB) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("processes are not looked up on this system")
	}
	if self, err := os.Readlink("/proc/self"); runtime.GOOS == "linux" &&
		(err != nil || self != strconv.Itoa(os.Getpid())) {
		t.Skip("/proc belongs to another pid namespace or is missing")
	}
}

// child starts a process that waits until its input is closed.
func child(t *testing.T, env ...string) (pid int, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperWaits$")
	// The race detector would hold the child for a second at its end.
	cmd.Env = append([]string{"PROC_TEST_WAITS=1", "GORACE=atexit_sleep_ms=0"}, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Before this line exec may not be over, and the environment still ours.
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	return cmd.Process.Pid, end
}

func TestHelperWaits(t *testing.T) {
	if os.Getenv("PROC_TEST_WAITS") == "" {
		t.Skip("runs only as the child of another test")
	}
	os.Stdout.WriteString("ready\n")
	os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

func TestLookupSelf(t *testing.T) {
	onlyWhereSupported(t)
	before := proc.Now()
	p, err := proc.System().Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if p.PID != os.Getpid() || p.PPID != os.Getppid() || p.UID != os.Getuid() || p.EUID != os.Geteuid() {
		t.Errorf("got %+v; want p.PID == os.Getpid(), p.PPID == os.Getppid(), p.UID == os.Getuid() and "+
			"p.EUID == os.Geteuid()", p)
	}
	if p.Start == 0 || p.Start > before {
		t.Errorf("start %d is not in the past of %d", p.Start, before)
	}
	if age := time.Since(p.StartTime); age < -time.Minute || age > time.Hour {
		t.Errorf("started %v ago; want age >= -time.Minute and age <= time.Hour", age)
	}
	if p.Name == "" {
		t.Error(`no name; want p.Name != ""`)
	}
}

func TestLookupIsStable(t *testing.T) {
	onlyWhereSupported(t)
	a, err := proc.System().Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	b, err := proc.System().Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if a.Start != b.Start || a.SID != b.SID || a.TTY != b.TTY {
		t.Errorf("%+v differs from %+v; want a.Start == b.Start, a.SID == b.SID and a.TTY == b.TTY", a, b)
	}
}

func TestGoneProcess(t *testing.T) {
	onlyWhereSupported(t)
	pid, end := child(t)
	if _, err := proc.System().Lookup(pid); err != nil {
		t.Fatal(err)
	}
	end()
	for _, pid := range []int{pid, 0, -1} {
		if _, err := proc.System().Lookup(pid); err == nil {
			t.Errorf("process %d was found", pid)
		}
		if _, err := proc.System().Program(pid); err == nil {
			t.Errorf("program of %d was found", pid)
		}
		if _, err := proc.System().Environ(pid); err == nil {
			t.Errorf("environment of %d was found", pid)
		}
	}
}

func TestProgramArgsEnviron(t *testing.T) {
	onlyWhereSupported(t)
	pid, _ := child(t, "MARK=one two", "EMPTY=")
	table := proc.System()
	program, err := table.Program(pid)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(program) != filepath.Base(want) {
		t.Errorf("program %q, want %q", program, want)
	}
	args, err := table.Args(pid)
	if err != nil || !slices.Contains(args, "-test.run=^TestHelperWaits$") {
		t.Errorf(`args %q, %v; want no error and "-test.run=^TestHelperWaits$" in args`, args, err)
	}
	env, err := table.Environ(pid)
	if err != nil || !slices.Contains(env, "MARK=one two") {
		t.Errorf(`environment %q, %v; want no error and "MARK=one two" in env`, env, err)
	}
}

func TestAncestryOfChild(t *testing.T) {
	onlyWhereSupported(t)
	pid, _ := child(t)
	chain := proc.Ancestry(proc.System(), pid, 32)
	if len(chain) < 2 || chain[0].PID != pid || chain[1].PID != os.Getpid() {
		t.Fatalf("got %+v; want len(chain) >= 2, chain[0].PID == pid and chain[1].PID == os.Getpid()", chain)
	}
	if got := proc.Ancestry(proc.System(), pid, 1); len(got) != 1 {
		t.Errorf("a limit of 1 gave %d", len(got))
	}
}

func TestAncestryEnds(t *testing.T) {
	pids := func(chain []proc.Process) (out []int) {
		for _, p := range chain {
			out = append(out, p.PID)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		table *proctest.Table
		want  []int
	}{
		{"at pid 1", proctest.New(proctest.Node{PID: 1, Name: "init", Below: []proctest.Node{
			{PID: 5, Name: "sh", Below: []proctest.Node{{PID: 9, Name: "x"}}}}}), []int{9, 5, 1}},
		{"at the edge of the namespace", proctest.New(proctest.Node{PID: 5, Name: "sh", Below: []proctest.Node{{PID: 9, Name: "x"}}}), []int{9, 5}},
		{"at a younger parent", proctest.New(proctest.Node{PID: 1, Name: "init", Below: []proctest.Node{
			{PID: 5, Name: "sh", Start: 1 << 40, Below: []proctest.Node{{PID: 9, Name: "x"}}}}}), []int{9}},
		{"in a circle", proctest.New(
			proctest.Node{PID: 5, Name: "a", Parent: 9, Start: 7},
			proctest.Node{PID: 9, Name: "b", Parent: 5, Start: 7}), []int{9, 5}},
		{"at an unseen parent", proctest.New(proctest.Node{PID: 9, Name: "x", Parent: 77}), []int{9}},
		{"before it begins", proctest.New(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pids(proc.Ancestry(c.table, 9, 32)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPeer(t *testing.T) {
	onlyWhereSupported(t)
	dir := sandbox.TempDir(t)
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	cred, err := proc.Peer(accepted.(*net.UnixConn))
	if err != nil {
		t.Fatal(err)
	}
	if cred.PID != os.Getpid() || cred.UID != os.Geteuid() {
		t.Errorf("got %+v; want cred.PID == os.Getpid() and cred.UID == os.Geteuid()", cred)
	}
	if p, err := proc.System().Lookup(cred.PID); err != nil || p.Start > cred.At {
		t.Errorf("peer %+v (%v) seems to have started after %d", p, err, cred.At)
	}
	accepted.Close()
	if _, err := proc.Peer(accepted.(*net.UnixConn)); err == nil {
		t.Error("a closed socket has a peer")
	}
}

func TestWatchExit(t *testing.T) {
	onlyWhereSupported(t)
	pid, end := child(t)
	p, err := proc.System().Lookup(pid)
	if err != nil {
		t.Fatal(err)
	}
	done, err := proc.WatchExit(t.Context(), pid, p.Start)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		t.Fatal("reported as ended while it runs")
	case <-time.After(50 * time.Millisecond):
	}
	end()
	select {
	case <-done:
	case <-time.After(long):
		t.Fatal("the end was not noticed")
	}
	for name, start := range map[string]uint64{"gone": p.Start, "gone, start unknown": 0} {
		again, err := proc.WatchExit(t.Context(), pid, start)
		if err != nil {
			t.Fatal(err)
		}
		mustBeClosed(t, name, again)
	}
}

func TestWatchExitOfReusedPid(t *testing.T) {
	onlyWhereSupported(t)
	done, err := proc.WatchExit(t.Context(), os.Getpid(), 1)
	if err != nil {
		t.Fatal(err)
	}
	mustBeClosed(t, "reused", done)
}

func TestWatchExitDropped(t *testing.T) {
	onlyWhereSupported(t)
	pid, end := child(t)
	ctx, cancel := context.WithCancel(context.Background())
	before := runtime.NumGoroutine()
	done, err := proc.WatchExit(ctx, pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	await.Until(t, "the watch ends", func() bool { return runtime.NumGoroutine() <= before })
	end()
	select {
	case <-done:
		t.Error("a dropped watch reported an end")
	default:
	}
	if _, err := proc.WatchExit(context.Background(), 0, 0); err == nil {
		t.Error("pid 0 can be watched")
	}
}

func mustBeClosed(t *testing.T, name string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	default:
		t.Errorf("%s: the channel is not closed at once", name)
	}
}

func BenchmarkLookup(b *testing.B) {
	onlyWhereSupported(b)
	for b.Loop() {
		proc.System().Lookup(os.Getpid())
	}
}
