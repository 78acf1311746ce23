package drift

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// An event that no hook is registered for never comes. But its name is in the program, in a list
// with those of other events: new ones are looked for there.

// nameList is a list of quoted names; enumNames one name of an enumeration as
// the TypeScript compiler writes it.
var (
	nameList = lazyregexp.New(`\[\s*["'][A-Za-z][\w.:-]*["'](?:\s*,\s*["'][A-Za-z][\w.:-]*["']){2,80}\s*,?\s*\]`)
	enumName = lazyregexp.New(`\w+\[(?:\w+\.)?["']?\w+["']?\s*=\s*["']([A-Za-z][\w.:-]*)["']\]\s*=\s*["']\w+["']`)
	quoted   = lazyregexp.New(`["']([A-Za-z][\w.:-]*)["']`)
)

const (
	// neighbours is how many bytes around a known name are looked at.
	neighbours = 4 << 10
	// enough known events in a list make it one of events.
	enough = 3
	// maxProgram bounds what is read of one file.
	maxProgram = 600 << 20
)

// NamedIn finds, in the files of a program, names that are in one list with known events and are
// none of these.
func NamedIn(files, known []string) []string {
	found := map[string]bool{}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > maxProgram {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a file that cannot be read names nothing
		}
		namedInText(text, known, found)
	}
	var names []string
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func namedInText(text []byte, known []string, found map[string]bool) {
	for _, name := range known {
		from := 0
		for {
			at := bytes.Index(text[from:], []byte(name))
			if at < 0 {
				break
			}
			at += from
			from = at + len(name)
			if at == 0 || text[at-1] != '"' && text[at-1] != '\'' {
				continue
			}
			around := string(text[max(0, at-neighbours):min(len(text), at+neighbours)])
			for _, list := range nameList.FindAllStringSubmatch(around, -1) {
				addUnknown(quoted.FindAllStringSubmatch(list[0], -1), known, found)
			}
			addUnknown(enumName.FindAllStringSubmatch(around, -1), known, found)
		}
	}
}

// addUnknown adds the unknown names of a list in which enough are known and
// those that are not look like them.
func addUnknown(list [][]string, known []string, found map[string]bool) {
	var unknown []string
	seen := map[string]bool{}
	for _, match := range list {
		name := match[1]
		switch {
		case slices.Contains(known, name):
			seen[name] = true
		default:
			unknown = append(unknown, name)
		}
	}
	if len(seen) < enough || len(unknown) > len(seen) {
		return // a list of other things
	}
	for _, name := range unknown {
		if slices.ContainsFunc(known, func(k string) bool { return shapeOf(k) == shapeOf(name) }) {
			found[name] = true
		}
	}
}

// shapeOf returns how a name is written: which letter it begins with, and what is
// between its words.
func shapeOf(name string) string {
	shape := "small"
	if strings.ToLower(name[:1]) != name[:1] {
		shape = "large"
	}
	for _, sep := range []string{".", "_", "-", ":"} {
		if strings.Contains(name, sep) {
			shape += sep
		}
	}
	return shape
}

// programFiles returns the files of an agent that may name its events: the program itself, and if it is
// JavaScript the others of its package.
func programFiles(program string) []string {
	files := []string{program}
	if !isScript(program) {
		return files
	}
	_ = filepath.WalkDir(filepath.Dir(program), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read names nothing
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.Type().IsRegular() && isScript(path) && path != program:
			files = append(files, path)
		}
		return nil
	})
	return files
}

func isScript(path string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, filepath.Ext(path))
}
