package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// InputPaths are paths found in the raw input of an unknown tool (an MCP server's, or one an
// agent has just invented), and of search tools, which name where they look in several
// members.
type InputPaths struct {
	Reads  []string
	Writes []string
	// Unreadable says why the input could not be read, "" if it could.
	Unreadable string
}

// Limits, far above what agents send.
const (
	maxInput    = 32 << 20 // bytes of input that are read
	maxPaths    = 4096
	maxCommands = 256
	maxPath     = 4096 // bytes of a path
)

// ReadInput reads paths and commands from the raw input if the agent's dialect could name
// none. Other tools come with their paths and are left alone.
func ReadInput(call *Call) InputPaths {
	var out InputPaths
	named := len(call.Reads)+len(call.Writes)+len(call.Commands) > 0
	switch call.ToolKind {
	case "search":
	case "mcp", "other", "":
		if named {
			readCommands(call)
			if !toolWrites(call.ToolName) { // it isn't known what it does with the paths it names
				out.Reads = slices.Clone(call.Writes)
			}
			r := inputReader{call: call, out: &out, writes: toolWrites(call.ToolName)}
			r.addPieces()
			return out
		}
	case "shell":
		if len(call.Commands) == 0 { // a member without a description
			readCommands(call)
		} else {
			addListed(call)
		}
		return out
	case "file_read", "file_write", "file_edit":
		if named {
			return out
		}
	default:
		return out
	}
	if len(call.Input) == 0 {
		return out
	}
	if len(call.Input) > maxInput {
		out.Unreadable = fmt.Sprintf("its input is longer than %d MiB", maxInput>>20)
		return out
	}
	r := inputReader{call: call, out: &out, writes: toolWrites(call.ToolName) ||
		call.ToolKind == "file_write" || call.ToolKind == "file_edit", globs: matchesNames(call.ToolName),
		types: typesText(call.ToolName)}
	if err := walkJSON(call.Input, throughTexts(r.takeText)); err != nil {
		out.Unreadable = "its input is not valid JSON: " + err.Error()
	}
	switch call.ToolKind {
	case "search":
	case "file_read", "file_write", "file_edit":
		out.Unreadable = "" // the decoder reports that for a call
		r.addPieces()
	default:
		addListed(call)
		r.addPieces()
	}
	return out
}

// readCommands reads commands alone: those in members without a description, in addition to
// what the dialect named.
func readCommands(call *Call) {
	if len(call.Input) == 0 || len(call.Input) > maxInput {
		return
	}
	known := len(call.Commands)
	r := inputReader{call: call, out: &InputPaths{}, types: typesText(call.ToolName)}
	take := func(key, value string) bool {
		if !isCommandKey(key) && key != "code" && !(r.types && isTypedKey(key)) {
			return true
		}
		return slices.Contains(call.Commands[:known], value) || r.takeText(key, value)
	}
	// It is for the decoder to complain about input that isn't JSON.
	_ = walkJSON(call.Input, throughTexts(take))
	addListed(call)
}

// addListed adds commands that an input has as lists of words: whole, or the program and,
// next to it, a list of its arguments.
func addListed(call *Call) {
	if bytes.IndexByte(call.Input, '[') < 0 || len(call.Input) > maxInput {
		return
	}
	var input any
	if json.Unmarshal(call.Input, &input) != nil {
		return
	}
	for open := []any{input}; len(open) > 0 && len(call.Commands) < maxCommands; {
		value := open[len(open)-1]
		open = open[:len(open)-1]
		switch v := value.(type) {
		case []any:
			open = append(open, v...)
		case map[string]any:
			arguments := listedArguments(v)
			for key, member := range v {
				open = append(open, member)
				words := wordList(member)
				if typed := isTypedKey(strings.ToLower(key)) && typesText(call.ToolName); typed && len(words) > 0 {
					call.Commands = append(slices.Clip(call.Commands), typedLines(joinKeys(words, "")),
						typedLines(joinKeys(words, " ")))
				}
				if !isCommandKey(strings.ToLower(key)) {
					continue
				}
				if program, isText := member.(string); isText && len(arguments) > 0 {
					words = append([]string{program}, arguments...)
				}
				if len(words) > 1 {
					call.Commands = append(slices.Clip(call.Commands), shellquote.Arguments(words))
				}
			}
		}
	}
}

