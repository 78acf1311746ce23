//go:build unix

package daemonstart

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// The test binary is its own daemon: Start runs it as `<test binary> daemon`.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "daemon" {
		if err := actAsDaemon(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "hold" {
		actAsIntruder(os.Args[2])
	}
	os.Exit(m.Run())
}

// actAsIntruder holds a lock until stdin ends.
func actAsIntruder(file string) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = files.TryLock(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print("!")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func actAsDaemon() error {
	d, err := paths.Find(os.Getenv)
	if err != nil {
		return err
	}
	if err := addLine(d, "starts", strconv.Itoa(os.Getpid())); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(d.Runtime, "die")); err == nil {
		return errors.New("told to die")
	}
	lock, err := AcquireLock(d)
	if err != nil {
		return err
	}
	if err := describe(d); err != nil {
		return err
	}
	_ = os.Remove(d.Socket())
	l, err := net.Listen("unix", d.Socket())
	if err != nil {
		return err
	}
	lock.Ready()
	go func() {
		for {
			if c, err := l.Accept(); err == nil {
				_ = c.Close()
			}
		}
	}()
	for range 600 { // a minute, should the test forget us
		time.Sleep(20 * time.Millisecond)
		if _, err := os.Stat(d.Socket()); err != nil {
			return lock.Stop()
		}
		if _, err := os.Stat(filepath.Join(d.Runtime, "crash")); err == nil {
			os.Exit(3)
		}
	}
	return lock.Stop()
}

// describe tells the test what the daemon's world looks like.
func describe(d paths.Dirs) error {
	cwd, _ := os.Getwd()
	mask := syscall.Umask(0o077)
	pgid, _ := syscall.Getpgid(0)
	lines := append(os.Environ(),
		"cwd "+cwd, fmt.Sprintf("umask %o", mask), fmt.Sprintf("leader %v", pgid == os.Getpid()))
	for fd := 0; fd < 64; fd++ {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFIFO {
			lines = append(lines, fmt.Sprintf("pipe %d", fd))
		}
	}
	return addLine(d, "world", strings.Join(lines, "\n"))
}

