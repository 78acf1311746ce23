package guard

import (
	"sync"

	"github.com/hookmux/hookmux/internal/shell"
)

var destructiveRules = []RuleInfo{
	{"destructive.rm-broad", "recursive delete of the root, a home, a system directory, the whole project or its history"},
	{"destructive.rm-outside", "recursive delete outside the project and outside scratch places"},
	{"destructive.rm-dynamic", "recursive delete whose target becomes a root when a variable is empty"},
	{"destructive.rm-system", "delete of files in system directories"},
	{"destructive.find-delete", "find -delete or -exec rm over a broad or unfiltered tree"},
	{"destructive.disk", "disk, partition and volume tools, raw writes to devices"},
	{"destructive.git-force-push", "forced or mirrored push, delete of a protected remote branch"},
	{"destructive.git-history", "loss of commits: filter-branch, reflog expire, branch -D, stash drop …"},
	{"destructive.git-discard", "loss of uncommitted work: reset --hard, clean -f, checkout -- ."},
	{"destructive.permissions", "recursive or world-writable chmod, chown on broad targets"},
	{"destructive.fork-bomb", "a program that starts itself without end"},
	{"destructive.pipe-to-shell", "text from the network or a decoder run as a program"},
	{"destructive.cluster", "deletes in Kubernetes and Helm"},
	{"destructive.infra", "terraform, pulumi, cdk … destroy; platform apps removed"},
	{"destructive.cloud", "deletes through cloud command lines"},
	{"destructive.containers", "docker volumes and everything-prunes"},
	{"destructive.database", "drops, truncates and unfiltered deletes of databases"},
	{"destructive.overwrite", "important files emptied, overwritten or moved away"},
	{"destructive.system", "shutdown, kill everything, users, firewall, vital services and packages"},
	{"destructive.remote", "repositories, releases and published packages deleted"},
	{"destructive.code", "program text on the command line that deletes broad paths"},
	{"destructive.unreadable", "a command that cannot be read in full and names dangerous programs"},
}

// rule looks at one run. Rules are found by program name.
type rule func(x *env, r *shell.Run)

var (
	destructiveOnce  sync.Once
	destructiveTable map[string]rule
	destructivePre   *needles
)