// joinKeys joins keys that are typed one after another.
func joinKeys(keys []string, between string) string {
	var b strings.Builder
	for _, key := range keys {
		switch strings.ToLower(key) {
		case "enter", "return", "c-m", "c-j", "kpenter":
			b.WriteByte('\n')
		case "space":
			b.WriteByte(' ')
		default:
			b.WriteString(key + between)
		}
	}
	return b.String()
}

// listedArguments returns the arguments next to a program's name.
func listedArguments(members map[string]any) []string {
	for key, member := range members {
		switch strings.ToLower(key) {
		case "args", "arguments", "argv", "parameters", "params", "arg", "options":
			if words := wordList(member); len(words) > 0 {
				return words
			}
		}
	}
	return nil
}

// wordList returns the texts of a list; numbers are returned as they are spelled.
func wordList(value any) (words []string) {
	list, _ := value.([]any)
	for _, one := range list {
		switch word := one.(type) {
		case string:
			words = append(words, word)
		case float64, bool:
			words = append(words, fmt.Sprint(word))
		}
	}
	return words
}

// throughTexts wraps visit so that it also goes through texts that are objects or lists
// themselves, one level deep: some tools take their arguments as a text.
func throughTexts(visit func(key, value string) bool) func(key, value string) bool {
	return func(key, value string) bool {
		if text := strings.TrimSpace(value); len(text) > 1 && (text[0] == '{' || text[0] == '[') &&
			json.Valid([]byte(text)) {
			_ = walkTokens([]byte(text), visit) // it is valid
		}
		return visit(key, value)
	}
}

// isCommandKey reports whether a member of this name contains a command.
func isCommandKey(key string) bool {
	switch strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", "") {
	case "command", "cmd", "script", "commands", "cmds", "commandline", "cmdline", "shellcommand", "bash",
		"bashcommand", "terminalcommand", "program", "executable", "binary", "run", "exec", "execute", "argv":
		return true
	}
	return false
}

// typesText guesses from its name whether a tool types into a terminal: what it types is
// run there.
func typesText(tool string) bool {
	return nameHas(tool, "send_text", "sendtext", "send-text", "send_keys", "sendkeys", "send-keys", "send_key", "send_input",
		"sendinput", "send-input", "stdin", "type_text", "typetext", "terminal", "tmux", "pty", "keystroke", "write_process", "shell", "console", "__type",
		"write-process", "run_in_", "paste", "interact", "to_process", "process_input")
}

// isTypedKey reports whether a member of this name contains text that is typed.
func isTypedKey(key string) bool {
	switch strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", "") {
	case "text", "keys", "chars", "characters", "input", "inputtext", "data", "content", "string", "value", "line", "lines",
		"keystrokes", "message":
		return true
	}
	return false
}

// typedLines returns typed text as a shell reads it: Enter ends a line, however it is spelled.
func typedLines(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "<Enter>", "\n", "{Enter}", "\n", "{enter}", "\n", `\n`, "\n", `\r`, "\n",
		"<CR>", "\n", "C-m", "\n", "<Space>", " ").Replace(text)
}

// toolWrites guesses from its name whether a tool writes.
func toolWrites(tool string) bool {
	return nameHas(tool, "write", "edit", "create", "delete", "move", "remove", "rename", "put", "replace", "patch",
		"append", "update", "copy",
		"save", "insert", "unlink", "trash")
}

// runsCode guesses from its name whether a tool runs the code that it is given.
func runsCode(tool string) bool {
	return nameHas(tool, "exec", "run", "eval", "python", "node", "repl", "interpret", "script") && !toolWrites(tool)
}

