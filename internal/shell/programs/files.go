package programs

import (
	"maps"
	"slices"
	"sync"
)

// Reader is a program that only reads what it is given, except in these ways.
type Reader struct {
	Output  []string // options whose value is a file it writes
	InPlace []string // options that have it change its operands
	Second  bool     // the second operand is where it writes
}

// readers are programs of which it is known that naming a file does not change
// it. A program that is not here counts as one that does.
var readers = sync.OnceValue(func() map[string]Reader {
	m := map[string]Reader{
		"sort": {Output: []string{"-o", "--output"}}, "shuf": {Output: []string{"-o", "--output"}},
		"uniq": {
			Second: true,
		}, "xxd": {Second: true}, "tree": {Output: []string{"-o"}}, "base64": {Output: []string{"-o"}},
		"sed": {
			InPlace: []string{"-i", "--in-place"},
		}, "perl": {InPlace: []string{"-i"}}, "ruby": {InPlace: []string{"-i"}},
		"yq": {InPlace: []string{"-i", "--inplace", "--in-place"}}, "jq": {InPlace: []string{"-i", "--in-place"}},
		"dasel":   {InPlace: []string{"-w", "--write", "-i"}, Output: []string{"-o", "--out"}},
		"toml":    {InPlace: []string{"-i"}},
		"openssl": {Output: []string{"-out", "-keyout"}}, "pandoc": {Output: []string{"-o", "--output"}},
		"prettier": {InPlace: []string{"--write", "-w"}}, "eslint": {InPlace: []string{"--fix"},
			Output: []string{"-o",
				"--output-file"}},
		"biome": {InPlace: []string{"--write", "--fix", "--apply", "format"}}, "jsonlint": {InPlace: []string{"-i",
			"--in-place"}},
		"shfmt": {InPlace: []string{"-w", "--write"}}, "taplo": {InPlace: []string{"fmt", "format"}}, "yamllint": {},
		"shellcheck": {},
		"gofmt":      {InPlace: []string{"-w"}}, "goimports": {InPlace: []string{"-w"}},
		"gofumpt":  {InPlace: []string{"-w"}},
		"autopep8": {InPlace: []string{"-i", "--in-place"}}, "yapf": {InPlace: []string{"-i", "--in-place"}},
		"clang-format": {InPlace: []string{"-i"}}, "ruff": {InPlace: []string{"format", "--fix"}},
		"rubocop": {InPlace: []string{"-a", "-A", "--autocorrect"}}, "stylelint": {InPlace: []string{"--fix"}},
		"ktlint": {InPlace: []string{"-F", "--format"}}, "oxlint": {InPlace: []string{"--fix"}},
		"tar": {}, "zip": {}, "7z": {}, "awk": {InPlace: []string{"inplace"}},
		"gawk": {InPlace: []string{"inplace"}},
		"rg":   {}, "script": {}, "strace": {Output: []string{"-o"}},
	}
	for _, name := range [...]string{
		"prlimit", "taskset", "chrt", "ltrace", "cpulimit", "npx", "bunx", "pnpx", "uvx", "busctl", "gdbus",
		"dbus-send", "qdbus", "sg", "expect", "tclsh",
		"cat", "bat", "batcat", "less", "more", "most", "head", "tail", "tac", "nl", "wc", "grep", "egrep",
		"fgrep", "ag",
		"ack", "zgrep",
		"ls", "exa", "eza", "lsd", "stat", "file", "du", "df", "realpath", "readlink", "dirname", "basename",
		"test", "[",
		"[[", "echo", "printf",
		"md5sum", "md5", "sha1sum", "sha256sum", "sha512sum", "shasum", "b2sum", "cksum", "sum", "cmp", "diff",
		"colordiff",
		"comm", "sdiff",
		"delta", "difft", "strings", "hexdump", "od", "hd", "base32", "cut", "paste", "join", "column", "fold",
		"fmt", "pr",
		"rev", "tr",
		"expand", "mawk", "nawk", "jless", "fx", "gron", "glow", "pygmentize", "highlight", "getfacl", "lsattr",
		"lsof",
		"xattr", "mdls",
		"cd", "pushd", "popd", "source", ".", "type", "which", "whereis", "command", "hash", "export", "declare",
		"typeset",
		"local", "readonly", "alias",
		"read", "mapfile", "readarray", "set", "unset", "eval", "exec", "trap", "return", "exit", "true", "false",
		":",
		"let", "wait", "pwd",
		"mkdir", "git", "gh", "glab", "hookmux", "hookmux-hook", "inotifywait", "fswatch", "watchman", "open",
		"xdg-open",
		"code", "cursor", "subl",
		"zed", "idea", "man", "tldr", "pbcopy", "xclip", "wl-copy", "jobs", "ps", "pgrep", "pkill", "kill",
		"sleep", "date",
		"env", "printenv",
		"tmux", "screen", "ssh", "xargs", "parallel", "curl", "wget", "sqlite3", "duckdb", "find", "fd", "fdfind",
		"docker", "podman",
		"tokei", "cloc", "scc", "ctags", "markdownlint", "ajv", "check-jsonschema", "crontab", "systemctl",
		"launchctl", "journalctl", "loginctl",
		"notify-send", "terminal-notifier", "say", "logger", "jc", "fzf", "sk", "gdb", "lldb", "kubectl", "helm",
		"security",
		"gpg",
	} {
		m[name] = Reader{}
	}
	return m
})

