package bundle

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// SourceMap maps positions in the text that the engine runs to the file that the author
// wrote.
type SourceMap struct {
	sources []string
	lines   [][]mapping // by generated line
}

type mapping struct {
	column       int // generated, from 0
	source       int
	line, origin int // original line and column, from 0
}

// ReadMap reads a source map of version 3 whose sources are relative to dir. A map that
// can't be read is an empty one: errors then show generated lines.
//
// Libraries for this look up a position in the nearest line that has one. Here a line
// without a position is the bundler's own, and must not be taken for the author's.
func ReadMap(text []byte, dir string) *SourceMap {
	var file struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	m := &SourceMap{}
	if json.Unmarshal(text, &file) != nil {
		return m
	}
	for _, source := range file.Sources {
		if !filepath.IsAbs(source) {
			source = filepath.Join(dir, filepath.FromSlash(source))
		}
		m.sources = append(m.sources, source)
	}
	var at mapping
	for line := range strings.SplitSeq(file.Mappings, ";") {
		at.column = 0
		var marks []mapping
		for segment := range strings.SplitSeq(line, ",") {
			n := readNumbers(segment)
			if len(n) == 0 {
				continue
			}
			at.column += n[0]
			if len(n) >= 4 {
				at.source += n[1]
				at.line += n[2]
				at.origin += n[3]
				marks = append(marks, at)
			}
		}
		m.lines = append(m.lines, marks)
	}
	return m
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// InlineMap returns the comment that passes the bundle's source map to a debugger, with the
// absolute paths of its sources. It is empty if there is no map.
func (b *Bundle) InlineMap(dir string) string {
	var m map[string]any
	if json.Unmarshal([]byte(b.Map), &m) != nil {
		return ""
	}
	sources, _ := m["sources"].([]any)
	for i, source := range sources {
		if path, ok := source.(string); ok {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			sources[i] = "file://" + path
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return "//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString(text)
}

// readNumbers reads one segment's variable-length quantities.
func readNumbers(segment string) []int {
	var out []int
	value, shift := 0, 0
	for i := range len(segment) {
		digit := strings.IndexByte(base64Digits, segment[i])
		if digit < 0 || shift > 30 {
			return nil
		}
		value |= digit & 31 << shift
		if digit&32 != 0 {
			shift += 5
			continue
		}
		if value&1 != 0 {
			out = append(out, -(value >> 1))
		} else {
			out = append(out, value>>1)
		}
		value, shift = 0, 0
	}
	return out
}

// originOf finds the original place of a generated line and column, both from 1.
func (m *SourceMap) originOf(line, column int) (file string, l, c int, ok bool) {
	if line < 1 || line > len(m.lines) {
		return "", 0, 0, false
	}
	marks := m.lines[line-1]
	if len(marks) == 0 {
		return "", 0, 0, false
	}
	i := sort.Search(len(marks), func(i int) bool { return marks[i].column > column-1 }) - 1
	at := marks[max(i, 0)]
	if at.source < 0 || at.source >= len(m.sources) {
		return "", 0, 0, false
	}
	return m.sources[at.source], at.line + 1, at.origin + 1, true
}

var framePlace = lazyregexp.New(`^(.*?)\(?((?:file://)?[^\s():]+):(\d+)(?::(\d+))?\)?$`)

// RewriteStack rewrites an engine's stack to original positions. Frames of the code around
// the file are left out; where is the first position inside a file that the author wrote.
func (m *SourceMap) RewriteStack(text, name string) (rewritten, where string) {
	var out []string
	for frame := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		parts := framePlace.FindStringSubmatch(strings.TrimSpace(frame))
		if parts == nil || (parts[2] != name && !strings.HasSuffix(parts[2], "/"+name+".mjs")) {
			continue
		}
		line, _ := strconv.Atoi(parts[3])
		column, _ := strconv.Atoi(parts[4])
		place := parts[2] + ":" + parts[3]
		if file, l, c, ok := m.originOf(line, column); ok {
			if strings.HasPrefix(filepath.Base(file), "host:") {
				continue // where one of hookmux's own modules was included
			}
			place = file + ":" + strconv.Itoa(l) + ":" + strconv.Itoa(c)
		} else if len(m.lines) > 0 {
			continue // a helper that the bundler added
		}
		if where == "" {
			where = place
		}
		out = append(out, "    "+strings.TrimSpace(parts[1])+" ("+place+")")
	}
	return strings.Join(out, "\n"), where
}
