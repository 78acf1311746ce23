package shell

import (
	"path"
	"strings"
)

// prefix describes a program that runs the command written behind its own
// options. values lists the short options that take a separate argument, long
// the long ones; skip counts positional arguments before the command.
type prefix struct {
	values  string
	long    []string
	skip    int
	assigns bool // NAME=value may stand before the command
	joins   bool // the command words are joined and given to a shell
	keep    bool // the wrapper is worth a run of its own, too
	contain bool // the command runs in a container
	need    string
}

var prefixes = map[string]prefix{
	"sudo":  {values: "ugpChrtTUDR", long: []string{"--user", "--group", "--prompt", "--chdir", "--host", "--role", "--type", "--close-from", "--chroot"}, assigns: true},
	"doas":  {values: "uC"},
	"env":   {values: "uCSP", long: []string{"--unset", "--chdir", "--split-string"}, assigns: true},
	"nohup": {}, "builtin": {}, "command": {}, "exec": {values: "a"}, "time": {values: "fo", long: []string{"--format", "--output"}},
	"gtime": {values: "fo"}, "timeout": {values: "ks", long: []string{"--kill-after", "--signal"}, skip: 1},
	"gtimeout": {values: "ks", skip: 1}, "nice": {values: "n", long: []string{"--adjustment"}},
	"ionice": {values: "cnpPu", long: []string{"--class", "--classdata"}}, "chrt": {values: "TPD", skip: 1},
	"stdbuf": {values: "ioe", long: []string{"--input", "--output", "--error"}}, "setsid": {}, "unbuffer": {},
	"caffeinate": {values: "tw"}, "strace": {values: "oepEsPuIaSX"}, "ltrace": {values: "oepsua"},
	"watch": {values: "n", long: []string{"--interval"}, joins: true}, "busybox": {}, "toybox": {},
	"chroot": {long: []string{"--userspec", "--groups"}, skip: 1, contain: true}, "unshare": {values: "SGRw"},
	"nsenter": {values: "tSGTr", long: []string{"--target"}}, "flock": {values: "wE", skip: 1},
	"systemd-run": {values: "pHMEtu", long: []string{"--unit", "--property", "--setenv", "--slice", "--uid", "--gid", "--on-active"}},
	"torsocks":    {}, "proxychains": {values: "f"}, "proxychains4": {values: "f"}, "dbus-run-session": {},
	"taskset": {skip: 1}, "numactl": {values: "CNmip"}, "firejail": {}, "fakeroot": {values: "lsib"}, "faketime": {values: "f", skip: 1},
	"setarch": {skip: 1}, "linux64": {}, "linux32": {}, "catchsegv": {}, "rlwrap": {values: "abcfHlpPs"}, "prlimit": {},
	"noglob": {}, "nocorrect": {}, "-": {}, "then": {}, "do": {}, "screen": {values: "ScehpstT"},
	"sem": {values: "j"}, "chpst": {values: "uUbemdoprft/"},
	"pkexec": {long: []string{"--user"}}, "gosu": {skip: 1}, "su-exec": {skip: 1}, "setpriv": {long: []string{"--reuid", "--regid", "--groups"}},
	"entr": {}, "hyperfine": {values: "wmMrpcnSsu", joins: true, long: []string{"--warmup", "--runs", "--prepare"}}, "rtk": {}, "sg": {skip: 1, joins: true},
	"npx": {values: "pc", long: []string{"--package", "--call"}, keep: true}, "bunx": {keep: true}, "pnpx": {keep: true}, "uvx": {values: "p", keep: true},
}

// subcommands are programs whose command stands behind one of their verbs.
var subcommands = map[string]map[string]prefix{
	"docker":         containerVerbs,
	"podman":         containerVerbs,
	"nerdctl":        containerVerbs,
	"docker-compose": composeVerbs,
	"kubectl":        {"exec": {values: "ncf", need: "--", skip: 1, contain: true, keep: true}},
	"oc":             {"exec": {values: "ncf", need: "--", skip: 1, contain: true, keep: true}, "rsh": {values: "ncf", need: "--", skip: 1, contain: true, keep: true}},
	"pnpm":           {"exec": {values: "C", keep: true}, "dlx": {keep: true}},
	"yarn":           {"exec": {keep: true}, "dlx": {values: "p", keep: true}},
	"npm":            {"exec": {values: "p", keep: true}, "x": {values: "p", keep: true}},
	"bun":            {"x": {keep: true}},
	"uv":             {"run": {values: "p", long: []string{"--with", "--python", "--extra", "--group", "--project", "--directory", "--env-file"}, keep: true}},
	"poetry":         {"run": {keep: true}}, "pipenv": {"run": {keep: true}}, "pdm": {"run": {keep: true}}, "hatch": {"run": {keep: true}},
	"rye": {"run": {keep: true}}, "bundle": {"exec": {keep: true}}, "mise": {"exec": {need: "--", keep: true}, "x": {need: "--", keep: true}},
	"asdf": {"exec": {keep: true}}, "direnv": {"exec": {skip: 1, keep: true}}, "nix": {"develop": {need: "-c", keep: true}, "shell": {need: "-c", keep: true}},
	"conda": {"run": {values: "np", keep: true}}, "devcontainer": {"exec": {long: []string{"--workspace-folder", "--container-id"}, contain: true, keep: true}},
	"flatpak-spawn": {"--host": {}}, "adb": {"shell": {joins: true, contain: true, keep: true}}, "wsl": {"-e": {}, "--exec": {}, "--": {}},
	"doppler": {"run": {need: "--", keep: true}}, "op": {"run": {need: "--", keep: true}}, "aws-vault": {"exec": {need: "--", keep: true}},
}

