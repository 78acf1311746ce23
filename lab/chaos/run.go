//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/version"
)

// runOptions is one run: several worlds that share the faults.
type runOptions struct {
	Bin    string
	Faults int
	Seed   uint64
	Worlds int
	Only   string
	Back   time.Duration
	Calm   time.Duration
	Pace   time.Duration
	Keep   bool
	Trace  bool
}

// result is the result of one world.
type result struct {
	World      int
	OwnMounts  bool
	Faults     []faultResult
	Failures   []failure
	Counts     loadCounts
	Acked      int
	WrittenOff int
	Memory     []int // of the daemon after each fault, in KiB
	Error      string
}

// faultResult is the result of one fault.
type faultResult struct {
	Name    string
	Back    time.Duration // until a daemon answered and passed a harmless call
	Slowest time.Duration // call through the client since the fault before
}

// worldVariable hands a world its options: it is a process of its own.
const worldVariable = "HOOKMUX_CHAOS_WORLD"

// runInside does what a process that this program started for itself is for.
func runInside() (code int, done bool) {
	if file := os.Getenv(holdVariable); file != "" {
		return keepLock(file), true
	}
	text := os.Getenv(worldVariable)
	if text == "" {
		return 0, false
	}
	var o worldOptions
	r := result{}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		r.Error = err.Error()
	} else {
		r = runWorld(o)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 1, true
	}
	return 0, true
}

// runWorlds runs all worlds side by side.
func runWorlds(o runOptions) ([]result, error) {
	bin, err := filepath.Abs(o.Bin)
	if err != nil {
		return nil, err
	}
	base, err := os.MkdirTemp("", "hkc") // short: socket paths have little room
	if err != nil {
		return nil, err
	}
	if o.Keep {
		fmt.Fprintln(os.Stderr, "the homes are in", base)
	} else {
		defer os.RemoveAll(base)
	}
	o.Worlds = max(1, min(o.Worlds, o.Faults))
	results := make([]result, o.Worlds)
	errs := make([]error, o.Worlds)
	var running sync.WaitGroup
	for n := range o.Worlds {
		running.Go(func() {
			faults := o.Faults / o.Worlds
			if n < o.Faults%o.Worlds {
				faults++
			}
			dir := filepath.Join(base, fmt.Sprint(n))
			errs[n] = startWorld(worldOptions{
				Number: n, Dir: dir, Bin: bin, Faults: faults, Seed: o.Seed, Only: o.Only, Back: o.Back, Calm: o.Calm,
				Trace: o.Trace, Pace: o.Pace,
			}, &results[n])
		})
	}
	running.Wait()
	return results, errors.Join(errs...)
}

// startWorld runs a world as a process with mounts of its own, or without them if the system doesn't
// allow that.
func startWorld(o worldOptions, r *result) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var out []byte
	for _, attributes := range mountAttributes() {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), worldVariable+"="+string(text))
		if attributes.Cloneflags != 0 {
			cmd.Env = append(cmd.Env, insideVariable+"=1")
		}
		cmd.SysProcAttr = attributes
		cmd.Stderr = os.Stderr
		if out, err = cmd.Output(); cmd.Process != nil {
			break // it ran; else the system didn't allow the namespaces
		}
	}
	if err != nil {
		return fmt.Errorf("world %d: %w", o.Number, err)
	}
	if err := json.Unmarshal(out, r); err != nil {
		return fmt.Errorf("world %d said %.200q: %w", o.Number, out, err)
	}
	if r.Error != "" {
		return fmt.Errorf("world %d: %s", o.Number, r.Error)
	}
	return nil
}

// mountAttributes returns the ways to run a world, best first: mounts of its own by
// root's rights, by those of a user namespace, and no such mounts.
func mountAttributes() []*syscall.SysProcAttr {
	plain := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		return []*syscall.SysProcAttr{{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}, plain}
	}
	return []*syscall.SysProcAttr{{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}, plain}
}

