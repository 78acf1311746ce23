package programs

import (
	"maps"
	"strings"
)

// More programs that run what stands behind them: those that change the rights, the
// limits, the environment, the version of a language or the place of a command.

// plainPrefixes take no option with a value of its own.
var plainPrefixes = []string{"arch", "i386", "x86_64", "chronic", "ts", "tsp", "eatmydata", "ccache",
	"sccache", "distcc", "nocache", "torify", "tsocks", "usewithtor", "multitime", "run-one", "run-this-one",
	"run-one-constantly", "keep-one-running", "tini", "dumb-init", "catatonit", "xdg-terminal-exec", "gksudo", "gksu",
	"kdesudo", "kdesu", "lxqt-sudo", "beesu", "sudo-rs", "please", "gsudo", "ifne", "nlx",
	"bear", "intercept-build", "scan-build", "execlineb", "foreground", "background",
	"viddy", "hwatch", "qemu-x86_64", "qemu-aarch64", "box64", "wine", "wine64", "nsjail", "minijail0",
	"isolate", "coproc", "retry",
	"autoexpect", "uftrace", "memusage", "sotruss", "latrace", "apitrace"}

// morePrefixes take options with values, or words in front of the command.
var morePrefixes = map[string]Prefix{
	"setuidgid": {Skip: 1}, "envuidgid": {Skip: 1}, "envdir": {Skip: 1}, "setlock": {Skip: 1},
	"softlimit":    {Values: "adfhlmoprst"},
	"s6-setuidgid": {Skip: 1}, "s6-envdir": {Skip: 1}, "s6-softlimit": {Values: "adfhlmoprst"},
	"s6-setlock": {Skip: 1},
	"pgrphack":   {}, "fghack": {}, "cgexec": {Values: "g"}, "aa-exec": {Values: "p", Long: []string{"--profile",
		"--namespace"}}, "runcon": {Values: "tulr", Long: []string{"--type", "--user", "--level", "--role"},
		Skip: 1, Unskipped: true},
	"sandbox-exec": {Values: "fpnD"}, "schedtool": {Values: "naM"}, "trickle": {Values: "duwtlnpP"},
	"lockf": {Values: "t",
		Skip: 1}, "lockrun": {Long: []string{"--lockfile"}}, "shlock": {Values: "fp"}, "with-lock-ex": {Skip: 1},
	"envchain": {Skip: 1}, "env-cmd": {Values: "fer", Long: []string{"--file", "--environments", "--rc-file"}},
	"dotenv": {Values: "evfp", Long: []string{"--env", "--file"}, Assigns: true}, "wait-for-it": {Need: "--"},
	"wait-for-it.sh": {Need: "--"}, "wait-for": {Need: "--"}, "dockerize": {Long: []string{"-wait", "-timeout",
		"-template",
		"-stdout", "-stderr", "-poll", "-wait-retry-interval"}}, "onchange": {Need: "--"}, "reflex": {Need: "--"},
	"cross-env-shell": {Assigns: true, Joins: true}, "summon": {Values: "pfD", Long: []string{"--provider"}},
	"envconsul": {Long: []string{"-prefix", "-secret", "-config", "-consul-addr", "-vault-addr", "-log-level"}},
	"apply":     {Values: "a"}, "py-spy": {Need: "--"}, "rr": {}, "lxc-attach": {Need: "--", Contain: true,
		Keep: true},
	"lxc-execute": {Need: "--", Contain: true, Keep: true}, "lxc-unshare": {Need: "--"}, "chruby-exec": {Need: "--"},
	"sux": {Skip: 1}, "xinit": {}, "startx": {}, "dtruss": {Values: "ptn"},
	"ktrace": {Values: "ftp"}, "truss": {Values: "ospS"},
}