var containerVerbs = map[string]prefix{
	"exec": {values: "uwe", long: []string{"--user", "--workdir", "--env", "--env-file", "--detach-keys"}, skip: 1, contain: true, keep: true},
	"run": {values: "vepuwhlmac", long: []string{"--name", "--volume", "--env", "--env-file", "--publish", "--user", "--workdir", "--entrypoint", "--network", "--net",
		"--mount", "--platform", "--label", "--memory", "--cpus", "--hostname", "--add-host", "--gpus", "--shm-size", "--restart", "--cap-add", "--device", "--tmpfs", "--pull"},
		skip: 1, contain: true, keep: true},
}

var composeVerbs = map[string]prefix{
	"exec": {values: "uwe", long: []string{"--user", "--workdir", "--env", "--index"}, skip: 1, contain: true, keep: true},
	"run":  {values: "uwevp", long: []string{"--user", "--workdir", "--env", "--name", "--entrypoint", "--volume"}, skip: 1, contain: true, keep: true},
}

var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "mksh": true, "fish": true,
	"rbash": true, "csh": true, "tcsh": true, "yash": true, "ksh93": true, "busybox-sh": true,
}

// IsShell reports whether a program of this base name runs shell text.
func IsShell(name string) bool { return shells[name] }

// resolveRun takes wrappers off run until a program that does the work remains,
// and records it. hops bounds `sudo sudo sudo …`.
func (w *walker) resolveRun(run Run, c inherited, hops int) {
	if len(run.Argv) == 0 || hops > maxDepth || !w.takeStep() {
		w.out.Truncated = w.out.Truncated || hops > maxDepth
		w.recordRun(run, c)
		return
	}
	name := baseName(run.Argv[0].Text)
	if fn, ok := w.funcs[run.Argv[0].Text]; ok {
		run.Local = true
		w.recordRun(run, c)
		w.callFunction(fn, run.Argv, c)
		return
	}
	if _, ok := w.files[run.Argv[0].Text]; ok {
		w.recordRun(run, c)
		w.walkKnownFile(run.Argv[0], c, run.Argv[0].Text)
		return
	}
	if special, ok := specialFor(name); ok {
		if special(w, name, run, c, hops) {
			return
		}
	} else if p, ok := prefixes[name]; ok {
		if w.stripPrefix(name, p, run, run.Argv[1:], c, hops) {
			return
		}
	} else if verbs, ok := subcommands[name]; ok {
		if w.stripVerb(name, verbs, run, c, hops) {
			return
		}
	} else if shells[name] {
		w.walkShell(name, run, c)
		return
	} else if isInterpreter(name) {
		w.recordRun(run, c)
		w.walkCode(name, run, c)
		return
	}
	w.recordRun(run, c)
}

// stripPrefix resolves what stands behind a prefix command. It reports false when
// nothing does, so that the wrapper itself is recorded.
func (w *walker) stripPrefix(name string, p prefix, run Run, args []Word, c inherited, hops int) bool {
	i := 0
	skip := p.skip
	if at := indexOf(args, p.need); p.need != "" && at >= 0 {
		i, skip = at+1, 0
	} else if p.need != "" && p.skip == 0 {
		i = len(args)
	} else {
		i = skipOptions(args, p.values, p.long)
	}
	for p.assigns && i < len(args) && isAssignment(args[i].Text) {
		n, v, _ := strings.Cut(args[i].Text, "=")
		run.Assigns = append(run.Assigns, Assign{Name: n, Value: Word{Text: v, Bare: v, Dynamic: args[i].Dynamic, Vars: args[i].Vars}})
		i++
		if i < len(args) && args[i].Text == "--" {
			i++
		}
	}
	i += skip
	if i < len(args) && args[i].Text == "--" && skip > 0 {
		i++
	}
	if p.keep {
		w.recordRun(run, c)
	}
	if i >= len(args) {
		return p.keep
	}
	c = c.withVia(name)
	c.contained = c.contained || p.contain
	if p.contain {
		mounts, workdir := mountsOf(args, i)
		c.mounts = append(c.mounts[:len(c.mounts):len(c.mounts)], mounts...)
		if workdir != "" && len(mounts) > 0 {
			dirs := w.dirs
			w.dirs = append(w.dirs[:len(w.dirs):len(w.dirs)], Word{Text: workdir, Bare: workdir, Dynamic: strings.Contains(workdir, "$")})
			defer func() { w.dirs = dirs }()
		}
	}
	if p.joins {
		w.walkText(joinText(args[i:]), c)
		return true
	}
	rest := run
	rest.Argv = args[i:]
	w.resolveRun(rest, c, hops+1)
	return true
}

