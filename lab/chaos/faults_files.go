//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// misfits are the things that can be where a file should be.
var misfits = []struct {
	name string
	put  func(path string) error
}{
	{"nothing", func(string) error { return nil }},
	{"an empty file", func(path string) error { return os.WriteFile(path, nil, 0o600) }},
	{"rubbish", func(path string) error {
		return os.WriteFile(path, []byte(strings.Repeat("\x00\xffrubbish{[\n", 500)), 0o600)
	}},
	{"a link to nothing", func(path string) error { return os.Symlink(path+".none", path) }},
	{"a link to a device", func(path string) error { return os.Symlink("/dev/zero", path) }},
	{"a pipe", func(path string) error { return unix.Mkfifo(path, 0o600) }},
	{"a folder", func(path string) error { return os.MkdirAll(filepath.Join(path, "inner"), 0o700) }},
	{"a folder that cannot be written", func(path string) error { return os.Mkdir(path, 0o500) }},
}

// stateFiles are the files a daemon keeps, other than records and journal.
var stateFiles = []string{
	"guarded", "consent.key", "accepted.json", "accepted", "permissions.json", "pin.json", "pin-tries.json", "trusted-terminals.json",
	"off.json", "sessions.log", "sessions.json", "decisions.log", "marks", "trust.json", "aside", "inbox.log",
}

// replaceWith replaces a file by something else.
func (w *world) replaceWith(path string) error {
	m := misfits[w.random.IntN(len(misfits))]
	w.describeFault(filepath.Base(path) + " is " + m.name)
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := m.put(path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// swapStateFile replaces a state file by something else.
func swapStateFile(w *world) error {
	entries, err := os.ReadDir(w.Dirs.State)
	if err != nil {
		return err
	}
	names := append([]string(nil), stateFiles...)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "journal") && name != "intake" && name != "spool" && name != "installation" {
			names = append(names, name)
		}
	}
	if w.ownMounts {
		// It seals the installation, without which the default places count: those are
		// not this world's.
		names = slices.DeleteFunc(names, func(name string) bool { return name == "consent.key" })
	}
	return w.replaceWith(w.stateFile(names[w.random.IntN(len(names))]))
}

func swapStateFileAndKill(w *world) error {
	err := swapStateFile(w)
	w.signalDaemon(syscall.SIGKILL)
	return err
}

// runtimeFiles are kept in the runtime folder by a daemon and its starters.
var runtimeFiles = []string{"daemon.lock", "start.lock", "daemon.alive", "deaths", "daemon.log", "daemon.sock", "attempt"}

func swapRuntimeFile(w *world) error {
	return w.replaceWith(filepath.Join(w.Dirs.Runtime, runtimeFiles[w.random.IntN(len(runtimeFiles))]))
}

func swapRuntimeFileAndKill(w *world) error {
	w.signalDaemon(syscall.SIGKILL)
	return swapRuntimeFile(w)
}

// scatterRecords puts files that aren't records next to the records, where the next daemon looks for
// them.
func scatterRecords(w *world) error {
	for _, path := range []string{
		filepath.Join(w.Dirs.Intake(), "intake-1.log"), filepath.Join(w.Dirs.Intake(), "intake-999999.log"),
		filepath.Join(w.Dirs.Spool(), "litter.10.rec"), filepath.Join(w.Dirs.Spool(), "litter-2.10.rec"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			continue // a file of the daemon's own
		}
		if err := misfits[w.random.IntN(len(misfits))].put(path); err != nil {
			return err
		}
	}
	w.signalDaemon(syscall.SIGKILL)
	return nil
}

// weakSettings would switch guards off.
const weakSettings = `{"guard.destructive": "off", "guard.secrets": "off", "guard.own-files": "off"}`

func damageSettings(w *world) error        { return w.changeSettings(false) }
func damageSettingsAndKill(w *world) error { return w.changeSettings(true) }

// changeSettings changes the user's settings by no command of hookmux, and
// puts them back.
func (w *world) changeSettings(kill bool) error {
	file := w.configFile()
	var err error
	switch w.random.IntN(3) {
	case 0:
		w.describeFault("config.json switches guards off")
		err = os.WriteFile(file, []byte(weakSettings), 0o600)
	case 1:
		w.describeFault("the settings' folder is renamed")
		if err = os.RemoveAll(filepath.Dir(file) + "-was"); err == nil {
			err = os.Rename(filepath.Dir(file), filepath.Dir(file)+"-was")
		}
	default:
		err = w.replaceWith(file)
	}
	if err != nil {
		return err
	}
	if kill {
		w.signalDaemon(syscall.SIGKILL)
	}
	w.waitCalm()
	if err := os.RemoveAll(file); err != nil {
		return err
	}
	return w.WriteFiles(map[string]string{file: settings})
}
