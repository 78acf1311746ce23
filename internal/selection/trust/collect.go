package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// What one project may hold. More is refused, not cut: a hash of half the
// files would be a promise about the other half.
const (
	maxFiles    = 400
	maxFileSize = 8 << 20
	maxTotal    = 32 << 20
	maxFolders  = 8 // levels below .hookmux
)

const (
	dirName   = ".hookmux"
	hooksFile = dirName + "/hooks.json"
)

// File is one covered file.
type File struct {
	Path string `json:"path"` // from the project's root
	Sum  string `json:"sum"`
	Exec bool   `json:"exec,omitempty"`
	Size int64  `json:"size"`
}

// content is a project's covered files at one moment. Everything is read once: what is
// hashed is what is copied.
type content struct {
	root  string
	files []File // by path
	bytes map[string][]byte
	hooks []hook.Registration
	seen  []stamp // everything looked at, to notice changes cheaply
	total int64
	at    time.Time
}

type stamp struct {
	path string
	info fs.FileInfo // nil: was not there
}

// override puts other bytes in the place of one file; used to see what the
// project was before an edit.
type override struct {
	path string
	data []byte // nil: no such file
}

func (s *Store) collectContent(root string, instead *override) (*content, error) {
	c := &content{root: root, bytes: map[string][]byte{}, at: time.Now()}
	c.lookAt(root)
	if err := c.addFolder(dirName, 0, instead); err != nil {
		return c, err
	}
	if instead != nil && instead.data != nil {
		if _, there := c.bytes[instead.path]; !there {
			c.addContent(instead.path, instead.data, false)
		}
	}
	if data, ok := c.bytes[hooksFile]; ok {
		hooks, err := s.parse(data)
		if err != nil {
			return c, fmt.Errorf("%s: %w", filepath.Join(root, hooksFile), err)
		}
		c.hooks = hooks
		for _, reg := range hooks {
			for _, rel := range mentionedPaths(root, reg) {
				if err := c.addNamed(rel); err != nil {
					return c, err
				}
			}
		}
	}
	slices.SortFunc(c.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return c, nil
}

// mentionedPaths returns the paths within the project that a registration names.
func mentionedPaths(root string, reg hook.Registration) []string {
	var list []string
	visitWords(reg, func(w word) (string, bool) {
		if _, rel, ok := inProject(root, w, reg.Handler != "command"); ok && !slices.Contains(list, rel) {
			list = append(list, rel)
		}
		return "", false
	})
	return list
}

// lookAt remembers what is at a path now.
func (c *content) lookAt(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	c.seen = append(c.seen, stamp{path, info})
	return info
}

// isUnchanged reports whether everything that was read is still the same. A timestamp too
// recent to tell two changes apart means changed.
func (c *content) isUnchanged() bool {
	for _, s := range c.seen {
		info, err := os.Stat(s.path)
		if err != nil {
			info = nil
		}
		if (info == nil) != (s.info == nil) {
			return false
		}
		if info == nil {
			continue
		}
		if !userfile.SameStamp(info, s.info) || c.at.Sub(info.ModTime()).Abs() < 50*time.Millisecond {
			return false
		}
	}
	return true
}

// addFolder adds every file of a folder.
func (c *content) addFolder(rel string, depth int, instead *override) error {
	path := filepath.Join(c.root, rel)
	if c.lookAt(path) == nil {
		return nil
	}
	if depth > maxFolders {
		return fmt.Errorf("%s: folders nested too deep; move it out of %s", path, dirName)
	}
	if err := c.refuseOutside(path); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		below := rel + "/" + e.Name()
		if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") {
			continue // a write on its way; never part of the copy, so never run
		}
		if instead != nil && below == instead.path {
			if instead.data != nil {
				c.addContent(below, instead.data, false)
			}
			continue
		}
		if e.IsDir() {
			err = c.addFolder(below, depth+1, instead)
		} else {
			err = c.addFile(below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addNamed adds a file that a registration mentions, when it is there.
func (c *content) addNamed(rel string) error {
	if _, done := c.bytes[rel]; done {
		return nil
	}
	info := c.lookAt(filepath.Join(c.root, rel))
	if info == nil || !info.Mode().IsRegular() {
		return nil
	}
	return c.addFile(rel)
}

func (c *content) addFile(rel string) error {
	path := filepath.Join(c.root, rel)
	if err := c.refuseOutside(path); err != nil {
		return err
	}
	info := c.lookAt(path)
	if info == nil {
		return fmt.Errorf("%s: leads nowhere; remove it", path)
	}
	data, err := userfile.ReadFile(path, maxFileSize)
	if err != nil {
		return err
	}
	if c.total += int64(len(data)); c.total > maxTotal || len(c.files) >= maxFiles {
		return fmt.Errorf("%s: more than %d files or %d MiB to trust; name fewer files, move the rest out of %s", path,
			maxFiles, maxTotal>>20, dirName)
	}
	// JSON is read, never run: its mode says nothing.
	c.addContent(rel, data, info.Mode()&0o111 != 0 && !strings.HasSuffix(rel, ".json"))
	return nil
}

func (c *content) addContent(rel string, data []byte, exec bool) {
	sum := sha256.Sum256(data)
	c.bytes[rel] = data
	c.files = append(c.files, File{rel, hex.EncodeToString(sum[:]), exec, int64(len(data))})
}

// refuseOutside refuses a path whose symlinks leave the project: what is behind them
// changes without the project changing.
func (c *content) refuseOutside(path string) error {
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: leads nowhere; remove it", path)
	}
	if err != nil {
		return err
	}
	if _, ok := relativeTo(c.root, resolved); !ok {
		return fmt.Errorf("%s: a symlink out of the project; put the file itself there", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if to, err := os.Stat(path); err == nil && to.IsDir() {
			return fmt.Errorf("%s: a symlink to a folder; put the folder itself there", path)
		}
	}
	return nil
}

// contentHash returns the one name of all covered files.
func (c *content) contentHash() string {
	h := sha256.New()
	for _, f := range c.files {
		mode := "-"
		if f.Exec {
			mode = "x"
		}
		fmt.Fprintf(h, "%s %s %d:%s\n", f.Sum, mode, len(f.Path), f.Path)
	}
	return hex.EncodeToString(h.Sum(nil))
}
