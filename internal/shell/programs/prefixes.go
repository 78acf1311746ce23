// Package programs holds what is known about programs that run other programs:
// which of their words are a command, and which are options. It is tables only;
// internal/shell walks.
package programs

import (
	"maps"
	"strings"
	"sync"
)

// Prefix describes a program that runs the command written behind its own
// options. Values lists the short options that take a separate argument, Long
// the long ones; Skip counts positional arguments before the command.
type Prefix struct {
	Values  string
	Long    []string
	Skip    int
	Assigns bool   // NAME=value may stand before the command
	Joins   bool   // the command words are joined and given to a shell
	Keep    bool   // the wrapper is worth a run of its own, too
	Contain bool   // the command runs in a container
	Need    string // the word behind which the command stands; several are divided by a blank
	// Unskipped says that where options stand, no positional argument does before the
	// command.
	Unskipped bool
}

// Prefixes are programs that run the command behind their own options.
var Prefixes = sync.OnceValue(func() map[string]Prefix {
	table := map[string]Prefix{
		"sudo": {Values: "ugpChrtTUDR", Long: []string{"--user", "--group", "--prompt", "--chdir", "--host", "--role",
			"--type", "--close-from", "--chroot"}, Assigns: true},
		"doas":  {Values: "uC"},
		"env":   {Values: "uCSP", Long: []string{"--unset", "--chdir", "--split-string"}, Assigns: true},
		"nohup": {}, "builtin": {}, "command": {}, "exec": {Values: "a"}, "time": {Values: "fo",
			Long: []string{"--format",
				"--output"}},
		"gtime": {Values: "fo"}, "timeout": {Values: "ks", Long: []string{"--kill-after", "--signal"}, Skip: 1},
		"gtimeout": {Values: "ks", Skip: 1}, "nice": {Values: "n", Long: []string{"--adjustment"}},
		"ionice": {Values: "cnpPu", Long: []string{"--class", "--classdata"}}, "chrt": {Values: "TPD", Skip: 1,
			Keep: true},
		"stdbuf": {Values: "ioe", Long: []string{"--input", "--output", "--error"}}, "setsid": {}, "unbuffer": {},
		"caffeinate": {
			Values: "tw",
		}, "strace": {Values: "oepEsPuIaSX", Long: []string{"--attach", "--output", "--trace", "--inject"},
			Keep: true},
		"ltrace": {Values: "oepsua", Keep: true},
		"watch":  {Values: "n", Long: []string{"--interval"}, Joins: true}, "busybox": {}, "toybox": {},
		"chroot": {Long: []string{"--userspec", "--groups"}, Skip: 1, Contain: true}, "unshare": {Values: "SGRw"},
		"nsenter": {Values: "tSGTr", Long: []string{"--target"}}, "flock": {Values: "wE", Skip: 1, Keep: true},
		"systemd-run": {Values: "pHMEtu", Long: []string{"--unit", "--property", "--setenv", "--slice", "--uid",
			"--gid",
			"--on-active", "--on-calendar", "--on-boot", "--on-startup", "--on-unit-active", "--working-directory",
			"--description", "--timer-property", "--machine", "--host", "--nice", "--service-type"}, Keep: true},
		"torsocks": {}, "proxychains": {Values: "f"}, "proxychains4": {Values: "f"}, "dbus-run-session": {},
		"taskset": {Skip: 1, Keep: true}, "numactl": {Values: "CNmip"}, "firejail": {Keep: true}, "fakeroot": {Values: "lsib"},
		"faketime": {Values: "f", Skip: 1},
		"setarch":  {Skip: 1, Unskipped: true}, "linux64": {}, "linux32": {}, "catchsegv": {},
		"rlwrap": {Values: "abcfHlpPs"}, "prlimit": {Values: "po", Long: []string{"--pid", "--output"}, Keep: true},
		"noglob": {}, "nocorrect": {}, "-": {}, "then": {}, "do": {},
		"sem": {Values: "j"}, "chpst": {Values: "uUbemdoprft/"},
		"pkexec": {Long: []string{"--user"}}, "gosu": {Skip: 1}, "su-exec": {Skip: 1},
		"setpriv": {Long: []string{"--reuid",
			"--regid", "--groups"}},
		"hyperfine": {Values: "wmMrpcnSsu", Joins: true, Long: []string{"--warmup", "--runs", "--prepare"}},
		"shx":       {}, "cross-env": {Assigns: true},
		"rtk": {}, "sshpass": {Values: "fdpP"}, "dropbearmulti": {}, "cpulimit": {Values: "lpec",
			Long: []string{"--limit",
				"--pid", "--exe", "--cpu"}, Keep: true},
		"npx": {
			Values: "pc",
			Long:   []string{"--package", "--call"},
			Keep:   true,
		}, "bunx": {Keep: true}, "pnpx": {Keep: true},
		"uvx": {Values: "p", Keep: true},
	}
	addRunners(table)
	return table
})

// Loader runs the program that is named behind its options, as the dynamic
// linker of Linux does when it is called like a program.
var Loader = Prefix{Long: []string{"--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath",
	"--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"}}

