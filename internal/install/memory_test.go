package install

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
)

// memory is a disk in a table: for tests that try many documents.
type memory struct {
	text  map[string][]byte
	links map[string]string
	dirs  map[string]bool
}

func newMemory(dirs ...string) *memory {
	m := &memory{map[string][]byte{}, map[string]string{}, map[string]bool{"/": true}}
	for _, dir := range dirs {
		m.mkdir(dir)
	}
	return m
}

func (m *memory) mkdir(dir string) {
	for ; !m.dirs[dir]; dir = filepath.Dir(dir) {
		m.dirs[dir] = true
	}
}

func (m *memory) read(path string) ([]byte, error) { return m.text[path], nil }
func (m *memory) exists(path string) bool {
	_, link := m.links[path]
	return m.text[path] != nil || link || m.dirs[path]
}
func (m *memory) isFile(path string) bool             { return m.text[path] != nil }
func (m *memory) runnable(path string) bool           { _, ok := m.links[path]; return ok }
func (m *memory) readlink(path string) (string, bool) { to, ok := m.links[path]; return to, ok }
func (m *memory) realPath(path string) string         { return path }
func (m *memory) glob(string) []string                { return nil }
func (m *memory) writable([]Step) error               { return nil }

var errOther = errors.New("the file is not what was planned for")

// Do carries a step out, with the same check as the disk: only what was
// planned for is replaced.
func (m *memory) Do(s Step) error {
	switch s.Op {
	case OpWrite, OpManifest, OpTrust, OpDelete:
		if is := m.text[s.Path]; (is == nil) != (s.Old == nil) || !bytes.Equal(is, s.Old) {
			return errOther
		}
		if s.New == nil {
			delete(m.text, s.Path)
			return nil
		}
		m.mkdir(filepath.Dir(s.Path))
		m.text[s.Path] = s.New
	case OpMakeDir:
		m.mkdir(s.Path)
	case OpDropDir:
		for path := range m.text {
			if strings.HasPrefix(path, s.Path+"/") {
				return nil
			}
		}
		delete(m.dirs, s.Path)
	case OpLink:
		m.mkdir(filepath.Dir(s.Path))
		m.links[s.Path] = string(s.New)
	case OpDropLink:
		delete(m.links, s.Path)
	}
	return nil
}
