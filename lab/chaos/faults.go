//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/recorder/spool"
)

// fault is one thing that goes wrong.
type fault struct {
	name string
	// destroys says that events that were acknowledged before or during the fault may be
	// gone with it. They are looked for before, and forgotten after.
	destroys bool
	// stalls says that nothing can be written while it lasts, so that events are in
	// memory until they are stored again. The next fault comes after that.
	stalls bool
	// needsMounts says that it needs file systems of the world's own.
	needsMounts bool
	// run causes it and ends it again.
	run func(w *world) error
}

// faults returns the table.
func faults() []fault {
	return []fault{
		{name: "kill the daemon", run: killOnce},
		{name: "kill the daemon three times", run: killThrice},
		{name: "terminate the daemon", run: terminateDaemon},
		{name: "stop the daemon for two seconds", run: stopDaemon},
		{name: "stop the daemon, then kill it", run: stopAndKill},
		{name: "full disk under the state folder", needsMounts: true, stalls: true, run: fillState},
		{name: "full disk under the runtime folder", needsMounts: true, run: fillRuntime},
		{name: "full disk, daemon killed", needsMounts: true, destroys: true, run: fillStateAndKill},
		{name: "read-only state folder", needsMounts: true, stalls: true, run: freezeState},
		{name: "read-only state folder, daemon killed", needsMounts: true, destroys: true, run: freezeStateAndKill},
		{name: "daemon lock held by a stranger", run: holdDaemonLock},
		{name: "start lock held by a stranger", run: holdStartLock},
		{name: "60 half-sent requests of 16 MiB", run: sendHalves},
		{name: "500 silent connections", run: openSilent},
		{name: "lines of rubbish and without an end", run: sendRubbish},
		{name: "runtime folder removed", run: removeRuntime},
		{name: "socket removed", run: removeSocket},
		{name: "socket replaced by a file", run: replaceSocket},
		{name: "runtime folder open to others", run: openRuntime},
		{name: "a runtime file is something else", run: swapRuntimeFile},
		{name: "a runtime file is something else, daemon killed", run: swapRuntimeFileAndKill},
		{name: "state folder removed", destroys: true, run: removeState},
		{name: "state folder renamed", destroys: true, run: renameState},
		{name: "a state file is something else", run: swapStateFile},
		{name: "a state file is something else, daemon killed", run: swapStateFileAndKill},
		{name: "journal removed", destroys: true, run: removeJournal},
		{name: "journal overwritten with rubbish", destroys: true, run: spoilJournal},
		{name: "journal cut, daemon killed", destroys: true, run: cutJournal},
		{name: "intake record cut, daemon killed", run: cutIntake},
		{name: "rubbish in intake and spool", run: scatterRecords},
		{name: "spool record cut", run: cutSpool},
		{name: "settings damaged", run: damageSettings},
		{name: "settings damaged, daemon killed", run: damageSettingsAndKill},
		{name: "forged list of guarded events, daemon killed", run: forgeNote},
		{name: "forged off.json, daemon killed", run: forgeOff},
		{name: "hookmux gone, daemon killed", run: hideProgram},
		{name: "times from the future", run: jumpAhead},
		{name: "clients of other versions", run: callFromOtherVersions},
		{name: "limits lowered on the running daemon", run: limitDaemon},
		{name: "daemon started under small limits", run: startLimited},
	}
}

// waitCalm waits as long as faults last in this run.
func (w *world) waitCalm() { time.Sleep(w.options.Calm) }

func killOnce(w *world) error {
	w.signalDaemon(syscall.SIGKILL)
	return nil
}

func killThrice(w *world) error {
	for range 3 {
		w.signalDaemon(syscall.SIGKILL)
		time.Sleep(w.options.Calm / 3)
	}
	return nil
}

func terminateDaemon(w *world) error {
	w.signalDaemon(syscall.SIGTERM)
	return nil
}

func stopDaemon(w *world) error {
	pid := w.signalDaemon(syscall.SIGSTOP)
	time.Sleep(2 * time.Second)
	if pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	return nil
}

func stopAndKill(w *world) error {
	pid := w.signalDaemon(syscall.SIGSTOP)
	w.waitCalm()
	if pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return nil
}

