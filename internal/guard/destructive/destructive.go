// Package destructive is the guard against commands that lose data or break a
// machine or a service.
package destructive

import (
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/shell"
)

// Rules are the rules of this guard.
var Rules = []inspect.RuleInfo{
	{ID: "destructive.rm-broad",
		What: "recursive delete of the root, a home, a system directory, the whole project or its history"},
	{ID: "destructive.rm-outside", What: "recursive delete outside the project and temp folders"},
	{ID: "destructive.rm-dynamic", What: "recursive delete that hits / if a variable is empty"},
	{ID: "destructive.rm-system", What: "delete of files in system directories"},
	{ID: "destructive.find-delete", What: "find -delete or -exec rm over a broad or unfiltered tree"},
	{ID: "destructive.disk", What: "disk, partition and volume tools, raw writes to devices"},
	{ID: "destructive.git-force-push", What: "forced or mirrored push, delete of a protected remote branch"},
	{
		ID:   "destructive.git-history",
		What: "loss of commits: filter-branch, reflog expire, stash drop, branch -D of a shared branch or a list …",
	},
	{ID: "destructive.git-discard", What: "loss of uncommitted work: reset --hard, clean -f, checkout -- ."},
	{ID: "destructive.permissions", What: "recursive or world-writable chmod, chown on broad targets"},
	{ID: "destructive.fork-bomb", What: "fork bombs"},
	{ID: "destructive.pipe-to-shell", What: "text from the network or a decoder run as a program"},
	{ID: "destructive.cluster", What: "deletes in Kubernetes and Helm"},
	{ID: "destructive.infra", What: "terraform, pulumi, cdk … destroy; platform apps removed"},
	{ID: "destructive.cloud", What: "deletes through cloud command lines"},
	{ID: "destructive.containers", What: "docker volumes, and prunes of everything"},
	{ID: "destructive.database", What: "drops, truncates and unfiltered deletes of databases"},
	{ID: "destructive.tool", What: "what your own descriptions of programs say deletes or deploys"},
	{ID: "destructive.overwrite", What: "important files emptied, overwritten or moved away"},
	{ID: "destructive.system", What: "shutdown, kill everything, users, firewall, vital services and packages"},
	{ID: "destructive.remote", What: "repositories, releases and published packages deleted"},
	{ID: "destructive.code", What: "program text on the command line that deletes broad paths"},
	{ID: "destructive.unreadable", What: "a command that cannot be read in full and names dangerous programs"},
}

// rule looks at one run. Rules are found by program name.
type rule func(x *scope, r *shell.Run)

// scope is what the rules of one command work with.
type scope struct{ *inspect.Scope }

// ResolveWord is where a word points, links followed: those on the disk, and those that
// this very command makes. What is done to a link itself is not done to where it leads.
func (x *scope) ResolveWord(w shell.Word, r *shell.Run) inspect.Place {
	p := x.Scope.ResolveWord(w, r)
	if !p.Known || r == nil || r.Contained || r.Remote || w.Glob && !p.All {
		return p
	}
	enters := p.All || strings.HasSuffix(w.Text, "/") || strings.HasSuffix(w.Text, "/.") ||
		inspect.HasWord(r.Args()[:min(1, len(r.Args()))], "-L", "-H")
	to, linked := x.LinkTarget(p.Path)
	if !linked || !enters {
		to, linked = x.RealPath(p.Path, enters)
	}
	if !linked {
		return p
	}
	// The project itself may be reached by a link.
	if project, ok := x.RealPath(x.Project, true); ok && inspect.IsUnder(to, project) {
		return p
	}
	real := p
	real.Path = to
	if x.WhyBroad(real) == inspect.NotBroad && !(x.IsOutside(real) && inspect.IsUnder(to, x.Home)) {
		return p
	}
	return real
}

var (
	setupOnce sync.Once
	ruleTable map[string]rule
	needles   *inspect.Needles
)

// Checker checks commands against the rules of this package.
type Checker struct{}

// New makes a checker. All checkers share one table of rules.
func New() Checker {
	setupOnce.Do(setUpTable)
	return Checker{}
}

// MustParse reports whether a command names something that has a rule.
func (Checker) MustParse(command string) bool { return needles.MustParse(command) }

// WatchesFolder has nothing to add: what deletes is named in the command.
func (Checker) WatchesFolder(string) bool { return false }

// CheckPaths has nothing to say: file tools lose no more than one file.
func (Checker) CheckPaths(*inspect.Scope, inspect.InputPaths) {}

// CheckScript reports what a command would destroy.
func (Checker) CheckScript(s *inspect.Scope) { checkScript(&scope{s}) }