func addLine(d paths.Dirs, name, text string) error {
	f, err := os.OpenFile(filepath.Join(d.Runtime, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

func place(t *testing.T) paths.Dirs {
	t.Helper()
	d := sandbox.NewForTest(t, sandbox.Options{}).Dirs
	t.Cleanup(func() { endDaemon(t, d) })
	return d
}

// endDaemon makes the daemon go by taking its socket away, and waits until it is
// gone: the next thing to happen is the removal of its directory.
func endDaemon(t *testing.T, d paths.Dirs) {
	t.Helper()
	await.Until(t, "the daemon is gone", func() bool {
		_ = os.Remove(d.Socket()) // each time: it may not have been there yet
		return !DaemonHoldsLock(d)
	})
}

func self(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func options(d paths.Dirs, more ...string) Options {
	return Options{Env: append([]string{"HOME=" + d.Home, paths.RuntimeVariable + "=" + d.Runtime}, more...)}
}

func reach(d paths.Dirs) func() error {
	return func() error {
		c, err := net.Dial("unix", d.Socket())
		if err == nil {
			_ = c.Close()
		}
		return err
	}
}

func lines(d paths.Dirs, name string) []string {
	text, _ := os.ReadFile(filepath.Join(d.Runtime, name))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func soon() time.Time { return time.Now().Add(20 * time.Second) }

func TestManyStartOne(t *testing.T) {
	d, program := place(t), self(t)
	var started atomic.Int32
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if outcome, err := Start(d, program, options(d)); err != nil {
				t.Error(err)
			} else if outcome == Started {
				started.Add(1)
			}
			if err := Ensure(d, program, options(d), soon(), reach(d)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if started.Load() != 1 || len(lines(d, "starts")) != 1 {
		t.Errorf(`%d spawned, started: %v; want started.Load() == 1 and len(lines(d, "starts")) == 1`,
			started.Load(), lines(d, "starts"))
	}
	if outcome, err := Start(d, program, options(d)); err != nil || outcome != Running {
		t.Errorf("outcome %v, %v; want no error and outcome == Running", outcome, err)
	}
	if _, err := AcquireLock(d); !errors.Is(err, ErrRunning) {
		t.Errorf("a second daemon: %v", err)
	}
}

func TestDaemonIsCutOff(t *testing.T) {
	d := place(t)
	// A pipe that some agent left open in us, not marked close-on-exec.
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	opt := options(d, "USER=u", "LC_ALL=C", "XDG_DATA_HOME="+d.Home+"/data", "HOOKMUX_DISABLED=1", "SECRET=1", "PATH=",
		"LC_ALL=twice")
	if err := Ensure(d, self(t), opt, soon(), reach(d)); err != nil {
		t.Fatal(err)
	}
	world := lines(d, "world")
	for _, want := range []string{
		"cwd /", "umask 77", "leader true", "HOME=" + d.Home, "USER=u", "LC_ALL=C", "XDG_DATA_HOME=" + d.Home + "/data",
		"PATH=" + paths.DefaultPath, LockVariable + "=3", paths.RuntimeVariable + "=" + d.Runtime,
	} {
		if !slices.Contains(world, want) {
			t.Errorf("no %q in\n%s; want want in world", want, strings.Join(world, "\n"))
		}
	}
	for _, line := range world {
		if strings.HasPrefix(line, "pipe ") || strings.HasPrefix(line, "SECRET") ||
			strings.Contains(line, "DISABLED") || strings.Contains(line, "twice") {
			t.Errorf("the daemon has %q", line)
		}
	}
	if info, err := os.Stat(d.Log()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v, %v; want no error and info.Mode().Perm() == 0o600", info, err)
	}
}

func TestDeathsMakeTheNextStartWait(t *testing.T) {
	d, program := place(t), self(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	if err := addLine(d, "die", ""); err != nil {
		t.Fatal(err)
	}
	// How many starts it takes depends on the machine: on a slow one a wait is
	// over before anybody looks.
	if err := Ensure(d, program, options(d), soon(), reach(d)); err == nil {
		t.Fatal("a daemon that dies was reached")
	}
	if n := len(lines(d, "starts")); n < freeDeaths+1 {
		t.Errorf("%d starts, want at least %d", n, freeDeaths+1)
	}
	if err := Pause(d); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(d, program, options(d), soon(), reach(d)); err == nil ||
		!strings.Contains(err.Error(), "died several times") {
		t.Fatalf("while starts wait: %v", err)
	}
	// A person may insist, and what they start counts as alive.
	if err := os.Remove(filepath.Join(d.Runtime, "die")); err != nil {
		t.Fatal(err)
	}
	forced := options(d)
	forced.Force = true
	if err := Ensure(d, program, forced, soon(), reach(d)); err != nil {
		t.Fatal(err)
	}
	if err := Forget(d); err != nil {
		t.Fatal(err)
	}
	if _, paused := Paused(d); paused {
		t.Error("still paused; want !paused")
	}
	if err := Forget(d); err != nil {
		t.Error(err)
	}
}

// Once the fault is over a daemon comes up without anybody's doing.
func TestDaemonComesBackAfterDeaths(t *testing.T) {
	d, program := place(t), self(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	for range keepDeaths {
		if err := noteDeath(d, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	patient := options(d)
	patient.Patient = true
	if err := Ensure(d, program, patient, soon(), reach(d)); err != nil {
		t.Error(err)
	}
}

func TestCrashIsADeathAndCleanStopIsNone(t *testing.T) {
	d, program := place(t), self(t)
	if err := Ensure(d, program, options(d), soon(), reach(d)); err != nil {
		t.Fatal(err)
	}
	if !DaemonHoldsLock(d) {
		t.Error("a daemon that answers doesn't live")
	}
	endDaemon(t, d)
	if err := Ensure(d, program, options(d), soon(), reach(d)); err != nil {
		t.Fatal(err)
	}
	if got, _ := readDeaths(d, time.Now()); len(got) != 0 {
		t.Errorf("a clean stop counts as death: %v", got)
	}
	if err := addLine(d, "crash", ""); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the daemon crashed", func() bool { return !DaemonHoldsLock(d) })
	if err := os.Remove(filepath.Join(d.Runtime, "crash")); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(d, program, options(d), soon(), reach(d)); err != nil {
		t.Fatal(err)
	}
	if got, _ := readDeaths(d, time.Now()); len(got) != 1 {
		t.Errorf("deaths: %v; want len(got) == 1", got)
	}
}

func TestWaitByTheClock(t *testing.T) {
	d := place(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	now := time.UnixMilli(1_790_000_000_000)
	for n, millis := range []int{0, 0, 0, 250, 500, 1000, 2000, 2000, 2000, 2000} {
		want := time.Duration(millis) * time.Millisecond
		if until, paused := pausedAt(d, now); paused != (want > 0) || paused && !until.Equal(now.Add(want)) {
			t.Errorf("after %d deaths the next start waits until %v, %v; want %v more", n, until, paused, want)
		}
		if err := noteDeath(d, now); err != nil {
			t.Fatal(err)
		}
	}
	if _, paused := pausedAt(d, now.Add(longestWait)); paused {
		t.Error("the longest wait takes longer")
	}
	if _, paused := pausedAt(d, now.Add(-time.Second)); paused {
		t.Error("deaths in the future count")
	}
	if deaths, _ := readDeaths(d, now.Add(within+time.Millisecond)); len(deaths) > 0 {
		t.Errorf("deaths of more than a minute ago count: %v", deaths)
	}
	for _, junk := range []string{"junk\n-5 \x00\n", "until=", "until=99999999999999",
		strings.Repeat("1 ", maxDeaths)} {
		if err := os.WriteFile(d.DeathsFile(), []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, paused := pausedAt(d, now); paused {
			t.Errorf("%.20q pauses; want !paused", junk)
		}
	}
	if err := Forget(d); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", d.DeathsFile()); err != nil {
		t.Fatal(err)
	}
	if _, paused := pausedAt(d, now); paused {
		t.Error("a link pauses")
	}
}

func TestNothingToStart(t *testing.T) {
	d := place(t)
	err := Ensure(d, filepath.Join(d.Home, "none"), options(d), soon(), reach(d))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want error os.ErrNotExist", err)
	}
	if _, err := os.Stat(d.AliveFile()); !os.IsNotExist(err) {
		t.Error("what never started left a mark")
	}
}

func TestLogIsSetAside(t *testing.T) {
	d := place(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Log(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.Log(), MaxLog+1); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(d, self(t), options(d), soon(), reach(d)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.Log() + ".1"); err != nil || info.Size() != MaxLog+1 {
		t.Errorf("info = %v, error %v; want no error and info.Size() = MaxLog + 1", info, err)
	}
	if info, err := os.Stat(d.Log()); err != nil || info.Size() > MaxLog {
		t.Errorf("info = %v, error %v; want no error and info.Size() at most MaxLog", info, err)
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "hookmux")
	path := func(string) string { return "relative" + string(os.PathListSeparator) + dir }
	if got, err := FindProgram(path); err == nil {
		t.Errorf("found %s; want an error", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := FindProgram(path); err == nil {
		t.Errorf("found %s, which can't be run", got)
	}
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := FindProgram(path); err != nil || got != file {
		t.Errorf("FindProgram(path) = %s, error %v; want no error and %q", got, err, file)
	}
}

// A place in which no daemon shall come up stays without one.
func TestPauseKeepsDaemonsAway(t *testing.T) {
	d, program := place(t), self(t)
	if err := Pause(d); err != nil {
		t.Fatal(err)
	}
	if outcome, err := Start(d, program, options(d)); err != nil || outcome != Backoff {
		t.Errorf("outcome %v, %v; want no error and outcome == Backoff", outcome, err)
	}
	if got := strings.Join(lines(d, "starts"), ""); got != "" {
		t.Errorf(`started %q, want ""`, got)
	}
}

// Whoever holds a lock without being a daemon keeps no daemon from starting.
func TestLockOfAnIntruderIsBypassed(t *testing.T) {
	if _, err := os.Stat("/proc/locks"); err != nil {
		t.Skip("the system does not tell who holds a lock")
	}
	for _, name := range []string{"daemon.lock", "start.lock"} {
		d, program := place(t), self(t)
		if err := d.MakeRuntime(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(d.Runtime, name)
		holder := exec.Command(program, "hold", file)
		ready, err := holder.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		end, err := holder.StdinPipe() // it ends with us, whatever happens
		if err != nil {
			t.Fatal(err)
		}
		if err := holder.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = end.Close(); _ = holder.Wait() })
		if _, err := io.ReadFull(ready, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if pid, _ := lockHolder(file); pid == 0 {
			t.Skip("the kernel does not list this file system's locks by the numbers of stat(2)")
		}
		if err := Ensure(d, program, options(d), soon(), reach(d)); err != nil {
			t.Fatalf("%s: error %v, want no error", name, err)
		}
		who := strings.Join(Bypassed(d), "; ")
		if !strings.Contains(who, strconv.Itoa(holder.Process.Pid)) || !strings.Contains(who, name) {
			t.Errorf("bypassed %q; want process %d, which holds %s, to be named", who, holder.Process.Pid, name)
		}
		if again := Bypassed(d); len(again) > 0 {
			t.Errorf("said again: %q; want len(again) <= 0", again)
		}
	}
}

// A daemon of ours is never bypassed, however long it does not answer.
func TestLockOfADaemonStays(t *testing.T) {
	d := place(t)
	lock, err := AcquireLock(d)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Stop()
	var s lockIntruder
	for range 3 {
		s.since = time.Time{}
		s.putAside(d.LifeLock(), d)
	}
	if lock.Lost() || len(Bypassed(d)) > 0 {
		t.Error("the lock of a daemon was put aside")
	}
	if err := os.RemoveAll(d.Runtime); err != nil {
		t.Fatal(err)
	}
	if !lock.Lost() {
		t.Error("a daemon does not notice that its folder is gone")
	}
}

// A disk on which nothing can be written keeps no daemon from starting.
func TestFullDisk(t *testing.T) {
	d, program := place(t), self(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	// Folders stand where files should be written, as nothing else fails for
	// every user alike.
	for _, file := range []string{d.AliveFile(), d.DeathsFile(), d.Log()} {
		if err := os.MkdirAll(filepath.Join(file, "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := Ensure(d, program, options(d), soon(), reach(d)); err != nil {
		t.Error(err)
	}
}

// earlierDaemon runs a process of some name that holds the lock as daemons did before the first release.
func earlierDaemon(t *testing.T, d paths.Dirs, name string) *exec.Cmd {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	text, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.MakeRuntime(), os.WriteFile(program, text, 0o700)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "hold", filepath.Join(d.Runtime, "hub.lock"))
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hub.sock", "hub.alive"} {
		if err := os.WriteFile(filepath.Join(d.Runtime, name), []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cmd
}

// A daemon replaces one of a build before the first release, and no such daemon starts as long as it runs.
func TestEarlierDaemonIsReplacedAndKeptOut(t *testing.T) {
	d := place(t)
	before := earlierDaemon(t, d, "hookmux")
	lock, err := AcquireLock(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Wait(); err == nil {
		t.Error("the earlier daemon ended by itself, want it stopped")
	}
	free := func() bool {
		f, err := os.Open(filepath.Join(d.Runtime, "hub.lock"))
		if err != nil {
			return true
		}
		defer func() { _ = f.Close() }()
		return files.TryLock(f) == nil
	}
	if free() {
		t.Error("an earlier build can start a daemon beside this one")
	}
	EndEarlier(d) // cleaning up while the daemon runs
	if free() {
		t.Error("cleaning up let an earlier build start a daemon beside this one")
	}
	if err := lock.Stop(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(d.Runtime, "hub.*")); len(left) > 0 {
		t.Errorf("the stopped daemon leaves %v", left)
	}
}

// A program that isn't hookmux keeps no daemon from starting by holding the earlier lock, and isn't stopped.
func TestEarlierLockOfAStranger(t *testing.T) {
	d := place(t)
	stranger := earlierDaemon(t, d, "flock")
	lock, err := AcquireLock(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := stranger.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the stranger was stopped: %v", err)
	}
	if err := lock.Stop(); err != nil {
		t.Fatal(err)
	}
}