// ReaderOf is what is known about a program that changes no file it is given.
func ReaderOf(name string) (Reader, bool) {
	r, ok := readers()[name]
	return r, ok
}

// shortValues are the short options that take the next word, of programs that several
// tables know.
var shortValues = map[string]string{
	"cp": "tS", "mv": "tS", "ln": "tS", "install": "tmog", "rsync": "ef", "scp": "iPFolcSJ", "sftp": "iPFob",
	"ssh": "BbcDEeFIiJLlmOopQRSWw", "vim": "cu", "nvim": "cu", "vi": "c",
}

// ShortValues are the short options of a program that take the next word, as far as several
// tables have to know them.
func ShortValues(name string) string { return shortValues[name] }

// Operands says which words of a program are files whose contents it puts somewhere.
type Operands struct {
	Values string // short options that take a separate argument
	Skip   int    // leading operands that are no files
}

// fileOperands are programs that put the contents of their operands somewhere. Values lists short
// options that take a separate argument (which is then no file), except that
// Skip counts leading operands that are no files either (grep's pattern).
var fileOperands = sync.OnceValue(func() map[string]Operands {
	return map[string]Operands{
		"cat": {}, "bat": {}, "batcat": {}, "less": {}, "more": {}, "most": {}, "head": {Values: "nc"},
		"tail": {Values: "ncs"}, "tac": {}, "nl": {}, "view": {},
		"grep": {Values: "ABCmefd", Skip: 1}, "egrep": {Values: "ABCmef", Skip: 1}, "fgrep": {Values: "ABCmef",
			Skip: 1},
		"rg": {Values: "ABCmefgtTMj", Skip: 1}, "ag": {Skip: 1}, "ack": {Skip: 1}, "zgrep": {Skip: 1},
		"awk": {Values: "Fv", Skip: 1}, "gawk": {Values: "Fv", Skip: 1}, "mawk": {Values: "Fv", Skip: 1},
		"sed": {Values: "ef", Skip: 1}, "gsed": {Values: "ef", Skip: 1}, "cut": {Values: "dfcb"},
		"sort": {Values: "kto"},
		"uniq": {},
		"tr":   {}, "paste": {Values: "d"}, "column": {Values: "sNoc"}, "fold": {}, "fmt": {}, "pr": {}, "rev": {},
		"strings": {Values: "n"}, "xxd": {Values: "lsc"}, "hexdump": {Values: "nse"}, "hd": {},
		"od":     {Values: "ANjt"},
		"base64": {Values: "w"}, "base32": {}, "uuencode": {}, "diff": {}, "colordiff": {}, "cmp": {}, "comm": {},
		"vimdiff": {}, "sdiff": {}, "delta": {},
		"cp": {}, "gcp": {}, "scp": {}, "rsync": {},
		"sftp": {},
		"ftp":  {}, "install": {}, "ln": {},
		"tar": {Values: "C"}, "zip": {}, "7z": {}, "gzip": {}, "bzip2": {}, "xz": {}, "zstd": {}, "rar": {},
		"cpio": {},
		"vim":  {}, "vi": {}, "nvim": {}, "nano": {}, "emacs": {}, "code": {},
		"ed":    {},
		"micro": {}, "hx": {}, "cursor": {}, "subl": {}, "open": {Values: "a"}, "xdg-open": {},
		"jq": {Skip: 1}, "yq": {Skip: 1}, "pbcopy": {}, "xclip": {}, "wl-copy": {}, "qrencode": {}, "dd": {},
		"pygmentize": {}, "glow": {}, "look": {}, "split": {}, "csplit": {}, "expand": {}, "iconv": {Values: "ft"},
		"perl": {Values: "eE"},
		"gh":   {}, "nc": {}, "ncat": {}, "socat": {}, "telnet": {}, "mail": {}, "mailx": {}, "mutt": {},
		"sendmail": {},
		"aws":      {}, "gsutil": {}, "rclone": {}, "curl": {}, "wget": {}, "http": {}, "xh": {}, "openssl": {},
		"croc":     {},
		"wormhole": {}, "magic-wormhole": {}, "ffsend": {}, "type": {}, "sqlite3": {Values: "c"}, "duckdb": {},
		"gpg": {},
		"age": {}, "age-keygen": {}, "sops": {},
		// Programs that nobody takes for readers, and that print what they are given.
		"basenc": {Values: "w"}, "base58": {}, "ul": {}, "unexpand": {Values: "t"}, "shuf": {Values: "nio"},
		"ptx": {}, "tsort": {},
		"join": {Values: "12tjeoav"}, "soelim": {}, "troff": {}, "groff": {Values: "mTPo"}, "nroff": {}, "pic": {},
		"tbl": {},
		"eqn": {}, "zcat": {}, "bzcat": {}, "xzcat": {}, "zless": {}, "zmore": {}, "w3m": {}, "links": {},
		"elinks": {}, "lynx": {},
		"dialog": {}, "whiptail": {}, "highlight": {}, "source-highlight": {}, "lolcat": {}, "ccat": {}, "ov": {},
		"mcat": {}, "vipe": {}, "sponge": {}, "numfmt": {}, "dos2unix": {}, "cowsay": {}, "figlet": {},
		"aspell": {}, "bc": {},
		"hexyl": {}, "tspin": {}, "choose": {}, "miller": {}, "mlr": {Skip: 1}, "dasel": {}, "xq": {Skip: 1},
		"gron": {}, "fx": {}, "jless": {}, "pastebinit": {}, "gist": {}, "slackcat": {}, "wgetpaste": {},
		"curlie": {}, "ansi2html": {},
		"enscript": {}, "a2ps": {}, "lp": {Values: "dno"}, "lpr": {Values: "P#"}, "peco": {}, "percol": {}, "sk": {},
		"genisoimage": {Values: "o"}, "mkisofs": {Values: "o"}, "ar": {}, "uuenview": {}, "kitten": {}, "wezterm": {},
	}
})

// OperandsOf is which words of a program are files whose contents it puts
// somewhere; ok is false for programs that put none anywhere, or are not known.
func OperandsOf(name string) (Operands, bool) {
	o, ok := fileOperands()[name]
	o.Values += ShortValues(name)
	return o, ok
}

// WithOperands lists the programs of which OperandsOf knows something, sorted.
func WithOperands() []string { return slices.Sorted(maps.Keys(fileOperands())) }
