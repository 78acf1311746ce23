//go:build linux || darwin

package proc

// AtTerminal lists the running processes whose controlling terminal this is.
func AtTerminal(tty string) []int {
	var pids []int
	for _, pid := range List() {
		if p, ended, err := lookupProcess(pid); err == nil && !ended && p.TTY == tty {
			pids = append(pids, pid)
		}
	}
	return pids
}
