package proc

import (
	"bytes"
	"errors"
	"strconv"
)

// Pause says how often a process waited for something, and whether it does now.
type Pause struct {
	Count  uint64
	Sleeps bool
}

// Pauses returns how often a process waited, whichever user it belongs to.
func Pauses(pid int) (Pause, error) {
	var buf [4096]byte
	n, err := readOnce("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	if err != nil {
		return Pause{}, err
	}
	return parsePauses(buf[:n])
}

var errNoPauses = errors.New("the kernel doesn't say how often a process waited")

func parsePauses(status []byte) (p Pause, err error) {
	_, state, ok := bytes.Cut(status, []byte("\nState:\t"))
	_, count, ok2 := bytes.Cut(status, []byte("\nvoluntary_ctxt_switches:\t"))
	if !ok || !ok2 || len(state) == 0 {
		return p, errNoPauses
	}
	count, _, _ = bytes.Cut(count, []byte("\n"))
	p.Count, err = strconv.ParseUint(string(count), 10, 64)
	p.Sleeps = state[0] == 'S'
	return p, err
}
