package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// A rule that allows a program allows what the program does by itself. Options by which
// it runs another program, writes where it is told, or works in another folder or by
// other settings have to be named by the rule.

// commonReach are such options of every program that has them.
var commonReach = []string{"--exec", "--exec-batch", "--exec-path", "--eval", "--to-command", "--checkpoint-action",
	"--compress-program", "--use-compress-program", "--rsh", "--rsh-command", "--rsync-path", "--script-shell", "--pager",
	"--editor", "--browser", "--in-place", "--output", "--output-file", "--out-file", "--outfile", "--output-document",
	"--output-dir", "--git-dir", "--work-tree", "--prefix", "--cwd", "--chdir", "--proxy", "--connect-to", "--resolve",
	"--upload-file", "--upload-pack", "--receive-pack", "--ext-diff", "--textconv", "--open-files-in-pager",
	"--unix-socket", "--node-options", "--userconfig", "--globalconfig", "--init-file", "--rcfile", "--preprocessor",
	"--pre", "--hostname-bin", "--info-script", "--unzip-command", "--use-askpass", "--html", "--config-env",
	"--toolexec", "--vettool", "--ld-path", "--wrapper", "--plugin", "--load", "--no-index"}

// programReach are options of single programs, short ones above all.
var programReach = map[string][]string{
	"git": {"-C", "-c", "-O", "-o"}, "go": {"-C", "-exec", "-toolexec", "-vettool", "-overlay", "-o", "-modfile"},
	"tar": {"-I", "-F", "-C"}, "sort": {"-o", "-T", "--temporary-directory", "--files0-from"}, "rsync": {"-e"},
	"man": {"-P", "-H", "-C", "--config-file"}, "find": {"-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint",
		"-fprintf", "-fls", "-fprint0"}, "zip": {"-T", "-TT"}, "make": {"-C", "--directory", "-f", "--file", "--makefile",
		"-I", "--include-dir", "-E"}, "gmake": {"-C", "-f", "-I"}, "sed": {"-i", "-f", "--file"}, "gsed": {"-i", "-f"},
	"awk": {"-f", "-i", "-l", "-E", "--file", "--include", "--load"}, "gawk": {"-f", "-i", "-l", "-E"},
	"mawk": {"-f"}, "nawk": {"-f"}, "less": {"-o", "-O", "-k", "--lesskey-file", "--lesskey-src", "--log-file"},
	"fd": {"-x", "-X"}, "curl": {"-o", "-O", "-K", "--config", "-T", "-x", "--remote-name", "--preproxy",
		"--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--abstract-unix-socket", "--doh-url", "--dns-servers", "-c",
		"--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--hsts",
		"--alt-svc", "--etag-save", "-w", "--write-out"}, "wget": {"-O", "-i", "-P", "-o", "-a", "-e", "--execute", "--config",
		"--directory-prefix", "--input-file", "--save-cookies"},
	"npm": {"-C", "--workspace-root", "--prefix"}, "pnpm": {"-C", "--dir"},
	"yarn": {"--use-yarnrc", "--modules-folder"}, "bun": {"--preload", "-r", "--config"},
	"node":  {"-r", "--require", "--import", "--loader", "--experimental-loader", "-e", "-p", "--eval", "--print"},
	"cargo": {"-C", "--config", "--manifest-path", "-Z"}, "pytest": {"-c", "--rootdir", "-p", "--confcutdir",
		"--basetemp", "--junitxml"}, "jq": {"-f", "--from-file", "-L"}, "diff": {"--output"}, "xargs": {"-a"},
	"column": {"-o"}, "tree": {"-o"}, "shuf": {"-o"}, "date": {"-f", "-s", "--set"}, "env": {"-S", "-C"},
	"vim": {"-c", "-S", "--cmd", "-u"}, "ssh": {"-o", "-F", "-J", "-L", "-R", "-D", "-E"}, "docker": {"-H",
		"--host", "--context", "-c", "--config"}, "kubectl": {"--kubeconfig", "--server", "-s"},
	"gcc": {"-o", "-B", "-wrapper", "-fplugin", "-specs"}, "cmake": {"-P", "-E", "-C"},
}

// doesMore reports whether a command does more than its program does by itself.
func doesMore(c *facts.Command) bool {
	for _, flag := range c.Flags {
		for _, list := range [][]string{commonReach, programReach[c.Program]} {
			if slices.ContainsFunc(list, func(option string) bool { return isOption(flag, option) }) {
				return true
			}
		}
	}
	switch c.Program {
	case "sed", "gsed":
		return sedReaches.MatchString(strings.Join(c.Argv[1:], "\n"))
	case "awk", "gawk", "mawk", "nawk", "busybox":
		return awkReaches.MatchString(strings.Join(c.Argv[1:], "\n"))
	case "uniq": // its second operand is written
		return len(c.Operands()) > 1
	}
	return false
}

// isOption reports whether a flag is an option, which may be shortened.
func isOption(flag, option string) bool {
	if flag == option {
		return true
	}
	return strings.HasPrefix(option, "--") && strings.HasPrefix(flag, "--") && len(flag) > 4 &&
		strings.HasPrefix(option, flag)
}

var (
	// sedReaches finds commands of sed that write a file or run a program: w, W, e, and
	// the flags w and e of s///.
	sedReaches = lazyregexp.New(`(?m)(^|[;{}/$!0-9,\s])[wW]\s*[^\s;}=]|(^|[;{}/$!0-9,])\s*e(\s|$|;)|` +
		`[/|,#@:%!][gpiImM0-9]*[we][gpiImM0-9]*(\s|$|;|})`)
	// awkReaches finds what awk runs or writes.
	awkReaches = lazyregexp.New(`system\s*\(|getline|[^|]\|[^|]|print[^;}\n]*>|@load|@include|printf[^;}\n]*>|close\s*\(`)
)

// talksElsewhere reports whether a command talks to another machine than its addresses
// name, or sends more than a request.
func talksElsewhere(c *facts.Command) bool {
	return slices.ContainsFunc(c.Flags, func(flag string) bool {
		return slices.ContainsFunc(elsewhereOptions, func(option string) bool { return isOption(flag, option) })
	})
}

var elsewhereOptions = []string{"--connect-to", "--resolve", "--proxy", "--preproxy", "-x", "--socks4", "--socks4a",
	"--socks5", "--socks5-hostname", "--unix-socket", "--abstract-unix-socket", "--doh-url", "--dns-servers",
	"--dns-interface", "-K", "--config", "-T", "--upload-file", "--post-file", "--body-file", "--haproxy-protocol",
	"--next", "-:", "--location-trusted", "-e", "--execute", "-i", "--input-file"}

// systemFolders hold programs that an agent cannot exchange as a rule.
var systemFolders = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"}

// isOwnProgram reports whether a command names its program by a path that leads
// elsewhere than to the system's programs: its base name says nothing then.
func isOwnProgram(c *facts.Command) bool {
	return len(c.Argv) > 0 && strings.Contains(c.Argv[0], "/") && !slices.Contains(systemFolders, path.Dir(c.Argv[0]))
}
