package tmux

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// ownName is the file hookmux writes whole; the user's tmux.conf gets one line
// that reads it, and a word about that line.
const ownName = "tmux.conf"

// OwnConf returns the path of that file in hookmux's data folder.
func OwnConf(data string) string { return filepath.Join(data, ownName) }

// ConfPaths returns the files tmux reads of a user, in its order.
func ConfPaths(home string, getenv func(string) string) []string {
	paths := []string{filepath.Join(home, ".tmux.conf")}
	if xdg := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		paths = append(paths, filepath.Join(xdg, "tmux", "tmux.conf"))
	}
	if other := filepath.Join(home, ".config", "tmux", "tmux.conf"); other != paths[len(paths)-1] {
		paths = append(paths, other)
	}
	return paths
}

// ConfPath returns the one of them to write to: the last that is there, because its
// settings come last; else the one whose folder is there; else ~/.tmux.conf.
func ConfPath(home string, getenv func(string) string) string {
	paths := ConfPaths(home, getenv)
	for i := len(paths) - 1; i >= 0; i-- {
		if _, err := os.Stat(paths[i]); err == nil {
			return paths[i]
		}
	}
	for _, p := range paths[1:] {
		if info, err := os.Stat(filepath.Dir(p)); err == nil && info.IsDir() {
			return p
		}
	}
	return paths[0]
}

// The word about the line says what is needed to restore the same bytes.
const (
	wordStart  = "# hookmux: `hookmux tmux uninstall` takes this and the next line out"
	wordNew    = " (the file was new)"
	wordNoEnd  = " (the line before had no end)"
	sourceWord = "source-file -q "
)

// AddLine adds the line that reads our own file at the end of a tmux.conf; nil means that there is
// no such file. A line of ours that is there already is updated in place.
func AddLine(text []byte, own string) []byte {
	line := sourceWord + quotePath(own) + "\n"
	if start, end, ok := findLine(text); ok {
		return bytes.Join([][]byte{text[:start], []byte(line), text[end:]}, nil)
	}
	word := wordStart
	switch {
	case text == nil:
		word += wordNew
	case len(text) > 0 && text[len(text)-1] != '\n':
		word += wordNoEnd
		text = append(bytes.Clone(text), '\n')
	}
	return append(bytes.Clone(text), word+"\n"+line...)
}

// DropLine removes what AddLine added. gone says that the file was created for it and holds nothing
// else; found is false if there is nothing of ours.
func DropLine(text []byte) (rest []byte, gone, found bool) {
	start, end, ok := findLine(text)
	if !ok {
		return text, false, false
	}
	word := ""
	if start > 0 {
		before := bytes.LastIndexByte(text[:start-1], '\n') + 1
		if bytes.HasPrefix(text[before:start], []byte(wordStart)) {
			word = strings.TrimRight(string(text[before+len(wordStart):start]), "\r\n")
			start = before
		}
	}
	if word == wordNoEnd && end == len(text) && start > 0 {
		start-- // the end we gave to the line before
	}
	rest = append(bytes.Clone(text[:start]), text[end:]...)
	return rest, word == wordNew && len(rest) == 0, true
}

// HasLine reports whether a tmux.conf reads our own file.
func HasLine(text []byte) bool {
	_, _, ok := findLine(text)
	return ok
}

// findLine finds the line that reads our file, also one of another machine's
// home: by what it reads.
func findLine(text []byte) (start, end int, ok bool) {
	for start < len(text) {
		end = len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		line := strings.TrimRight(string(text[start:end]), "\r\n")
		if path, ours := strings.CutPrefix(line, sourceWord); ours &&
			strings.HasSuffix(strings.Trim(path, `'"`), "/hookmux/"+ownName) {
			return start, end, true
		}
		start = end
	}
	return 0, 0, false
}

// quotePath writes a path so that tmux reads it as it is; source-file takes
// patterns.
func quotePath(path string) string {
	path = regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(path, `\$0`)
	return quoteWord(path)
}

// quoteWord returns one word of tmux's language.
func quoteWord(s string) string {
	if !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(s) + `"`
}

// Keys are the keys after the prefix; "" for none.
type Keys struct{ Jump, Popup string }

// DefaultKeys are free in tmux as it comes.
var DefaultKeys = Keys{Jump: "N", Popup: "A"}

// ValidKey keeps a key from being anything else in tmux's language.
func ValidKey(key string) bool {
	return regexp.MustCompile(`^((C|M|S)-)*([A-Za-z0-9]|F[0-9]{1,2}|Space|Tab|BTab|Enter|Up|Down|Left|Right|Home|End|PPage|NPage)$`).MatchString(key)
}

// iconPart is added to the end of window formats: nothing while no agent is in
// the window.
const iconPart = "#{?@hookmux_icon, #{@hookmux_icon},}"

var iconFormats = []string{"window-status-format", "window-status-current-format"}

// Conf is our own file. program is hookmux, major and minor the version of tmux.
func Conf(program string, keys Keys, major, minor int) []byte {
	var b strings.Builder
	b.WriteString("# Generated by `hookmux tmux install`; put your own settings in ~/.tmux.conf.\n")
	b.WriteString("\n# Agent icon after the window name.\n")
	for _, option := range iconFormats {
		// Only once, however often the file is read.
		b.WriteString("if-shell -F '#{m:*@hookmux_icon*,#{" + option + "}}' '' {\n  set-option -ga " + option + " '" +
			iconPart + "'\n}\n")
	}
	newer := func(a, b int) bool { return major == 0 || major > a || major == a && minor >= b }
	if !newer(3, 0) {
		b.Reset() // blocks in braces came with 3.0
		b.WriteString("# tmux is older than 3.0: icons are left out.\n")
	}
	bind := func(key, note, command string) {
		b.WriteString("bind-key ")
		if newer(3, 1) {
			b.WriteString("-N " + quoteWord(note) + " ")
		}
		b.WriteString(key + " " + command + "\n")
	}
	sh := shellquote.Single(program)
	b.WriteString("\n# Keys behind the prefix.\n")
	if keys.Jump != "" { // run-shell expands what it runs; popups and windows do not
		bind(keys.Jump, "go to the agent that has waited the longest", "run-shell -b "+quoteWord(
			"TMUX_PANE=#{pane_id} "+strings.ReplaceAll(sh, "#", "##")+" jump --next >/dev/null 2>&1 || tmux "+
				"display-message \"hookmux: no agent in tmux is waiting\""))
	}
	if keys.Popup != "" {
		if newer(3, 2) {
			bind(keys.Popup, "show all agents", "display-popup -E -w 90% -h 80% "+quoteWord(sh+" up"))
		} else {
			bind(keys.Popup, "show all agents", "new-window -n agents "+quoteWord(sh+" up"))
		}
	}
	return []byte(b.String())
}

// Bound lists the keys of Keys that a tmux.conf binds itself.
func Bound(text []byte, keys Keys) []string {
	var out []string
	for _, key := range []string{keys.Jump, keys.Popup} {
		if key == "" {
			continue
		}
		// bind-key, flags with or without a value, the key.
		line := regexp.MustCompile(`(?m)^\s*bind(-key)?\s+((-[nr]+|-N\s+("[^"]*"|'[^']*'|\S+)|-T\s*prefix)\s+)*["']?` +
			regexp.QuoteMeta(key) + `["']?\s`)
		if found := line.Find(text); found != nil && !regexp.MustCompile(`\s-n`).Match(found) {
			out = append(out, key)
		}
	}
	return out
}
