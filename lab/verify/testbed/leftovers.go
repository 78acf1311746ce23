package testbed

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
)

// leftovers finds what still runs out of a test bed: processes whose environment
// has the test bed's home, which no other process can have. Only where /proc is
// there and shows the processes this one may signal; elsewhere none is found.
func (st *TestBed) leftovers() []int {
	self, err := os.Readlink("/proc/self")
	if err != nil || self != strconv.Itoa(os.Getpid()) {
		return nil
	}
	want := []byte("HOME=" + st.Home)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil {
			continue
		}
		for _, kv := range bytes.Split(env, []byte{0}) {
			if bytes.Equal(kv, want) {
				if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && pid != os.Getpid() {
					pids = append(pids, pid)
				}
				break
			}
		}
	}
	return pids
}

// ClearUp gives what is about to end a moment, then ends the rest and returns how many there were.
func (st *TestBed) ClearUp() int {
	pids := st.leftovers()
	for until := time.Now().Add(time.Second); len(pids) > 0 && time.Now().Before(until); pids = st.leftovers() {
		time.Sleep(50 * time.Millisecond)
	}
	count := len(pids)
	for range 20 {
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // gone is as good
			}
		}
		if pids = st.leftovers(); len(pids) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	realagents.Sweep(st.Driver.Name, st.Home)
	return count
}