// matchesNames guesses from its name whether the pattern of a search tool is for file names.
func matchesNames(tool string) bool {
	return nameHas(tool, "glob", "find_file", "findfile", "file_search", "search_file", "list")
}

// ListsNames guesses from its name whether a search tool shows names of files and never their
// contents.
func ListsNames(tool string) bool {
	l := strings.ToLower(tool)
	return l == "ls" || strings.HasPrefix(l, "list")
}

func nameHas(tool string, parts ...string) bool {
	l := strings.ToLower(tool)
	for _, p := range parts {
		if strings.Contains(l, p) {
			return true
		}
	}
	return false
}

// walkJSON calls visit for every string in data, with the member it is in, in lower case. It
// does not recurse, so that depth costs nothing.
func walkJSON(data []byte, visit func(key, value string) bool) error {
	if isFlatObject(data) {
		return walkMembers(data, visit)
	}
	return walkTokens(data, visit)
}

// isFlatObject reports whether data is what most inputs are, {"command": "…"}: an object without
// another object or list in it. Brackets inside a text make it false.
func isFlatObject(data []byte) bool {
	return len(data) > 0 && data[0] == '{' && bytes.IndexByte(data[1:], '{') < 0 && bytes.IndexByte(data, '[') < 0 &&
		utf8.Valid(data)
}

// walkMembers does for a flat object what walkTokens does for everything, at a
// fraction of its cost: this runs at every tool call.
func walkMembers(data []byte, visit func(key, value string) bool) error {
	return jsontext.Object(data, func(name, value []byte) bool {
		text, isText := jsontext.String(value)
		return !isText || visit(strings.ToLower(string(name)), text)
	})
}

func walkTokens(data []byte, visit func(key, value string) bool) error {
	type level struct {
		object bool
		key    string
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []level
	key, wantsKey := "", false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if len(open) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				open = append(open, level{object: t == '{', key: key})
			default:
				open = open[:len(open)-1]
			}
		case string:
			if wantsKey {
				key, wantsKey = strings.ToLower(t), false
				continue
			}
			if !visit(key, t) {
				return nil
			}
		}
		wantsKey = len(open) > 0 && open[len(open)-1].object
		if len(open) > 0 && !open[len(open)-1].object {
			key = open[len(open)-1].key
		}
	}
}

type inputReader struct {
	call   *Call
	out    *InputPaths
	writes bool
	globs  bool // "pattern" is one of file names
	types  bool // it types into a terminal
}

func (r *inputReader) takeText(key, v string) bool {
	switch {
	case isCodeKey(key, v) && r.call.ToolKind != "search" && runsCode(r.call.ToolName):
		r.call.Commands = append(slices.Clip(r.call.Commands), shellquote.Line([]string{"python3", "-c", v}),
			shellquote.Line([]string{"node", "-e", v}))
		if cell, text, found := strings.Cut(v, "\n"); found && isShellCell(cell) {
			r.call.Commands = append(r.call.Commands, text)
		}
		if text := notebookShell(v); text != "" {
			r.call.Commands = append(r.call.Commands, text)
		}
		if nameHas(r.call.ToolName, "repl") { // what it hands to tools of the agent
			r.call.Commands = append(r.call.Commands, foreign.StringLiterals(v)...)
		}
	case isCommandKey(key), r.types && isTypedKey(key):
		if r.call.ToolKind == "search" {
			return true
		}
		if len(r.call.Commands) >= maxCommands {
			r.out.Unreadable = fmt.Sprintf("its input has more than %d commands", maxCommands)
			return false
		}
		if r.types {
			v = typedLines(v)
		}
		// A new slice: the caller's must not be appended to.
		r.call.Commands = append(r.call.Commands[:len(r.call.Commands):len(r.call.Commands)], v)
	case r.namesPath(key), r.call.ToolKind != "search" && (isPathText(key, v) || r.writes && !contentKeys[key] && hiddenPath.MatchString(v)):
		return r.addPath(v)
	}
	return true
}