func destructiveSetup() {
	t := map[string]rule{}
	add := func(f rule, names ...string) {
		for _, n := range names {
			t[n] = f
		}
	}
	add(rmRule, "rm", "grm", "rimraf", "srm", "del-cli", "trash", "trash-put", "rmtrash", "unlink")
	add(findRule, "find", "gfind", "fd", "fdfind")
	add(permissionRule, "chmod", "gchmod", "chown", "gchown", "chgrp", "setfacl", "chattr", "chflags")
	add(ddRule, "dd", "gdd", "dcfldd", "ddrescue")
	add(shredRule, "shred", "gshred", "wipe", "scrub")
	add(deviceRule, "mke2fs", "mkswap", "newfs", "wipefs", "blkdiscard", "badblocks", "fdisk", "gdisk", "sgdisk", "cfdisk", "sfdisk", "parted", "hdparm", "nvme")
	add(volumeRule, "diskutil", "lvremove", "vgremove", "pvremove", "zpool", "zfs", "btrfs", "mdadm", "cryptsetup", "vssadmin", "tmutil", "nvram", "csrutil")
	add(gitRule, "git")
	add(historyToolRule, "bfg", "git-filter-repo", "git-filter-branch")
	add(clusterRule, "kubectl", "oc", "k", "helm", "eksctl", "kops", "argocd", "flux", "nomad", "velero")
	add(infraRule, "terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf", "serverless", "sls", "sam", "vagrant", "sst", "amplify", "copilot",
		"vercel", "netlify", "heroku", "fly", "flyctl", "railway", "firebase", "wrangler", "supabase", "prisma", "ansible")
	add(cloudRule, "aws", "gcloud", "gsutil", "bq", "az", "doctl", "oci", "ibmcloud", "linode-cli", "hcloud", "rclone", "mc", "s3cmd", "aliyun", "scw", "exo")
	add(containerRule, "docker", "podman", "nerdctl", "docker-compose")
	add(databaseRule, "psql", "mysql", "mariadb", "sqlite3", "mongo", "mongosh", "redis-cli", "valkey-cli", "clickhouse-client", "sqlcmd", "cockroach", "cqlsh",
		"dropdb", "mysqladmin", "duckdb", "usql", "pgcli", "mycli", "rails", "rake", "artisan", "php", "mix", "alembic", "sequelize", "influx", "dropuser",
		"knex", "typeorm", "drizzle-kit", "flyway", "liquibase", "python", "python3", "trino", "snowsql", "curl")
	add(overwriteRule, "mv", "gmv", "cp", "gcp", "tee", "truncate", "gtruncate", "ln", "rsync", "install")
	add(systemRule, "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service", "kill", "killall", "killall5", "pkill", "crontab",
		"userdel", "deluser", "groupdel", "iptables", "ip6tables", "nft", "ufw", "umount", "ip", "ifconfig", "nmcli", "apt", "apt-get", "yum", "dnf", "pacman", "rpm",
		"dpkg", "launchctl", "swapoff", "rmmod", "loginctl", "spctl", "dscl", "pmset", "wsl", "apk", "zypper", "brew", "chpasswd", "usermod", "passwd")
	add(unpackRule, "tar", "bsdtar", "unzip")
	add(powershellRule, "pwsh", "powershell", "pwsh-preview", "powershell.exe")
	add(remoteRule, "npm", "pnpm", "yarn", "gh", "glab", "gem", "cargo", "nuget", "dotnet", "vsce", "twine", "lerna", "hub")
	destructiveTable = t

	words := []string{"mkfs", "/dev/", "/proc/", "curl", "wget", "base64", "xxd", "fork", "rmtree", "unlink", "rmsync", "rmdirsync", "remove_tree", "rm_rf",
		"manage.py", ":(", "() {", "(){", "eval", "source", "openssl", "npx", ">|", "/dev/sd", "system(", "exec", "remove-item", "format", "xargs",
		"> ~", ">~", ">/", "> /", "> .git", ">.git", "truncate", "drop ", "flush", "bash <", "sh <", "|sh", "| sh", "|bash", "| bash", "|zsh", "| zsh", "| sudo", "nc", "rev", ">(", "make", "gdb", "lldb", "sed", "su "}
	for n := range t {
		words = append(words, n)
	}
	destructivePre = newNeedles(true, words...)
}

func destructiveNeedles() *needles {
	destructiveOnce.Do(destructiveSetup)
	return destructivePre
}

func destructive(x *env) {
	for i := range x.script.Runs {
		r := &x.script.Runs[i]
		redirectRule(x, r)
		fetchedProgram(x, r)
		if len(r.Argv) == 0 {
			continue
		}
		forkRule(x, r)
		if r.Local {
			continue
		}
		codeRule(x, r)
		name := r.Name()
		if f, ok := destructiveTable[name]; ok {
			f(x, r)
			continue
		}
		if len(name) > 4 && name[:4] == "mkfs" || name == "mkfs" || len(name) > 6 && name[:6] == "newfs_" {
			deviceRule(x, r)
			continue
		}
		if r.Argv[0].Glob || r.Argv[0].Dynamic {
			hiddenProgram(x, r)
		}
	}
	for _, h := range x.hostRuns() {
		redirectRule(x, h)
		if f, ok := destructiveTable[h.Name()]; ok {
			f(x, h)
		}
	}
	downloadedScript(x)
}

// hiddenProgram: the program is not literal. A pattern is taken for what it can
// match; an unknown word is taken for rm if its arguments look like rm's.
func hiddenProgram(x *env, r *shell.Run) {
	if r.Argv[0].Glob {
		for _, n := range [...]string{"rm", "dd", "shred", "chmod", "chown", "find", "git", "mv", "shutdown", "reboot"} {
			if r.MayBe(n) {
				destructiveTable[n](x, r)
			}
		}
		return
	}
	flags, _ := splitFlags(r.Args())
	if hasShort(flags, 'r', 'R') && hasShort(flags, 'f') {
		rmRule(x, r)
	}
}