func indexOf(args []Word, text string) int {
	for i, a := range args {
		if a.Text == text {
			return i
		}
	}
	return -1
}

func (w *walker) stripVerb(name string, verbs map[string]prefix, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	for i, a := range args {
		if (name == "docker" || name == "podman" || name == "nerdctl") && a.Text == "compose" {
			verbs = composeVerbs
			continue
		}
		if p, ok := verbs[a.Text]; ok {
			return w.stripPrefix(name+" "+a.Text, p, run, args[i+1:], c, hops)
		}
		if i > 8 {
			break
		}
	}
	return false
}

// skipOptions returns the index of the first word that is not an option or an
// option's value.
func skipOptions(args []Word, values string, long []string) int {
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case t == "--":
			return i + 1
		case len(t) < 2 || t[0] != '-':
			return i
		case strings.HasPrefix(t, "--"):
			for _, l := range long {
				if t == l {
					i++
					break
				}
			}
		case strings.IndexByte(values, t[len(t)-1]) >= 0 && (len(t) == 2 || noneOf(t[1:len(t)-1], values)):
			// -u name, and -Hu name; -uname carries its own value.
			i++
		}
	}
	return len(args)
}

func noneOf(s, set string) bool { return !strings.ContainsAny(s, set) }

func isAssignment(s string) bool {
	i := strings.IndexByte(s, '=')
	if i <= 0 {
		return false
	}
	for j := 0; j < i; j++ {
		ch := s[j]
		if ch != '_' && (ch < '0' || ch > '9' || j == 0) && (ch < 'A' || ch > 'Z') && (ch < 'a' || ch > 'z') {
			return false
		}
	}
	return true
}

func joinText(ws []Word) string {
	parts := make([]string, len(ws))
	for i, a := range ws {
		parts[i] = a.Text
	}
	return strings.Join(parts, " ")
}

// walkShell handles a shell program: -c text, text on stdin, or a script file.
func (w *walker) walkShell(name string, run Run, c inherited) {
	args := run.Argv[1:]
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if len(t) < 2 || (t[0] != '-' && t[0] != '+') {
			break
		}
		if t == "-O" || t == "--rcfile" || t == "--init-file" || strings.HasSuffix(t, "o") && t[1] != '-' && !strings.ContainsRune(t, 'c') {
			i++ // -o pipefail, -euo pipefail
			continue
		}
		long := strings.HasPrefix(t, "--") && t != "--command"
		if long || (!strings.ContainsRune(t, 'c') && t != "--command") {
			continue
		}
		// The text is the first word behind the options.
		j := i + 1
		for j < len(args) && len(args[j].Text) > 1 && (args[j].Text[0] == '-' || args[j].Text[0] == '+') {
			if args[j].Text == "-o" {
				j++
			}
			j++
		}
		if j >= len(args) {
			break
		}
		if args[j].Dynamic {
			w.recordRun(run, c) // so that a rule sees where the text came from
		}
		w.withPositional(args[j+1:], func() { w.walkText(args[j].Text, c.withVia(name+" -c")) })
		return
	}
	w.recordRun(run, c)
	if len(w.out.Runs) == 0 {
		return
	}
	for _, a := range args {
		if !strings.HasPrefix(a.Text, "-") && a.Text != "/dev/stdin" {
			w.walkKnownFile(a, c, name)
			return
		}
	}
	if text, ok := w.stdinOf(&w.out.Runs[len(w.out.Runs)-1], 0); ok {
		c.from, c.input, c.hasInput = Span{}, Word{}, false
		w.walkText(text, c.withVia(name))
	}
}

// withPositional sets $0, $1 … for the text of sh -c 'text' a b.
func (w *walker) withPositional(args []Word, f func()) {
	saved := w.dropPositional()
	dirs := w.dirs
	for i, a := range args {
		if i < 10 {
			w.setValue(positional[i], a)
		}
	}
	if len(args) > 1 {
		w.setList("@", args[1:])
		w.setList("*", args[1:])
	}
	f()
	w.dirs = dirs
	w.restorePositional(saved)
}

// matchesProgram reports whether a glob as program word can mean name.
func matchesProgram(pattern Word, name string) bool {
	if !pattern.Glob {
		return false
	}
	ok, err := path.Match(baseName(pattern.Text), name)
	return err == nil && ok
}

// MayBe reports whether the program word can be name: equal, or a pattern such
// as /bin/r? that matches it.
func (r *Run) MayBe(name string) bool {
	if len(r.Argv) == 0 {
		return false
	}
	return r.Name() == name || matchesProgram(r.Argv[0], name)
}