func setUpTable() {
	t := map[string]rule{}
	add := func(f rule, names ...string) {
		for _, n := range names {
			t[n] = f
		}
	}
	add(rmRule, "rm", "grm", "rimraf", "srm", "del-cli", "trash", "trash-put", "rmtrash", "unlink",
		"gvfs-trash", "gvfs-rm")
	add(desktopFileRule, "gio", "kioclient", "kioclient5", "kioclient6")
	add(findRule, "find", "gfind", "fd", "fdfind")
	add(permissionRule, "chmod", "gchmod", "chown", "gchown", "chgrp", "setfacl", "chattr", "chflags")
	add(ddRule, "dd", "gdd", "dcfldd", "ddrescue")
	add(shredRule, "shred", "gshred", "wipe", "scrub")
	add(deviceRule, "mke2fs", "mkswap", "newfs", "wipefs", "blkdiscard", "badblocks", "fdisk", "gdisk", "sgdisk",
		"cfdisk", "sfdisk", "parted", "hdparm", "nvme")
	add(volumeRule, "diskutil", "gpart", "lvremove", "vgremove", "pvremove", "zpool", "zfs", "btrfs", "mdadm",
		"cryptsetup", "vssadmin", "tmutil", "nvram", "csrutil")
	add(gitRule, "git")
	add(historyToolRule, "bfg", "git-filter-repo", "git-filter-branch")
	add(clusterRule, "kubectl", "oc", "k", "helm", "eksctl", "kops", "argocd", "flux", "nomad", "velero")
	add(infraRule, "terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf", "serverless", "sls", "sam", "vagrant",
		"sst", "amplify", "copilot",
		"vercel", "netlify", "heroku", "fly", "flyctl", "railway", "firebase", "wrangler", "supabase", "prisma")
	add(cloudRule, "aws", "gcloud", "gsutil", "bq", "az", "doctl", "oci", "ibmcloud", "linode-cli", "hcloud", "rclone",
		"mc", "s3cmd", "aliyun", "scw", "exo")
	add(containerRule, "docker", "podman", "nerdctl", "docker-compose")
	add(databaseRule, "psql", "mysql", "mariadb", "sqlite3", "mongo", "mongosh", "redis-cli", "valkey-cli",
		"clickhouse-client", "sqlcmd", "cockroach", "cqlsh",
		"dropdb", "mysqladmin", "duckdb", "usql", "pgcli", "mycli", "rails", "rake", "artisan", "php", "mix", "alembic",
		"sequelize", "influx", "dropuser",
		"knex", "typeorm", "drizzle-kit", "flyway", "liquibase", "python", "python3", "trino", "snowsql", "curl")
	add(overwriteRule, "mv", "gmv", "cp", "gcp", "tee", "truncate", "gtruncate", "ln", "rsync", "install")
	add(systemRule, "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service", "kill",
		"killall", "killall5", "pkill", "crontab",
		"userdel", "deluser", "groupdel", "iptables", "ip6tables", "nft", "ufw", "umount", "ip", "ifconfig", "nmcli",
		"apt",
		"apt-get", "yum", "dnf", "pacman", "rpm",
		"dpkg", "launchctl", "swapoff", "rmmod", "loginctl", "spctl", "dscl", "pmset", "wsl", "apk", "zypper", "brew",
		"chpasswd", "usermod", "passwd", "stress", "stress-ng")
	add(storeRule, programs.With(func(p *programs.Program) bool { return len(p.Does[programs.LosesData]) > 0 })...)
	add(ansibleRule, "ansible")
	add(windowsRule, "rd", "rmdir", "del", "erase", "format")
	add(unpackRule, "tar", "bsdtar", "unzip", "cpio", "bsdcpio", "patch", "gpatch")
	add(cmdletRule, "remove-item", "ri", "format-volume", "clear-disk", "stop-computer", "restart-computer")
	add(archiveMoveRule, "zip")
	add(powershellRule, "pwsh", "powershell", "pwsh-preview", "powershell.exe")
	add(remoteRule, "npm", "pnpm", "yarn", "gh", "glab", "gem", "cargo", "nuget", "dotnet", "vsce", "twine", "lerna",
		"hub")
	ruleTable = t

	words := []string{"mkfs", "/dev/", "/proc/", "curl", "wget", "base64", "xxd", "fork", "rmtree", "unlink", "rmsync",
		"rmdirsync", "remove_tree", "rm_rf",
		"manage.py", ":(", "() {", "(){", "eval", "source", "openssl", "npx", ">|", "/dev/sd", "system(", "exec",
		"remove-item", "format", "xargs",
		"> .env", ">.env", "tfstate",
		"> ~", ">~", ">/", "> /", "> .git", ">.git", "truncate", "drop ", "flush", "bash <", "sh <", "|sh", "| sh",
		"|bash",
		"| bash", "|zsh", "| zsh", "| sudo", "nc", "rev", ">(", "make", "os.remove",
		"file.delete", "gdb", "lldb", "sed", "su ", "delete", "removeitem",
		"recursive=true", "deletedir", "emacs", "vim", "remove_dir", "remove_entry"}
	for n := range t {
		words = append(words, n)
	}
	needles = inspect.NewNeedles(true, words...)
}

func checkScript(x *scope) {
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		redirectRule(x, r)
		if len(r.Argv) == 0 {
			continue
		}
		forkRule(x, r)
		if r.Local {
			continue
		}
		codeRule(x, r)
		toolRule(x, r)
		name := r.Name()
		if f, ok := ruleTable[name]; ok {
			f(x, r)
			continue
		}
		if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs_") {
			deviceRule(x, r)
			continue
		}
		if r.Argv[0].Glob || r.Argv[0].Dynamic {
			hiddenProgram(x, r)
		}
	}
	for _, h := range x.HostRuns() {
		redirectRule(x, h)
		if f, ok := ruleTable[h.Name()]; ok {
			f(x, h)
		}
	}
	for _, f := range x.ForeignPrograms() {
		if f.Origin != inspect.Binary {
			x.Report.Add("pipe-to-shell", f.Run.String(), f.Reason)
		}
	}
}

// hiddenProgram judges a run whose program is not literal. A pattern is taken for what
// it can match; an unknown word is taken for rm if its arguments look like rm's.
func hiddenProgram(x *scope, r *shell.Run) {
	if r.Argv[0].Glob {
		for _, n := range [...]string{"rm", "dd", "shred", "chmod", "chown", "find", "git", "mv", "shutdown",
			"reboot"} {
			if r.MayBe(n) {
				ruleTable[n](x, r)
			}
		}
		return
	}
	flags, _ := inspect.SplitFlags(r.Args())
	if inspect.HasShort(flags, 'r', 'R') && inspect.HasShort(flags, 'f') {
		rmRule(x, r)
	}
}
