package cli

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// startWithClock starts a program whose clock is off by some seconds. Go programs ask the
// kernel's vDSO for the time: the process gets a copy of it that asks the kernel and adds
// the seconds. A namespace of its own would shift only the monotonic clock, and what is
// preloaded doesn't reach programs without libc.
func startWithClock(cmd *exec.Cmd, off int32) error {
	runtime.LockOSThread() // only this thread may trace it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil { // it stops when it was loaded
		return err
	}
	if err := shiftClock(pid, off); err != nil {
		_ = cmd.Process.Kill()
		return err
	}
	return syscall.PtraceDetach(pid)
}

func shiftClock(pid int, off int32) error {
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return err
	}
	const sysinfo = 33 // AT_SYSINFO_EHDR: where the vDSO is
	base := uint64(0)
	for i := 0; i+16 <= len(auxv); i += 16 {
		if binary.LittleEndian.Uint64(auxv[i:]) == sysinfo {
			base = binary.LittleEndian.Uint64(auxv[i+8:])
		}
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	image := make([]byte, 4096)
	if _, err := memory.ReadAt(image, int64(base)); err != nil {
		return err
	}
	rest := make([]byte, 4096)
	if _, err := memory.ReadAt(rest, int64(base)+4096); err == nil {
		image = append(image, rest...)
	}
	vdso, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := vdso.DynamicSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if s.Name != "__vdso_clock_gettime" {
			continue
		}
		code := []byte{
			0xb8, 228, 0, 0, 0, // mov eax, SYS_clock_gettime
			0x0f, 0x05, // syscall
			0x85, 0xff, // test edi, edi: CLOCK_REALTIME?
			0x75, 0x07, // jne to ret
			0x48, 0x81, 0x06, 0, 0, 0, 0, // add qword [rsi], off
			0xc3, // ret
		}
		binary.LittleEndian.PutUint32(code[14:], uint32(off))
		_, err := memory.WriteAt(code, int64(base+s.Value))
		return err
	}
	return fmt.Errorf("the vDSO has no __vdso_clock_gettime")
}

// outputWithClock runs a command to its end.
func outputWithClock(t *testing.T, cmd *exec.Cmd, off int32) string {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout = &out
	err := startWithClock(cmd, off)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		t.Errorf("%s: %v", cmd, err)
	}
	return out.String()
}

// The clock of one machine is an hour fast, that of another an hour slow: daemons and hooks
// really have the wrong time. Requests are answered, deadlines stay what they are, policies
// arrive, and the journals are the same.
func TestFleetWithWrongClocks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("no clock is shifted with -short")
	}
	desk, build, wall := newMachine(t), newMachine(t), newMachine(t)
	off := map[*machine]int32{build: 3600, wall: -3600}
	for m, seconds := range off {
		daemon := m.command("hookmux", "daemon")
		if err := startWithClock(daemon, seconds); err != nil {
			t.Skipf("no clock can be shifted here: %v", err)
		}
		defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
		eventuallyFleet(t, "the daemon runs", func() bool {
			_, err := (&client.Client{Socket: m.home.Dirs.Socket(), Timeout: daemontest.Patience}).Info(t.Context())
			return err == nil
		})
	}
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk")
	build.run("fleet", "join", desk.invite("member"), "--name", "build")
	wall.run("fleet", "join", desk.invite("operator"), "--name", "wall")
	wall.followInbox()
	build.waitForOperator()
	asks := func(command, deadline string) (answered chan string) {
		answered = make(chan string, 1)
		cmd := build.command("hookmux-hook", "claude", "PermissionRequest", deadline)
		cmd.Stdin = strings.NewReader(`{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PermissionRequest","tool_name":"Bash",` +
			`"tool_input":{"command":"` + command + `"}}`)
		go func() { answered <- outputWithClock(t, cmd, off[build]) }()
		return answered
	}
	answered := asks("make deploy", "60")
	wall.run("approve", asksOn(t, wall, "build"))
	if answer := <-answered; !strings.Contains(answer, `"allow"`) {
		t.Errorf("the agent heard %s, want wall's yes", answer)
	}
	began := time.Now()
	answered = asks("make later", "20")
	asksOn(t, wall, "build")
	if answer := <-answered; strings.Contains(answer, "allow") || time.Since(began) > 25*time.Second {
		t.Errorf("after %s the agent heard %s, want nothing within its deadline of 20 s", time.Since(began), answer)
	}
	pushPolicies(t, wall, build)
	rows := rowsOf(t, journalOf(build.home.Dirs))
	ahead := false
	for _, row := range rows {
		ahead = ahead || row.Native == "PermissionRequest" && time.Until(row.Time) > 50*time.Minute
	}
	if !ahead {
		t.Errorf("no event of build is from the future: its clock wasn't shifted (%d events)", len(rows))
	}
	var members []wire.FleetMember
	desk.json(&members, "fleet", "list")
	for _, m := range members {
		if !m.Online || m.Refused > 0 {
			t.Errorf("%+v, want it connected and not blamed", m)
		}
	}
	for _, m := range []*machine{build, wall} {
		wantSameJournals(t, desk, m, time.Time{})
	}
}
