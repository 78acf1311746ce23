package programs

import "strings"

// Interpreters run program text of other languages; the value lists the short
// options that carry it.
var Interpreters = map[string]string{
	"python": "c", "python2": "c", "python3": "c", "pypy": "c", "pypy3": "c",
	"perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "bun": "e", "deno": "", "php": "r", "lua": "e",
	"osascript": "e", "awk": "", "gawk": "", "mawk": "", "nawk": "", "tclsh": "", "expect": "c",
	"luajit": "e", "julia": "eE", "rscript": "e", "r": "e", "elixir": "e", "erl": "", "ghc": "e", "runghc": "",
	"guile": "c",
	"sbcl":  "", "clisp": "x", "racket": "e", "jshell": "", "groovy": "e", "scala": "e", "scala-cli": "e",
	"swift":   "e",
	"clojure": "e", "clj": "e", "bb": "e", "crystal": "", "raku": "e", "m4": "", "gnuplot": "e",
	"dc": "e", "octave": "", "scilab": "e", "irb": "e", "jrunscript": "e", "jjs": "", "maxima": "", "qjs": "e",
	"d8":   "e",
	"ghci": "e", "nim": "", "perl5": "eE", "ipython": "c", "bpython": "c", "pry": "e", "frida": "e", "nodejs18": "ep",
	"dart": "", "ts-node": "ep", "tsx": "ep",
}

// IsInterpreter reports whether name is one of them, whatever its version.
func IsInterpreter(name string) bool {
	_, ok := Interpreters[TrimVersion(name)]
	return ok
}

// RunsScripts reports whether an interpreter runs the first file that it is given, whatever
// its version. The files of awk, m4 and dc are mostly data, and compilers are given
// folders and what they make.
func RunsScripts(name string) bool {
	switch TrimVersion(name) {
	case "awk", "gawk", "mawk", "nawk", "m4", "dc", "ghc", "swift", "nim", "crystal":
		return false
	}
	return IsInterpreter(name)
}

// TrimVersion makes python3.12 python3, and php8.2 php.
func TrimVersion(name string) string {
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if _, known := Interpreters[name]; known {
		return name
	}
	bare := strings.TrimRight(name, "-0123456789")
	if _, known := Interpreters[bare]; known {
		return bare
	}
	return name
}

// TakesValue reports whether an option of awk has the next word as its value.
func TakesValue(option string) bool {
	switch option {
	case "-v", "-F", "-f", "--assign", "--field-separator", "--file":
		return true
	}
	return false
}
