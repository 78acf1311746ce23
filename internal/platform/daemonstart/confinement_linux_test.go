package daemonstart

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filteredVariable has the test's own program set a filter of system calls that lets
// everything pass, and become cat.
const filteredVariable = "DAEMONPROGRAM_TEST_FILTERED"

func TestHelperFiltered(t *testing.T) {
	if os.Getenv(filteredVariable) == "" {
		t.Skip("only runs as a helper")
	}
	runtime.LockOSThread()
	code := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		t.Fatal(err)
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	t.Fatal(syscall.Exec(cat, []string{"cat"}, nil))
}

// The installed hookmux itself under a filter of system calls, or in a sandbox: it sees what
// whoever put it there wants it to see.
func TestConfinedDaemonIsNotBelieved(t *testing.T) {
	program, err := filepath.EvalSymlinks("/bin/cat")
	if err != nil {
		t.Skip(err)
	}
	t.Setenv(filteredVariable, "1")
	for name, command := range map[string][]string{
		"a filter":             {os.Args[0], "-test.run=^TestHelperFiltered$"},
		"no new privileges":    {"setpriv", "--no-new-privs", "cat"},
		"a sandbox of bwrap's": {"bwrap", "--dev-bind", "/", "/", "cat"},
	} {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		process := tryStart(t, command...)
		if process == "" {
			if name != "a sandbox of bwrap's" { // this user may have none
				t.Errorf("%s: %q doesn't start", name, command)
			}
			continue
		}
		if err := Check(process, program); err == nil {
			t.Errorf("%s: believed, want it refused", name)
		}
		if pid, _ := strconv.Atoi(filepath.Base(process)); !IsConfinedElsewhere(pid) {
			t.Errorf("%s: isn't known to be elsewhere", name)
		}
	}
}

// A process that is confined as this one is, or less, is believed.
func TestConfinementOfAContainer(t *testing.T) {
	own, known := readConfinement("/proc/self")
	if !known {
		t.Skip("this kernel doesn't tell")
	}
	for _, c := range []struct {
		theirs confinement
		ok     bool
	}{{own, true}, {confinement{}, true}, {confinement{own.noNewPrivileges + 1, own.seccomp, own.filters}, false},
		{confinement{own.noNewPrivileges, own.seccomp + 1, own.filters}, false},
		{confinement{own.noNewPrivileges, own.seccomp, own.filters + 1}, false}} {
		process := t.TempDir()
		status := "Name:\thookmux\nNoNewPrivs:\t" + strconv.Itoa(c.theirs.noNewPrivileges) + "\nSeccomp:\t" +
			strconv.Itoa(c.theirs.seccomp) + "\nSeccomp_filters:\t" + strconv.Itoa(c.theirs.filters) + "\n"
		if err := os.WriteFile(process+"/status", []byte(status), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkConfinement(process); (err == nil) != c.ok {
			t.Errorf("%+v, this one %+v: %v", c.theirs, own, err)
		}
	}
}
