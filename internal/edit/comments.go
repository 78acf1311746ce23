package edit

import (
	"bytes"
	"reflect"
	"strings"
)

// commentsIn returns the comments in a piece of JSON, without line ends.
func commentsIn(text string) []string {
	var out []string
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case strings.HasPrefix(text[i:], "//"):
			note, _, _ := strings.Cut(text[i:], "\n")
			out = append(out, strings.TrimRight(note, "\r"))
			i += len(note)
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return append(out, text[i:])
			}
			out = append(out, text[i:i+end+4])
			i += end + 3
		}
	}
	return out
}

// Commented reports whether there is a comment in JSON.
func Commented(src []byte) bool { return len(commentsIn(string(src))) > 0 }

// leaveComments puts the comments of item i in its place, a line for each.
func (k *cutter) leaveComments(c container, i int, notes []string, nl string) {
	it := c.items[i]
	behind := it.end
	if it.comma >= 0 {
		k.addSplice(it.comma, it.comma+1, "")
		if blank(k.text(it.end, it.comma)) {
			behind = it.comma + 1
		}
	} else if i > 0 {
		prev := c.items[i-1]
		k.addSplice(prev.comma, prev.comma+1, "")
	}
	indent := k.indentAt(it.start)
	text := strings.Join(notes, nl+indent)
	if last := notes[len(notes)-1]; strings.HasPrefix(last, "//") && firstLineBlank(k.text(behind, len(k.body))) == 0 {
		text += nl + indent
	}
	k.addSplice(it.start, it.end, text)
}

// keepComments puts comment lines that were removed with what was cut out of YAML or TOML back where
// they were: as in JSON, what a program put in had none.
func keepComments(f Format, before, after []byte) []byte {
	left := map[string]int{}
	for line := range bytes.Lines(after) {
		left[string(bytes.TrimSpace(line))]++
	}
	var lost []byte
	for line := range bytes.Lines(before) {
		text := string(bytes.TrimSpace(line))
		if !strings.HasPrefix(text, "#") {
			continue
		}
		if left[text]--; left[text] < 0 {
			lost = append(lost, line...)
		}
	}
	if len(lost) == 0 {
		return after
	}
	if !bytes.HasSuffix(lost, []byte("\n")) {
		lost = append(lost, '\n')
	}
	at := 0
	for at < min(len(after), len(before)) && after[at] == before[at] {
		at++
	}
	at = bytes.LastIndexByte(after[:at], '\n') + 1
	out := bytes.Join([][]byte{after[:at], lost, after[at:]}, nil)
	was, err := f.Parse(after)
	is, err2 := f.Parse(out)
	if err != nil || err2 != nil || !reflect.DeepEqual(was.Raw(), is.Raw()) {
		return after // it would mean something there
	}
	return out
}
