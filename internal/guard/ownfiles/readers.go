package ownfiles

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
	"github.com/hookmux/hookmux/internal/shell/programs"
)

// reader is a program that only reads what it is given, except in these ways.
type reader struct {
	output  []string // options whose value is a file it writes
	inPlace []string // options that have it change its operands
	second  bool     // the second operand is where it writes
}

var plainReader = reader{}

// readers are programs of which it is known that naming a file does not change
// it. A program that is not here counts as one that does.
var readers = sync.OnceValue(func() map[string]reader {
	m := map[string]reader{
		"sort": {output: []string{"-o", "--output"}}, "shuf": {output: []string{"-o", "--output"}},
		"uniq": {
			second: true,
		}, "xxd": {second: true}, "tree": {output: []string{"-o"}}, "base64": {output: []string{"-o"}},
		"sed": {
			inPlace: []string{"-i", "--in-place"},
		}, "perl": {inPlace: []string{"-i"}}, "ruby": {inPlace: []string{"-i"}},
		"yq": {inPlace: []string{"-i", "--inplace", "--in-place"}}, "jq": {inPlace: []string{"-i", "--in-place"}},
		"dasel":   {inPlace: []string{"-w", "--write", "-i"}, output: []string{"-o", "--out"}},
		"toml":    {inPlace: []string{"-i"}},
		"openssl": {output: []string{"-out", "-keyout"}}, "pandoc": {output: []string{"-o", "--output"}},
		"prettier": {inPlace: []string{"--write", "-w"}}, "eslint": {inPlace: []string{"--fix"}, output: []string{"-o",
			"--output-file"}},
		"biome": {inPlace: []string{"--write", "--fix", "--apply", "format"}}, "jsonlint": {inPlace: []string{"-i",
			"--in-place"}},
		"shfmt": {inPlace: []string{"-w", "--write"}}, "taplo": {inPlace: []string{"fmt", "format"}}, "yamllint": {},
		"shellcheck": {},
		"tar":        {}, "zip": {}, "7z": {}, "awk": {inPlace: []string{"inplace"}}, "gawk": {inPlace: []string{"inplace"}},
		"rg": {}, "script": {}, "strace": {output: []string{"-o"}},
	}
	for _, name := range [...]string{
		"prlimit", "taskset", "chrt", "ltrace", "cpulimit", "npx", "bunx", "pnpx", "uvx", "busctl", "gdbus",
		"dbus-send", "qdbus", "sg", "expect", "tclsh",
		"cat", "bat", "batcat", "less", "more", "most", "head", "tail", "tac", "nl", "wc", "grep", "egrep", "fgrep", "ag",
		"ack", "zgrep",
		"ls", "exa", "eza", "lsd", "stat", "file", "du", "df", "realpath", "readlink", "dirname", "basename", "test", "[",
		"[[", "echo", "printf",
		"md5sum", "md5", "sha1sum", "sha256sum", "sha512sum", "shasum", "b2sum", "cksum", "sum", "cmp", "diff", "colordiff",
		"comm", "sdiff",
		"delta", "difft", "strings", "hexdump", "od", "hd", "base32", "cut", "paste", "join", "column", "fold", "fmt", "pr",
		"rev", "tr",
		"expand", "mawk", "nawk", "jless", "fx", "gron", "glow", "pygmentize", "highlight", "getfacl", "lsattr", "lsof",
		"xattr", "mdls",
		"cd", "pushd", "popd", "source", ".", "type", "which", "whereis", "command", "hash", "export", "declare", "typeset",
		"local", "readonly", "alias",
		"read", "mapfile", "readarray", "set", "unset", "eval", "exec", "trap", "return", "exit", "true", "false", ":",
		"let", "wait", "pwd",
		"mkdir", "git", "gh", "glab", "hookmux", "hookmux-hook", "inotifywait", "fswatch", "watchman", "open", "xdg-open",
		"code", "cursor", "subl",
		"zed", "idea", "man", "tldr", "pbcopy", "xclip", "wl-copy", "jobs", "ps", "pgrep", "pkill", "kill", "sleep", "date",
		"env", "printenv",
		"tmux", "screen", "ssh", "xargs", "parallel", "curl", "wget", "sqlite3", "duckdb", "find", "fd", "fdfind",
		"docker", "podman",
		"tokei", "cloc", "scc", "ctags", "markdownlint", "ajv", "check-jsonschema", "crontab", "systemctl",
		"launchctl", "journalctl", "loginctl",
		"notify-send", "terminal-notifier", "say", "logger", "jc", "fzf", "sk", "gdb", "lldb", "kubectl", "helm", "security",
		"gpg",
	} {
		m[name] = plainReader
	}
	return m
})

