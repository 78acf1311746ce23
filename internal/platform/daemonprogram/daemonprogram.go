// Package daemonprogram tells whether the process on the daemon's socket runs the
// installed hookmux.
//
// Contract: a daemon keeps its program from being read; then its shape in memory, which
// everybody may read, must be one that hookmux can have. That keeps interpreters and
// ordinary programs out. A program that was made to look like hookmux is believed:
// nothing proves more. What cannot be found out refuses nobody.
package daemonprogram

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Check compares the program of a process, as the kernel shows it in a folder
// (/proc/PID), with the installed one.
func Check(process, program string) error {
	link := process + "/exe"
	file, err := os.Readlink(link)
	if err != nil {
		return checkShape(process, program)
	}
	running, err := os.Stat(link)
	installed, errInstalled := os.Stat(program)
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
