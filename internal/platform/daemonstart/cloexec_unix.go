//go:build unix && !linux

package daemonstart

// closeOnExec marks every descriptor from 3 up: an agent may have left its own pipes open in
// this process, and a daemon that inherited them would keep it waiting.
func closeOnExec() { markRange(1024) }