// moreVerbs have their command behind one of their verbs.
var moreVerbs = map[string]map[string]Prefix{
	"dotenvx":   {"run": {Values: "f", Long: []string{"--env-file", "--env"}, Keep: true}},
	"infisical": behindDashes("run"),
	"chamber":   {"exec": {Need: "--", Skip: 1, Keep: true}}, "teller": {"run": {Need: "--", Keep: true}},
	"saml2aws": behindDashes("exec"), "berglas": behindDashes("exec"), "vaulted": behindDashes("exec", "--"),
	"foreman": {"run": {Values: "ef", Keep: true}}, "honcho": {"run": {Values: "ef", Keep: true}},
	"volta": {"run": {Long: []string{"--node", "--npm", "--yarn"}, Keep: true}},
	"fnm": {"exec": {Long: []string{"--using"},
		Keep: true}}, "nvm": {"exec": {Skip: 1, Keep: true}, "run": {Skip: 1, Keep: true}}, "n": {"exec": {Skip: 1,
		Keep: true}},
	"nodenv": verbOnly("exec"), "rbenv": verbOnly("exec"), "pyenv": verbOnly("exec"), "jenv": verbOnly("exec"),
	"plenv": verbOnly("exec"), "goenv": verbOnly("exec"), "phpenv": verbOnly("exec"), "tfenv": verbOnly("exec"),
	"rvm": {"do": {Keep: true}, "exec": {Keep: true}}, "pixi": {"run": {Values: "e", Long: []string{"--environment",
		"--manifest-path"}, Keep: true}, "exec": {Values: "s", Keep: true}},
	"mamba": {"run": {Values: "np", Keep: true}}, "micromamba": {"run": {Values: "nprv", Keep: true}},
	"pipx": {"run": {Long: []string{"--spec", "--python"}, Keep: true}}, "composer": {"exec": {Need: "--", Skip: 0,
		Keep: true}},
	"lerna": {"exec": {Need: "--", Keep: true}}, "nx": {"exec": {Need: "--", Keep: true}},
	"rush":  {"exec": {Keep: true}},
	"turbo": {"exec": {Need: "--", Keep: true}}, "nomad": {"exec": {Values: "e", Skip: 1, Contain: true, Keep: true}},
	"consul":  {"exec": {Keep: true, Joins: true}, "lock": {Skip: 1, Keep: true, Joins: true}},
	"etcdctl": {"exec-watch": {Need: "--", Keep: true}, "watch": {Need: "--", Keep: true}},
	"ip":      {"exec": {Skip: 1, Keep: true}}, "ctr": {"exec": {Long: []string{"--exec-id", "--user", "--cwd"},
		Skip:    1,
		Contain: true, Keep: true}}, "docker-machine": {"ssh": {Skip: 1, Joins: true, Keep: true}},
	"railway": verbOnly("run"), "cronitor": {"exec": {Skip: 1, Keep: true}}, "sentry-cli": {"run": {Need: "--",
		Keep: true}},
	"mprof": verbOnly("run"), "trace-cmd": verbOnly("record"), "meson": {"devenv": {Values: "C", Keep: true}},
	"guix":   {"shell": {Need: "--", Keep: true}, "environment": {Need: "--", Keep: true}},
	"devenv": {"shell": {Keep: true}},
	"spack":  {"build-env": {Need: "--", Keep: true}}, "toolbx": verbOnly("run"), "mr": {"run": {Keep: true}},
	"gita": {"shell": {Keep: true, Joins: true}}, "meta": {"exec": {Keep: true, Joins: true}},
	"sops": {"exec-env": {Skip: 1, Joins: true, Keep: true}, "exec-file": {Skip: 1, Joins: true,
		Keep: true}},
	"podman-compose": ComposeVerbs, "nerdctl-compose": ComposeVerbs, "finch": ContainerVerbs,
	"lando": {"ssh": {Values: "c"}},
	"ddev":  {"exec": {Values: "sd", Contain: true, Keep: true}}, "sail": {"exec": {Skip: 1, Contain: true,
		Keep: true}},
	"singularity": imageExec, "apptainer": imageExec, "udocker": imageExec, "charliecloud": imageExec,
	"okteto": {"exec": {Need: "--", Contain: true, Keep: true}}, "tilt": {"exec": {Need: "--", Keep: true}},
}

