package daemonstart

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// This file checks that the process on the daemon's socket runs the installed hookmux.
//
// Contract: a daemon keeps its program from being read; then its shape in memory, which
// anyone may read, must be one that hookmux can have. That keeps interpreters and ordinary
// programs out. A program that was made to look like hookmux is believed: nothing can prove
// more. If something can't be found out, the process is accepted, except for the namespaces
// and the sandbox it is in, and an installed program that is gone.

var errNoProgram = errors.New("the hookmux that belongs beside this program is gone, so nobody on the daemon's socket " +
	"is believed; run hookmux install again")

// CheckPeer is Check for the process at the other end of a socket. If its pid isn't visible
// from here, it is in another namespace, on systems that have them.
func CheckPeer(pid int, program string) error {
	if pid <= 0 {
		return checkUnseen()
	}
	return Check("/proc/"+strconv.Itoa(pid), program)
}

// Check compares the program of a process, as the kernel shows it in a folder
// (/proc/PID), with the installed one.
func Check(process, program string) error {
	if err := checkNamespaces(process); err != nil {
		return err
	}
	if err := checkConfinement(process); err != nil {
		return err
	}
	link := process + "/exe"
	file, err := os.Readlink(link)
	if err != nil {
		return checkShape(process, program)
	}
	running, err := os.Stat(link)
	installed, errInstalled := os.Stat(program)
	if errors.Is(errInstalled, fs.ErrNotExist) {
		return errNoProgram
	}
	if err != nil || errInstalled != nil || os.SameFile(running, installed) {
		return nil
	}
	// A daemon goes on running its old file for a moment after an upgrade.
	if resolved, err := filepath.EvalSymlinks(program); err == nil &&
		strings.TrimSuffix(file, " (deleted)") == resolved {
		return nil
	}
	return errors.New("the process on the daemon's socket runs " + file + ", which is not the installed hookmux")
}