// checkOperands judges the words of a program by what is known about it.
func (c *writer) checkOperands(name string) {
	t := c.t
	if _, known := writers[name]; known && name != "tar" {
		return
	}
	args := c.r.Args()
	spec, reads := readers()[name]
	if !reads && agentByProgram()[name] != nil {
		spec, reads = plainReader, true
	}
	switch {
	case reads:
		c.writeOutput(optionValues(args, spec.output...))
		if changesInPlace(c.flags, c.rest, spec.inPlace) {
			c.write(c.rest)
		}
		if spec.second && len(c.rest) > 1 {
			c.write(c.rest[1:2])
		}
		if name == "tar" && !inspect.HasWord(args, "-x", "--extract") {
			c.write(archiveFile(args))
		}
		if name == "zip" || name == "7z" {
			c.write(c.rest[:min(len(c.rest), 2)])
		}
	case programs.IsShell(name), programs.IsInterpreter(name):
		c.checkScriptArguments(name)
	default:
		c.writeOutput(optionValues(args, "-o", "--output", "--out", "-out", "--outfile", "--out-file"))
		for _, w := range args {
			if p, ok := pathInWord(w); ok && t.wordIsOwned(c.x, p, c.r, false) {
				c.x.Report.Add("write", c.r.String(), fmt.Sprintf("%s may change %s", c.r.Name(), p.Text))
				return
			}
		}
	}
}

// writeOutput judges files that an option names. Building hookmux in its own
// project is no matter of this guard.
func (c *writer) writeOutput(words []shell.Word) {
	c.write(words)
	for _, w := range words {
		if p := c.x.ResolveWord(w, c.r); ownBinary(w) && p.Known && !c.r.Remote && c.x.IsOutside(p) {
			c.x.Report.Add("write", c.r.String(), fmt.Sprintf("%s replaces %s", c.r.Name(), w.Text))
			return
		}
	}
}

// checkScriptArguments: the first operand of an interpreter is what it runs; what
// follows is given to a program nobody knows.
func (c *writer) checkScriptArguments(name string) {
	if _, hasCode := c.r.Code(); hasCode || len(c.rest) == 0 {
		return
	}
	module := ""
	for i, a := range c.r.Args() {
		if a.Text == "-m" && i+1 < len(c.r.Args()) {
			module = c.r.Args()[i+1].Text
		}
	}
	words := behindOperand(c.r.Args(), 1)
	switch module {
	case "json.tool":
		words = behindOperand(c.r.Args(), 2)
	case "tomllib", "yaml", "ast", "tokenize", "py_compile", "unittest", "pytest":
		return
	}
	for _, w := range words {
		if p, ok := pathInWord(w); ok && c.t.wordIsOwned(c.x, p, c.r, false) {
			c.x.Report.Add("write", c.r.String(), fmt.Sprintf("a program that %s runs may change %s", name, p.Text))
			return
		}
	}
}

// behindOperand are the words behind the first n operands, options included.
func behindOperand(args []shell.Word, n int) []shell.Word {
	for i, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			if n--; n == 0 {
				return args[i+1:]
			}
		}
	}
	return nil
}

// pathInWord is the path that a word may hold: the word itself, or the value of
// key=value and -oVALUE. Text with blanks in it is no path.
func pathInWord(w shell.Word) (shell.Word, bool) {
	t := w.Text
	if strings.ContainsAny(t, " \t\n") {
		return w, false
	}
	if i := strings.IndexByte(t, '='); i > 0 {
		return inspect.CutWord(w, i+1), true
	}
	if len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[2:3], "/~.$") {
		return inspect.CutWord(w, 2), true
	}
	return w, !strings.HasPrefix(t, "-")
}

// optionValues are the values of options: the next word, or what is glued on.
func optionValues(args []shell.Word, options ...string) []shell.Word {
	var out []shell.Word
	for i, a := range args {
		for _, o := range options {
			switch {
			case a.Text == o && i+1 < len(args):
				out = append(out, args[i+1])
			case strings.HasPrefix(a.Text, o+"="):
				out = append(out, inspect.CutWord(a, len(o)+1))
			case len(o) == 2 && strings.HasPrefix(a.Text, o) && len(a.Text) > 2:
				out = append(out, inspect.CutWord(a, 2))
			case strings.HasPrefix(o, "--") && len(a.Text) > 3 && strings.HasPrefix(o, a.Text) && i+1 < len(args):
				out = append(out, args[i+1]) // a shortened long option
			}
		}
	}
	return out
}

// changesInPlace reports whether one of the options is given. One without a dash
// is a verb among the operands.
func changesInPlace(flags, operands []shell.Word, options []string) bool {
	for _, o := range options {
		switch {
		case strings.HasPrefix(o, "--"):
			if inspect.HasLong(flags, o) {
				return true
			}
		case o[0] == '-':
			if inspect.HasShort(flags, o[1]) {
				return true
			}
		case inspect.HasWord(operands, o):
			return true
		}
	}
	return false
}

// archiveFile is the archive that tar makes: -f's value, also behind a cluster
// such as czf.
func archiveFile(args []shell.Word) []shell.Word {
	for i, a := range args {
		t := strings.TrimPrefix(a.Text, "-")
		if strings.HasPrefix(a.Text, "--") || !strings.HasSuffix(t, "f") || i > 0 && t == a.Text ||
			!strings.ContainsAny(t,
				"cru") {
			continue
		}
		return args[min(i+1, len(args)):min(i+2, len(args))]
	}
	return optionValues(args, "-f", "--file")
}