// runWorld causes the faults in one world.
func runWorld(o worldOptions) result {
	r := result{World: o.Number}
	w, err := newWorld(o)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	defer w.endDaemons()
	r.OwnMounts = w.ownMounts
	list := w.possibleFaults()
	if len(list) == 0 {
		r.Error = fmt.Sprintf("there is no fault with %q in its name that is possible here", o.Only)
		return r
	}
	w.load.start()
	if _, ok := waitUntil(time.Minute, w.daemonWorks); !ok {
		w.fail("before the first fault", "a daemon", w.describeDaemon())
	}
	for range o.Faults {
		r.Faults = append(r.Faults, w.runFault(list[w.random.IntN(len(list))]))
		if len(w.failures) > 20 {
			break // whatever it is, it will not be clearer with more of it
		}
	}
	w.setFault("the end")
	w.checkJournal()
	w.load.stop()
	r.Counts, r.Failures, r.Memory = w.load.currentCounts(), w.failures, w.memory
	r.Acked, r.WrittenOff = w.acknowledged.total, w.acknowledged.lost
	return r
}

// possibleFaults returns those that were chosen and that this world allows.
func (w *world) possibleFaults() []fault {
	var list []fault
	for _, f := range faults() {
		if strings.Contains(f.name, w.options.Only) && (w.ownMounts || !f.needsMounts) {
			list = append(list, f)
		}
	}
	return list
}

func (w *world) setFault(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = name
}

// describeFault adds what exactly a fault chose.
func (w *world) describeFault(detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault += ": " + detail
}

// runFault makes one thing go wrong and looks at the result.
func (w *world) runFault(f fault) faultResult {
	w.setFault("before " + f.name)
	if f.destroys {
		w.checkJournal()
		w.waitForDaemon()
	}
	w.setFault(f.name)
	w.trace("fault", f.name)
	if err := f.run(w); err != nil {
		w.fail("the fault itself", "can be made", err.Error())
	}
	w.trace("over", w.fault)
	back, ok := w.waitForDaemon()
	if !ok {
		w.fail("after the fault", "a daemon that passes a harmless call within "+w.options.Back.String(), w.describeDaemon())
	}
	if f.destroys || f.stalls {
		if took, ok := waitUntil(w.options.Back, w.storageWorks); !ok {
			w.fail("after the fault", "events are stored again within "+w.options.Back.String(), w.describeDaemon())
		} else {
			back = max(back, took)
		}
	}
	if f.destroys {
		w.acknowledged.writeOffAll()
		w.trace("counts anew", "")
	}
	if _, ok := waitUntil(time.Minute, func() bool { return len(w.listDaemons()) == 1 }); !ok {
		w.fail("after the fault", "one daemon", fmt.Sprintf("processes %v", w.listDaemons()))
	}
	w.mu.Lock()
	w.memory = append(w.memory, memoryOf(w.daemonProcess()))
	w.mu.Unlock()
	w.waitCalm()
	return faultResult{Name: f.name, Back: back, Slowest: w.load.takeSlowest()}
}

// waitForDaemon waits until a daemon answers and lets a harmless call pass.
func (w *world) waitForDaemon() (time.Duration, bool) {
	took, ok := waitUntil(w.options.Back, w.daemonWorks)
	return took, ok && took <= w.options.Back
}

func (w *world) daemonWorks() bool { return w.daemonAnswers() && w.load.makeOne(false) == "neutral" }

// trace prints what happens and when, for finding the cause of a failure.
func (w *world) trace(words ...any) {
	if w.options.Trace {
		fmt.Fprintln(os.Stderr, append([]any{time.Now().Format("15:04:05.000"), w.options.Number}, words...)...)
	}
}

// storageWorks reports whether an event of now gets into the journal that is in
// its place.
func (w *world) storageWorks() bool {
	call := w.load.choose(w.recording.reports, callPrefix)
	if !w.sendFrame(call, version.String) {
		return false
	}
	_, stored := waitUntil(time.Second, func() bool { return w.isStored(call.id) })
	return stored
}

// maxLog bounds what is read of a daemon's log.
const maxLog = 64 << 20

// describeDaemon describes what is there instead of a daemon that works.
func (w *world) describeDaemon() string {
	said, err := w.askDaemon(pingLine, time.Second)
	log, _ := files.Read(w.Dirs.Log(), maxLog) // a fault may have put a device in its place
	return fmt.Sprintf("processes %v, said %q, %v; last in the log: %s", w.listDaemons(), said, err,
		log[max(0, len(log)-700):])
}
