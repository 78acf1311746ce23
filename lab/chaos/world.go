//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// settings are accepted by the user of a world: every guard is on.
const settings = `{
  "guard.destructive": "block",
  "guard.secrets": "block",
  "guard.own-files": "block"
}
`

// world is one home with an installation in it, the load on it and the result of
// both.
type world struct {
	*sandbox.Home
	options worldOptions
	// ownMounts says that state and runtime folder are small file systems of their own.
	ownMounts bool
	recording recording
	random    *rand.Rand // of the faults; the load has its own

	load         *load
	acknowledged *acknowledged

	mu       sync.Mutex
	fault    string // what is wrong right now, for messages
	failures []failure
	memory   []int // of the daemon after each fault, in KiB
}

// worldOptions are the options a world is started with.
type worldOptions struct {
	Number int
	Dir    string // an empty folder
	Bin    string // where hookmux and hookmux-hook are
	Faults int
	Seed   uint64
	Only   string        // run faults whose name has this in it
	Back   time.Duration // how soon a daemon must be back
	Trace  bool          // say what happens when
	Pace   time.Duration // between two calls of the load
	Calm   time.Duration // how long a fault lasts at least, and the pause after it
}

// failure is a promise that was not kept.
type failure struct {
	World    int
	Seed     uint64
	Fault    string
	Number   int
	What     string
	Expected string
	Came     string
}

func (f failure) String() string {
	return fmt.Sprintf("world %d, seed %d, fault %d (%s): %s\n    expected: %s\n    came:     %s",
		f.World, f.Seed, f.Number, f.Fault, f.What, f.Expected, f.Came)
}

// newWorld creates a home with settings that the user accepted.
func newWorld(o worldOptions) (*world, error) {
	home, err := sandbox.New(sandbox.Options{Base: o.Dir, InHome: true, Env: []string{
		"USER=user", "SHELL=/bin/sh", "LANG=C.UTF-8",
		paths.RuntimeVariable + "=" + filepath.Join(o.Dir, "home/volatile/run"),
	}})
	if err != nil {
		return nil, err
	}
	w := &world{Home: home, options: o, random: rand.New(rand.NewPCG(o.Seed, uint64(o.Number)))}
	for _, dir := range []string{w.statePlace(), w.runtimePlace()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if w.recording, err = readRecording(); err != nil {
		return nil, err
	}
	w.ownMounts = mountPlaces(w)
	if err := w.InstallPrograms(o.Bin); err != nil {
		return nil, err
	}
	if err := w.WriteFiles(map[string]string{w.configFile(): settings}); err != nil {
		return nil, err
	}
	if w.ownMounts { // the password file names this home then
		getenv := paths.GetenvFrom(w.Env)
		file, _ := paths.InstallationKey(getenv)
		key, err := sealed.MakeKey(file, func(path string, key []byte) error {
			return w.WriteFiles(map[string]string{path: string(key)})
		})
		if err != nil {
			return nil, err
		}
		if _, err := w.Dirs.WriteInstallation(getenv, w.Program("hookmux-hook"), w.Program("hookmux"), key,
			w.Env); err != nil {
			return nil, err
		}
	}
	accepted := sources.OpenAccepted(w.Dirs, false)
	sources.New(sources.Options{Dirs: w.Dirs, Catalogue: agent.Builtin(), Accepted: accepted})
	if err := accepted.AcceptInitial(true); err != nil {
		return nil, err
	}
	w.acknowledged = newAcknowledged()
	w.load = newLoad(w)
	return w, nil
}

func (w *world) statePlace() string           { return filepath.Dir(w.Dirs.State) }
func (w *world) runtimePlace() string         { return filepath.Dir(w.Dirs.Runtime) }
func (w *world) configFile() string           { return filepath.Join(w.Dirs.Config, "config.json") }
func (w *world) stateFile(name string) string { return filepath.Join(w.Dirs.State, name) }

// fail notes a promise that was not kept.
func (w *world) fail(what, expected, came string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	number := len(w.memory)
	w.failures = append(w.failures, failure{
		World: w.options.Number, Seed: w.options.Seed, Fault: w.fault, Number: number, What: what, Expected: expected,
		Came: came,
	})
}

// hangTime is how long a hook call takes before it is treated as one that never ends.
const hangTime = 3 * time.Minute

// callHook makes a call through the real client, and reports whether a daemon answered it.
func (w *world) callHook(call hookCall) (sandbox.Answer, bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), hangTime)
	defer cancel()
	cmd := w.HookCommand(ctx, call.agent, call.event, string(call.payload), "id="+call.id)
	cmd.Env = slices.Concat(w.Env, []string{"HOOKMUX_DEBUG=1"}) // reports on stderr if no daemon answered
	cmd.WaitDelay = time.Second
	a, err := sandbox.RunToEnd(cmd)
	if err != nil || ctx.Err() != nil {
		return sandbox.Answer{}, false, errors.Join(err, ctx.Err())
	}
	return a, !strings.Contains(a.Stderr, frame.DebugStart), nil
}

// askDaemon sends one line to the daemon and returns the first line of the answer.
func (w *world) askDaemon(line string, wait time.Duration) (string, error) {
	conn, err := net.DialTimeout("unix", w.Dirs.Socket(), wait)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(wait))
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}

// pingLine is a question that every daemon answers at once.
const pingLine = `{"id":1,"method":"system.ping"}`

// daemonAnswers reports whether a daemon says that it is there.
func (w *world) daemonAnswers() bool {
	text, err := w.askDaemon(pingLine, 2*time.Second)
	return err == nil && strings.Contains(text, `"result"`)
}

// daemonProcess returns the process id of the daemon; 0 for none.
func (w *world) daemonProcess() int { return daemonstart.DaemonPID(w.Dirs) }

// signalDaemon sends a signal to the daemon.
func (w *world) signalDaemon(signal syscall.Signal) int {
	pid := w.daemonProcess()
	if pid > 0 {
		_ = syscall.Kill(pid, signal) // it may just have ended
	}
	return pid
}

// listDaemons lists the processes that run this world's daemon.
func (w *world) listDaemons() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := w.Program("hookmux") + "\x00daemon\x00"
	var list []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if text, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && string(text) == want {
			list = append(list, pid)
		}
	}
	return list
}

// memoryOf returns the memory of a process, in KiB; 0 when it is gone.
func memoryOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// waitUntil waits for a condition and returns how long it took.
func waitUntil(limit time.Duration, ok func() bool) (time.Duration, bool) {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if ok() {
			return time.Since(began), true
		}
		if time.Since(began) > limit {
			return time.Since(began), false
		}
	}
}

// endDaemons ends every daemon of the world.
func (w *world) endDaemons() {
	for _, pid := range w.listDaemons() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
