package paths

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// A login shell may set XDG_STATE_HOME and similar variables; a hook that an agent runs with
// an emptied environment doesn't see them. When such a hook starts the daemon, the daemon
// must not come up with other settings and another journal. So a daemon notes where it found
// things, in the runtime dir and in the home directory, and Find reads that note if the
// environment is silent.

// note is the name of the file in both places.
const note = "places"

// Remember writes the note, or removes an old one if everything is where it is by default. A
// daemon calls it when it starts. Dirs found in an emptied environment change nothing: they
// know no better than the note.
func (d Dirs) Remember() error {
	if d.stripped {
		return nil
	}
	files := []string{filepath.Join(d.Runtime, note)}
	if !d.chosen && d.Home != "" {
		files = append(files, homeNote(d.Home))
	}
	var errs []error
	for _, file := range files {
		if d.byDefault() {
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
			continue
		}
		if err := writeNote(file, d); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d Dirs) byDefault() bool {
	none := func(string) string { return "" }
	return d.State == underXDG(none, "", d.Home, ".local/state") &&
		d.Config == underXDG(none, "", d.Home, ".config") &&
		d.Data == underXDG(none, "", d.Home, ".local/share")
}

func homeNote(home string) string { return filepath.Join(home, ".local/state/hookmux", note) }

func writeNote(file string, d Dirs) error {
	for _, dir := range []string{d.State, d.Config, d.Data} {
		if strings.ContainsAny(dir, "\n\x00") {
			return errors.New(file + ": a directory name with a line break can't be noted; choose another")
		}
	}
	return replaceFile(file, "state="+d.State+"\nconfig="+d.Config+"\ndata="+d.Data+"\n")
}

// replaceFile writes a file as a whole: a hook may be reading it right now.
func replaceFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return files.Write(file, []byte(text))
}

// Remembered returns the State, Config and Data of the last daemon that knew better; either
// argument may be empty. The note of the runtime dir is preferred. A note that others could
// have written, or whose state directory is gone, is ignored.
func Remembered(home, runtime string) (Dirs, bool) {
	var files []string
	if runtime != "" {
		files = append(files, filepath.Join(runtime, note))
	}
	if home != "" {
		files = append(files, homeNote(home))
	}
	for _, file := range files {
		if d, ok := readNote(file); ok {
			return d, true
		}
	}
	return Dirs{}, false
}

func readNote(file string) (d Dirs, ok bool) {
	info, err := os.Lstat(file)
	if err != nil || !isOwnFile(info) || info.Mode().Perm()&0o022 != 0 {
		return Dirs{}, false
	}
	text, err := files.Read(file, 64<<10)
	if err != nil {
		return Dirs{}, false
	}
	for line := range strings.Lines(string(text)) {
		key, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !filepath.IsAbs(dir) {
			continue
		}
		switch key {
		case "state":
			d.State = dir
		case "config":
			d.Config = dir
		case "data":
			d.Data = dir
		}
	}
	if d.State == "" || d.Config == "" || d.Data == "" {
		return Dirs{}, false
	}
	if info, err := os.Stat(d.State); err != nil || !info.IsDir() {
		return Dirs{}, false
	}
	return d, true
}