// addPath notes a path; it returns false if there are too many.
func (r *inputReader) addPath(v string) bool {
	if v == "" || len(v) > maxPath || strings.Contains(v, "\n") {
		return true
	}
	if len(r.out.Reads)+len(r.out.Writes) >= maxPaths {
		r.out.Unreadable = fmt.Sprintf("its input has more than %d paths", maxPaths)
		return false
	}
	v = pathOfURI(v)
	if r.writes && r.call.ToolKind != "search" {
		r.out.Writes = append(r.out.Writes, v)
	} else {
		r.out.Reads = append(r.out.Reads, v)
	}
	return true
}

// pathOfURI returns the path of a file: address, and anything else as it is.
func pathOfURI(v string) string {
	if len(v) < len("file:") || !strings.EqualFold(v[:len("file:")], "file:") {
		return v
	}
	if address, err := url.Parse(v); err == nil && address.Path != "" {
		return address.Path
	}
	return strings.TrimPrefix(v[len("file:"):], "//")
}

// maxFolders limits how many folders the names in an input are joined to.
const maxFolders = 16

// addPieces adds the paths that an input names in pieces: folders in some members and names in
// others, of the same object or of those within it.
func (r *inputReader) addPieces() {
	if len(r.call.Input) == 0 || len(r.call.Input) > maxInput || bytes.Count(r.call.Input, []byte(`":`)) < 2 {
		return
	}
	var input any
	if json.Unmarshal(r.call.Input, &input) != nil {
		return
	}
	type place struct {
		value   any
		folders []string
	}
	for open := []place{{value: input}}; len(open) > 0; {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		switch v := at.value.(type) {
		case []any:
			for _, one := range v {
				open = append(open, place{one, at.folders})
			}
		case map[string]any:
			folders := foldersIn(v, at.folders)
			for _, key := range slices.Sorted(maps.Keys(v)) {
				switch v[key].(type) {
				case []any, map[string]any:
					open = append(open, place{v[key], folders})
				}
				if !isNameKey(key) {
					continue
				}
				for _, name := range textsOf(v[key]) {
					for _, folder := range folders {
						if name != folder && !path.IsAbs(name) && !r.addPath(path.Join(folder, name)) {
							return
						}
					}
				}
			}
		}
	}
}

// foldersIn returns the folders that the members of an object may name, below those of the
// objects around it, too.
func foldersIn(members map[string]any, around []string) []string {
	var here []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		for _, folder := range textsOf(members[key]) {
			// A relative path may be a file's or a folder's.
			if isFolderKey(key) && (!nameHas(key, "path", "uri") || path.IsAbs(folder) || folder[0] == '~' || hiddenPath.MatchString(folder)) {
				here = append(here, folder)
			}
		}
	}
	out := slices.Concat(around, here)
	for _, above := range slices.Clone(out) {
		for _, below := range here {
			if above != below && !path.IsAbs(below) {
				out = append(out, path.Join(above, below))
			}
		}
	}
	return out[:min(len(out), maxFolders)]
}

// textsOf returns a text, or those in a list, that may be a path.
func textsOf(value any) []string {
	words := wordList(value)
	if text, ok := value.(string); ok {
		words = []string{text}
	}
	var out []string
	for _, word := range words {
		if word != "" && len(word) <= 512 && !strings.Contains(word, "\n") && !strings.Contains(word, "://") ||
			strings.HasPrefix(word, "file:") {
			out = append(out, pathOfURI(word))
		}
	}
	return out[:min(len(out), maxFolders)]
}

// isFolderKey reports whether a member of this name may contain a folder.
func isFolderKey(key string) bool {
	return nameHas(key, "dir", "folder", "root", "base", "cwd", "parent", "prefix", "location", "workspace", "path", "uri",
		"repo", "project")
}

