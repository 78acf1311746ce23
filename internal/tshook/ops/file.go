package ops

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fsnotify/fsnotify"
)

// fileArgs are the arguments of file operations.
type fileArgs struct {
	Path, To, Target, Flag   string
	Data                     []byte
	Text                     *string // instead of Data
	Words                    bool    // the answer is wanted as text, if it is any
	Recursive, Link, Missing bool
	Dir, Force               bool
	Mode                     *uint32
	Size                     int64
	MtimeMs                  float64
}

// maxFile limits what is read into an engine at once.
const maxFile = 32 << 20

// fileOps: what each does, and the word under which the record has it.
var fileOps = map[string]struct {
	action string
	run    func(a *fileArgs) (any, error)
}{
	"read":     {"read", readFile},
	"write":    {"write", writeFile},
	"list":     {"list", listDir},
	"stat":     {"", statFile}, // looking whether something is there is not worth a record
	"realpath": {"", func(a *fileArgs) (any, error) { return filepath.EvalSymlinks(a.Path) }},
	"readlink": {"", func(a *fileArgs) (any, error) { return os.Readlink(a.Path) }},
	"mkdir": {"write", func(a *fileArgs) (any, error) {
		if !a.Recursive {
			return nil, os.Mkdir(a.Path, a.fileMode(0o777))
		}
		return nil, os.MkdirAll(a.Path, a.fileMode(0o777))
	}},
	"mkdtemp": {"write",
		func(a *fileArgs) (any, error) { return os.MkdirTemp(filepath.Dir(a.Path), filepath.Base(a.Path)+"*") }},
	"remove":   {"remove", removePath},
	"rename":   {"write", func(a *fileArgs) (any, error) { return nil, os.Rename(a.Path, a.To) }},
	"copy":     {"write", copyFile},
	"symlink":  {"write", func(a *fileArgs) (any, error) { return nil, os.Symlink(a.Target, a.Path) }},
	"chmod":    {"write", func(a *fileArgs) (any, error) { return nil, os.Chmod(a.Path, a.fileMode(0o644)) }},
	"truncate": {"write", func(a *fileArgs) (any, error) { return nil, os.Truncate(a.Path, a.Size) }},
	"utimes": {"write", func(a *fileArgs) (any, error) {
		at := time.UnixMilli(int64(a.MtimeMs))
		return nil, os.Chtimes(a.Path, at, at)
	}},
}

func (a *fileArgs) fileMode(otherwise fs.FileMode) fs.FileMode {
	if a.Mode == nil {
		return otherwise
	}
	return fs.FileMode(*a.Mode) & fs.ModePerm
}

func (o *Operations) onFile(_ string, f struct {
	action string
	run    func(a *fileArgs) (any, error)
}, args json.RawMessage, key string) (any, error) {
	var a fileArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, err
	}
	value, err := f.run(&a)
	if f.action != "" {
		detail := a.Path
		if a.To != "" {
			detail += " → " + a.To
		}
		o.owner.RecordAction(key, f.action, detail, err)
	}
	return value, err
}