var imageExec = map[string]Prefix{"exec": {Values: "BHWo", Long: []string{"--bind", "--home", "--pwd", "--env",
	"--overlay"},
	Skip: 1, Contain: true, Keep: true}, "run": {Values: "BHWo", Skip: 1, Contain: true, Keep: true}}

func verbOnly(verb string) map[string]Prefix { return map[string]Prefix{verb: {Keep: true}} }

func behindDashes(verbs ...string) map[string]Prefix {
	m := map[string]Prefix{}
	for _, v := range verbs {
		m[v] = Prefix{Need: "--", Keep: true}
	}
	return m
}

// moreLaunchers are given a command line as text.
var moreLaunchers = map[string]Launcher{
	"just": {Rest: []string{"--command", "-c"}}, "chokidar": {Text: []string{"-c", "--command"}},
	"watchmedo": {Text: []string{"-c", "--command"}}, "watchman-make": {Text: []string{"--run"}},
	"cargo-watch": {Text: []string{"-s", "--shell"}}, "tsc-watch": {Text: []string{"--onSuccess", "--onFailure",
		"--onFirstSuccess", "--onCompilationComplete"}}, "ttyrec": {Text: []string{"-e"}},
	"when-changed": {Text: []string{
		"-c"}, Rest: []string{"-c"}}, "repo": {Verbs: []string{"forall"}, Text: []string{"-c"}, Rest: []string{"-c"}},
	"consul-template": {Text: []string{"-exec"}}, "et": {Text: []string{"-c", "--command"}, Remote: true},
	"runas": {Operands: true}, "psexec": {Operands: true, Skip: 1, Values: "upwn", Remote: true},
	"pee":     {Operands: true},
	"mispipe": {Operands: true}, "supervise": {Operands: true}, "pm2": {Verbs: []string{"start"},
		Rest:     []string{"--"},
		Operands: true, Long: []string{"--name", "--interpreter", "--cwd"}}, "forever": {Text: []string{"-c"}},
	"rc": {Text: []string{"-c"}}, "es": {Text: []string{"-c"}}, "ion": {Text: []string{"-c"}},
	"murex":  {Text: []string{"-c"}},
	"conemu": {Rest: []string{"-run", "/cmd"}}, "mintty": {Rest: []string{"-e", "--"},
		Operands: true}, "tabby": {Verbs: []string{"run"}, Operands: true}, "hyper": {Rest: []string{"-e"}},
	"waypipe": {Verbs: []string{"ssh"}, Operands: true, Skip: 1, Remote: true},
	"air":     {Text: []string{"--build.cmd", "--build.bin"}}, "ptw": {Text: []string{"--runner"}},
}

// addRunners puts them into the tables, where those do not know better.
func addRunners(prefixes map[string]Prefix) {
	for _, name := range plainPrefixes {
		if _, ok := prefixes[name]; !ok {
			prefixes[name] = Prefix{Keep: true}
		}
	}
	maps.Copy(prefixes, morePrefixes)
}

// entrypoints are the programs that well-known images start with the words they are
// given, by the last part of an image's name.
var entrypoints = map[string]string{
	"terraform": "terraform", "opentofu": "tofu", "tofu": "tofu", "aws-cli": "aws", "awscli": "aws",
	"kubectl": "kubectl",
	"helm":    "helm", "git": "git", "curl": "curl", "pulumi": "pulumi", "azure-cli": "az", "terragrunt": "terragrunt",
	"flyway": "flyway", "liquibase": "liquibase", "rclone": "rclone", "skopeo": "skopeo", "crane": "crane",
	"mc":    "mc",
	"vault": "vault", "flyctl": "flyctl", "doctl": "doctl", "migrate": "migrate", "atlas": "atlas",
	"dbmate": "dbmate",
	"gh":     "gh", "goreleaser": "goreleaser", "packer": "packer", "restic": "restic", "aws-nuke": "aws-nuke",
}

// EntrypointOf is the program that an image starts, "" when it is not known.
func EntrypointOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = image[strings.LastIndexByte(image, '/')+1:]
	image, _, _ = strings.Cut(image, ":")
	return entrypoints[image]
}