// IsLoader reports whether a program of this base name is a dynamic linker:
// ld-linux-x86-64.so.2, ld-musl-aarch64.so.1, ld-2.31.so, ld.so.
func IsLoader(name string) bool {
	return name == "ld.so" || strings.Contains(name, ".so") &&
		(strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld64.so"))
}

// startsShell are programs that start a shell where no command is given: it then
// reads its commands from standard input.
var startsShell = map[string]bool{"unshare": true, "nsenter": true, "chroot": true, "newgrp": true,
	"firejail": true, "fakeroot": true, "setarch": true, "linux64": true, "linux32": true, "doas": true}

// StartsShell reports whether a program of this base name starts a shell where no
// command is given.
func StartsShell(name string) bool { return startsShell[name] }

// Subcommands are programs whose command stands behind one of their verbs.
var Subcommands = sync.OnceValue(func() map[string]map[string]Prefix {
	table := map[string]map[string]Prefix{
		"docker":         ContainerVerbs,
		"podman":         ContainerVerbs,
		"nerdctl":        ContainerVerbs,
		"docker-compose": ComposeVerbs,
		"crictl":         {"exec": {Values: "e", Skip: 1, Contain: true, Keep: true}},
		"kubectl": {"exec": {Values: "ncf", Need: "--", Skip: 1, Contain: true, Keep: true},
			"debug": {Need: "--", Contain: true, Keep: true}},
		"oc": {"exec": {Values: "ncf", Need: "--", Skip: 1, Contain: true, Keep: true}, "rsh": {Values: "ncf",
			Need: "--", Skip: 1, Contain: true, Keep: true}},
		"pnpm": {"exec": {Values: "C", Keep: true}, "dlx": {Keep: true}, "env": {Need: "--", Keep: true}},
		"yarn": {"exec": {Keep: true}, "dlx": {Values: "p", Keep: true}, "env": {Keep: true}},
		"npm":  {"exec": {Values: "p", Keep: true}, "x": {Values: "p", Keep: true}, "env": {Need: "--", Keep: true}},
		"bun":  {"x": {Keep: true}, "exec": {Joins: true, Keep: true}},
		"uv": {"run": {Values: "p", Long: []string{"--with", "--python", "--extra", "--group", "--project",
			"--directory", "--env-file"}, Keep: true}},
		"poetry": {"run": {Keep: true}}, "pipenv": {"run": {Keep: true}}, "pdm": {"run": {Keep: true}},
		"hatch": {"run": {Keep: true}},
		"rye":   {"run": {Keep: true}}, "bundle": {"exec": {Keep: true}}, "mise": {"exec": {Need: "--", Keep: true},
			"x": {Need: "--", Keep: true}},
		"asdf": {"exec": {Keep: true}}, "direnv": {"exec": {Skip: 1, Keep: true}},
		"nix": {"develop": {Need: "-c --command",
			Keep: true}, "shell": {Need: "-c --command", Keep: true}},
		"conda": {"run": {Values: "np", Keep: true}}, "devcontainer": {"exec": {Long: []string{"--workspace-folder",
			"--container-id"}, Contain: true, Keep: true}},
		"adb": {"shell": {Joins: true, Contain: true, Keep: true}}, "wsl": wslVerbs, "wsl.exe": wslVerbs,
		"doppler": {"run": {Need: "--", Keep: true}}, "op": {"run": {Need: "--", Keep: true}},
		"aws-vault": {"exec": {Need: "--", Keep: true}},
	}
	maps.Copy(table, moreVerbs)
	return table
})

var wslVerbs = map[string]Prefix{"-e": {}, "--exec": {}, "--": {}}

// ContainerVerbs are the verbs of docker and its like that run a command.
var ContainerVerbs = map[string]Prefix{
	"exec": {Values: "uwe", Long: []string{"--user", "--workdir", "--env", "--env-file", "--detach-keys"}, Skip: 1,
		Contain: true, Keep: true},
	"run": {Values: "vepuwhlmac", Long: []string{"--name", "--volume", "--env", "--env-file", "--publish", "--user",
		"--workdir", "--entrypoint", "--network", "--net",
		"--mount", "--platform", "--label", "--memory", "--cpus", "--hostname", "--add-host", "--gpus", "--shm-size",
		"--restart", "--cap-add", "--device", "--tmpfs", "--pull"},
		Skip: 1, Contain: true, Keep: true},
}

// ComposeVerbs are the verbs of docker compose that run a command.
var ComposeVerbs = map[string]Prefix{
	"exec": {
		Values:  "uwe",
		Long:    []string{"--user", "--workdir", "--env", "--index"},
		Skip:    1,
		Contain: true,
		Keep:    true,
	},
	"run": {Values: "uwevp", Long: []string{"--user", "--workdir", "--env", "--name", "--entrypoint", "--volume"},
		Skip: 1, Contain: true, Keep: true},
}

var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "mksh": true, "fish": true,
	"rbash": true, "csh": true, "tcsh": true, "yash": true, "ksh93": true, "busybox-sh": true, "oksh": true,
	"pdksh": true,
	"mrsh":  true, "brush": true, "hush": true, "lksh": true, "posh": true, "bosh": true, "loksh": true, "rksh": true,
	"rzsh": true, "bash5": true, "bash.exe": true, "sh.exe": true,
}

// IsShell reports whether a program of this base name runs shell text.
func IsShell(name string) bool { return shells[name] }

// XargsLong and ParallelLong are the long options of xargs and parallel that take
// a value.
var (
	XargsLong = []string{"--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars", "--max-lines",
		"--process-slot-var"}
	ParallelLong = []string{"--jobs", "--max-args", "--delay", "--timeout", "--colsep", "--joblog", "--arg-file",
		"--tmpdir", "--results", "--sshlogin", "--workdir", "--retries", "--block"}
)