func readFile(a *fileArgs) (any, error) {
	file, err := openAny(a.Path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxFile {
		return nil, &namedError{"RangeError", "ERR_FS_FILE_TOO_LARGE",
			a.Path + " is larger than a hook may read at once (32 MiB)"}
	}
	return decodeText(b, a.Words), nil
}

// decodeText returns bytes for an engine, as text if that is wanted and possible: an engine
// takes long to convert one into the other.
func decodeText(b []byte, wanted bool) any {
	if wanted && utf8.Valid(b) {
		return map[string]string{"text": string(b)}
	}
	return nonNil(b)
}

// nonNil keeps empty bytes from becoming JSON null.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func writeFile(a *fileArgs) (any, error) {
	flags := os.O_WRONLY | os.O_CREATE
	switch a.Flag {
	case "a":
		flags |= os.O_APPEND
	case "wx":
		flags |= os.O_EXCL
	case "ax":
		flags |= os.O_APPEND | os.O_EXCL
	case "r+":
		flags = os.O_RDWR
	default:
		flags |= os.O_TRUNC
	}
	file, err := openAny(a.Path, flags, a.fileMode(0o666))
	if err != nil {
		return nil, err
	}
	data := a.Data
	if a.Text != nil {
		data = []byte(*a.Text)
	}
	if _, err := file.Write(data); err != nil {
		_ = file.Close()
		return nil, err
	}
	return nil, file.Close()
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "dir"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "fifo"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

func statFile(a *fileArgs) (any, error) {
	look := os.Stat
	if a.Link {
		look = os.Lstat
	}
	st, err := look(a.Path)
	if err != nil {
		if a.Missing && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	return map[string]any{"kind": kindOf(st.Mode()), "size": st.Size(), "mode": uint32(st.Mode().Perm()),
		"mtimeMs": float64(st.ModTime().UnixNano()) / 1e6}, nil
}

type dirEntry struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Parent string `json:"parent,omitempty"`
}

// maxList limits a listing.
const maxList = 50_000

func listDir(a *fileArgs) (any, error) {
	list := []dirEntry{}
	var walk func(dir, parent string) error
	walk = func(dir, parent string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if len(list) >= maxList {
				return errors.New(a.Path + " has more entries than a hook may list at once (50000)")
			}
			list = append(list, dirEntry{e.Name(), kindOf(e.Type()), parent})
			if a.Recursive && e.IsDir() {
				if err := walk(filepath.Join(dir, e.Name()), filepath.Join(parent, e.Name())); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return list, walk(a.Path, "")
}

func removePath(a *fileArgs) (any, error) {
	st, err := os.Lstat(a.Path)
	if err != nil {
		if a.Force && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	switch {
	case a.Recursive:
		return nil, os.RemoveAll(a.Path)
	case st.IsDir() && !a.Dir:
		return nil, &namedError{"Error", "EISDIR", "EISDIR: is a directory, unlink '" + a.Path + "'"}
	}
	return nil, os.Remove(a.Path)
}

func copyFile(a *fileArgs) (any, error) {
	from, err := openAny(a.Path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	st, err := from.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &namedError{"Error", "EINVAL", "EINVAL: only files are copied, copyfile '" + a.Path + "'"}
	}
	to, err := openAny(a.To, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, st.Mode().Perm())
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close()
		return nil, err
	}
	return nil, to.Close()
}

// watchPath reports changes of a file or of the entries of a folder. The folder is
// watched, not the file: editors replace files.
func (o *Operations) watchPath(id int, args json.RawMessage, key string, data func(any), finish func(any, error)) {
	a, err := readArgs[fileArgs](args)
	var w *fsnotify.Watcher
	if err == nil {
		w, err = fsnotify.NewWatcher()
	}
	if err != nil {
		finish(nil, err)
		return
	}
	dir, only := a.Path, ""
	if st, err := os.Stat(a.Path); err != nil || !st.IsDir() {
		dir, only = filepath.Split(a.Path)
	}
	err = w.Add(dir)
	if err == nil && a.Recursive && only == "" {
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && path != dir {
				return w.Add(path)
			}
			return nil // a folder that cannot be read has no changes for us
		})
	}
	o.owner.RecordAction(key, "watch", a.Path, err)
	if err != nil {
		_ = w.Close()
		finish(nil, err)
		return
	}
	var once sync.Once
	o.keepStopper(id, func() { once.Do(func() { _ = w.Close() }) })
	go func() {
		for {
			select {
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				name, err := filepath.Rel(dir, e.Name)
				if err != nil || (only != "" && name != only) || e.Op == fsnotify.Chmod {
					continue
				}
				kind := "change"
				if e.Op.Has(fsnotify.Create) || e.Op.Has(fsnotify.Remove) || e.Op.Has(fsnotify.Rename) {
					kind = "rename"
				}
				data(map[string]any{"type": kind, "name": strings.TrimPrefix(name, "./")})
			case _, ok := <-w.Errors:
				if !ok {
					return
				}
			}
		}
	}()
}