func fillState(w *world) error   { return w.fillPlace(w.statePlace(), false) }
func fillRuntime(w *world) error { return w.fillPlace(w.runtimePlace(), true) }

func fillStateAndKill(w *world) error { return w.fillPlace(w.statePlace(), true) }

func (w *world) fillPlace(dir string, kill bool) error {
	undo, err := fillDisk(dir)
	if err != nil {
		return err
	}
	defer undo()
	if kill {
		w.waitCalm()
		w.signalDaemon(syscall.SIGKILL)
	}
	w.waitCalm()
	return nil
}

func freezeState(w *world) error        { return w.freezePlace(false) }
func freezeStateAndKill(w *world) error { return w.freezePlace(true) }

func (w *world) freezePlace(kill bool) error {
	undo, err := makeReadOnly(w.statePlace())
	if err != nil {
		return err
	}
	defer undo()
	if kill {
		w.signalDaemon(syscall.SIGKILL)
	}
	w.waitCalm()
	return nil
}

func holdDaemonLock(w *world) error { return w.holdLock(w.Dirs.LifeLock()) }
func holdStartLock(w *world) error  { return w.holdLock(w.Dirs.StartLock()) }

// holdVariable makes this program hold a lock and do nothing else.
const holdVariable = "HOOKMUX_CHAOS_HOLD"

// holdLock kills the daemon and has another process hold a lock of daemons.
func (w *world) holdLock(file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdVariable+"="+file)
	held, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.signalDaemon(syscall.SIGKILL)
	var one [1]byte
	_, _ = held.Read(one[:]) // it has the lock, or another process was faster
	w.waitCalm()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed: that it did not end well is no news
	return nil
}

// keepLock returns the process that holds a lock: it tries for a moment, says so and
// waits to be killed.
func keepLock(file string) int {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	_, locked := waitUntil(2*time.Second, func() bool {
		return files.TryLock(f) == nil
	})
	fmt.Print("!")
	if !locked {
		return 1
	}
	time.Sleep(time.Minute) // in case it isn't killed
	return 0
}

func removeRuntime(w *world) error { return os.RemoveAll(w.Dirs.Runtime) }

func removeSocket(w *world) error {
	_ = os.Remove(w.Dirs.Socket()) // it may just be gone
	return nil
}

func replaceSocket(w *world) error {
	socket := w.Dirs.Socket()
	if err := os.RemoveAll(socket); err != nil {
		return err
	}
	return os.WriteFile(socket, []byte("no socket\n"), 0o600)
}

func openRuntime(w *world) error {
	if err := os.Chmod(w.Dirs.Runtime, 0o777); err != nil {
		return err
	}
	w.waitCalm()
	return os.Chmod(w.Dirs.Runtime, 0o700)
}

func removeState(w *world) error { return removeTree(w.Dirs.State) }