// isNameKey reports whether a member of this name may contain the name of a file.
func isNameKey(key string) bool {
	return nameHas(key, "name", "file", "path", "rel", "entr", "leaf", "item", "doc", "target", "resource", "uri", "key", "to",
		"dest", "dir")
}

// isCodeKey reports whether a member contains code.
func isCodeKey(key, v string) bool {
	return key == "code" || key == "source" && strings.ContainsAny(v, "(\n")
}

// isShellCell reports whether the first line of a notebook's cell makes it a shell script.
func isShellCell(line string) bool {
	switch strings.TrimSpace(line) {
	case "%%bash", "%%sh", "%%script bash", "%%script sh", "%%zsh":
		return true
	}
	return false
}

// notebookLine matches a line of a notebook's cell that a shell runs, or that goes to a folder or
// writes a file.
var notebookLine = lazyregexp.New(`^\s*(?:[\w.,\[\]'" ]+=\s*)?(?:(!!?|%%?(?:sx|system|bash|sh|script\s+\w+)\s)\s*(.+)|%(cd|pushd)\s+(.+)|` +
	`%%(?:writefile|file)\s+(?:-a\s+)?(\S+)|%(?:save|logstart|notebook|history\s.*-f)\s+(?:-\S+\s+)*(\S+))`)

// notebookShell translates the lines of a notebook's cell that aren't Python into shell:
// "!command", "%cd folder", "%%writefile file". Code of the cell follows them, if there is a
// folder to follow them to.
func notebookShell(cell string) string {
	if !strings.ContainsAny(cell, "!%") {
		return ""
	}
	var out []string
	moved := false
	for line := range strings.Lines(cell) {
		m := notebookLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case m == nil:
		case m[2] != "":
			out = append(out, m[2])
		case m[4] != "":
			out, moved = append(out, "cd "+m[4]), true
		default:
			out = append(out, "tee "+m[5]+m[6])
		}
	}
	if moved {
		out = append(out, shellquote.Line([]string{"python3", "-c", cell}))
	}
	return strings.Join(out, "\n")
}

// isPathText reports whether a text is a whole path, whatever its member is called.
func isPathText(key, v string) bool {
	switch key {
	case "pattern", "patterns", "query", "regex", "search", "prompt", "message", "title", "description":
		return false // what is looked for or talked about
	}
	return !contentKeys[key] && len(v) > 1 && (v[0] == '/' || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "$HOME/") ||
		strings.HasPrefix(v, "file:/"))
}

// hiddenPath matches a path with a hidden name in it, and no text.
var hiddenPath = lazyregexp.New(`^(?:[\w.@+-]+/)*\.[\w-][\w.@+/-]*$`)

// namesPath reports whether a member of this name contains a path or a pattern of paths.
func (r *inputReader) namesPath(key string) bool {
	switch key {
	case "uri", "url", "source", "destination", "target", "glob", "include", "includes", "folder", "directory", "dir",
		"root":
		return true
	case "pattern", "patterns", "query":
		return r.globs
	}
	return strings.Contains(key, "path") || strings.Contains(key, "file") || strings.Contains(key, "glob")
}

// contentKeys are the members in which file tools have the text they write.
var contentKeys = map[string]bool{
	"content": true, "contents": true, "new_string": true, "newstring": true, "new_str": true, "newtext": true,
	"new_text": true, "text": true,
	"file_text": true, "insert_text": true, "insert": true, "replacement": true, "replace": true, "code_edit": true,
	"code": true, "data": true, "body": true,
}

// WrittenText returns the text that a file tool writes, all pieces of it. known is false if
// the input doesn't have it, as with patches.
func WrittenText(call *Call) (text string, known bool) {
	if len(call.Input) == 0 || len(call.Input) > maxInput {
		return "", false
	}
	var b strings.Builder
	err := walkJSON(call.Input, func(key, value string) bool {
		if contentKeys[key] {
			b.WriteString(value)
			b.WriteByte('\n')
			known = true
		}
		return true
	})
	return b.String(), known && err == nil
}