// removeTree removes a folder that others are writing into.
func removeTree(dir string) error {
	var err error
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

func renameState(w *world) error {
	aside := w.Dirs.State + "-was"
	if err := removeTree(aside); err != nil {
		return err
	}
	return os.Rename(w.Dirs.State, aside)
}

func removeJournal(w *world) error {
	for _, name := range []string{"journal.db", "journal.db-wal", "journal.db-shm"} {
		_ = os.Remove(w.stateFile(name)) // not all are always there
	}
	return nil
}

func spoilJournal(w *world) error {
	f, err := os.OpenFile(w.stateFile("journal.db"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	rubbish := []byte(strings.Repeat("rubbish ", 1024))
	_, err = f.WriteAt(rubbish, w.random.Int64N(max(1, info.Size())))
	w.signalDaemon(syscall.SIGKILL)
	return err
}

func cutJournal(w *world) error {
	w.signalDaemon(syscall.SIGKILL)
	for _, name := range []string{"journal.db", "journal.db-wal"} {
		info, err := os.Stat(w.stateFile(name))
		if err != nil || info.Size() == 0 {
			continue
		}
		if err := os.Truncate(w.stateFile(name), w.random.Int64N(info.Size())); err != nil {
			return err
		}
	}
	return nil
}

// cutIntake kills the daemon and cuts the last file of the intake: what the cut
// took is lost, all else is not.
func cutIntake(w *world) error {
	resume := w.load.pause()
	defer resume()
	pid := w.signalDaemon(syscall.SIGKILL)
	waitUntil(10*time.Second, func() bool { return pid == 0 || syscall.Kill(pid, 0) != nil || !w.daemonAnswers() })
	files, err := filepath.Glob(filepath.Join(w.Dirs.Intake(), "intake-*.log"))
	if err != nil || len(files) == 0 {
		return err
	}
	file := files[w.random.IntN(len(files))]
	return w.cutRecords(file)
}

func cutSpool(w *world) error {
	files, err := filepath.Glob(filepath.Join(w.Dirs.Spool(), "*.rec"))
	if err != nil || len(files) == 0 {
		return leaveCutRecord(w)
	}
	return w.cutRecords(files[w.random.IntN(len(files))])
}

// cutRecords cuts a file of records somewhere and writes off what it held then.
func (w *world) cutRecords(file string) error {
	records, _, err := spool.ReadFile(file)
	if err != nil {
		return nil // stored and removed meanwhile
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 {
		return nil
	}
	for _, record := range records {
		w.acknowledged.writeOff(record.ID) // those before the cut may still come
	}
	if err := os.Truncate(file, w.random.Int64N(info.Size())); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// leaveCutRecord leaves half a record, as a client that died while it wrote.
func leaveCutRecord(w *world) error {
	whole := spool.Append(nil, &spool.Record{Type: spool.TypeEvent, ID: "cut", Time: time.Now(), Agent: "claude",
		Event: "PostToolUse", Payload: []byte(`{"session_id":"cut"}`)})
	if err := os.MkdirAll(w.Dirs.Spool(), 0o700); err != nil {
		return err
	}
	name := fmt.Sprintf("cut-%d.%d.rec", time.Now().UnixNano(), len(whole))
	return os.WriteFile(filepath.Join(w.Dirs.Spool(), name), whole[:w.random.IntN(len(whole))], 0o600)
}

func forgeNote(w *world) error {
	const empty = "hookmux guards 2\nwritten 9000000000000000000\nseal none\nend\n"
	if err := os.RemoveAll(guardnote.File(w.Dirs.State)); err != nil {
		return err
	}
	if err := os.WriteFile(guardnote.File(w.Dirs.State), []byte(empty), 0o600); err != nil {
		return err
	}
	w.signalDaemon(syscall.SIGKILL)
	return nil
}

func forgeOff(w *world) error {
	text := fmt.Sprintf(`{"version":1,"since":%q,"until":%q}`, time.Now().Format(time.RFC3339),
		time.Now().Add(time.Hour).Format(time.RFC3339))
	if err := os.RemoveAll(w.stateFile("off.json")); err != nil {
		return err
	}
	if err := os.WriteFile(w.stateFile("off.json"), []byte(text), 0o600); err != nil {
		return err
	}
	w.signalDaemon(syscall.SIGKILL)
	w.waitCalm()
	return nil
}

func hideProgram(w *world) error {
	program := w.Program("hookmux")
	if err := os.Rename(program, program+".away"); err != nil {
		return err
	}
	w.signalDaemon(syscall.SIGKILL)
	w.waitCalm()
	return os.Rename(program+".away", program)
}

// jumpAhead leaves what a clock that was set back would leave.
func jumpAhead(w *world) error {
	later := time.Now().Add(10 * 365 * 24 * time.Hour)
	text := fmt.Sprintf("%d\n%d\nuntil=%d\n", later.UnixMilli(), later.UnixMilli(), later.UnixMilli())
	if err := os.RemoveAll(w.Dirs.DeathsFile()); err != nil {
		return err
	}
	if err := os.WriteFile(w.Dirs.DeathsFile(), []byte(text), 0o600); err != nil {
		return err
	}
	for _, name := range []string{"journal.db", "guarded", "accepted.json", "sessions.log"} {
		_ = os.Chtimes(w.stateFile(name), later, later) // not all are there
	}
	w.signalDaemon(syscall.SIGKILL)
	return nil
}
