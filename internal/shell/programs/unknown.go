package programs

import "sync"

// followed are programs that are looked for behind a program that nobody here knows:
// what they do depends on their words, so that naming one alone stops nothing.
var followed = sync.OnceValue(func() map[string]bool {
	return setOf(
		"rm", "grm", "srm", "unlink", "rmdir", "shred", "dd", "mkfs", "mkfs.ext4", "wipefs", "truncate", "mv",
		"cp", "ln",
		"install", "rsync", "scp", "sftp", "tee", "chmod", "chown", "chgrp", "find", "fd", "tar", "zip", "cat",
		"head",
		"tail", "less", "base64", "xxd", "sudo", "doas", "su", "xargs", "nohup", "timeout", "git", "curl", "wget",
		"nc",
		"ncat", "socat", "ssh", "kill", "killall", "pkill", "shutdown", "reboot", "systemctl", "crontab", "docker",
		"podman", "kubectl", "helm", "terraform", "tofu", "pulumi", "aws", "gcloud", "az", "npm", "pnpm", "yarn",
		"npx",
		"twine", "cargo", "gem", "gh", "psql", "mysql", "mariadb", "redis-cli", "mongosh", "mongo", "sqlite3",
		"dropdb",
		"rails", "rake", "prisma", "hookmux", "eval", "iptables", "ufw", "useradd", "usermod", "passwd", "visudo",
	)
})

// IsFollowed reports whether a program of this base name is looked for behind a
// program that is not known.
func IsFollowed(name string) bool {
	return followed()[name] || IsShell(name) || IsInterpreter(name)
}

// plain are programs whose words are never a command: names of packages and of
// processes, pages, completions, messages, words of their own languages.
var plain = sync.OnceValue(func() map[string]bool {
	return setOf(
		"apt", "apt-get", "aptitude", "nala", "dnf", "yum", "microdnf", "apk", "pacman", "yay", "paru", "zypper",
		"brew",
		"port", "snap", "flatpak", "choco", "scoop", "winget", "emerge", "xbps-install", "pkg", "pkg_add", "opkg",
		"dpkg",
		"rpm", "pacstrap", "debootstrap", "nix-env", "guix", "conda", "mamba", "micromamba", "pip", "pip3", "pipx",
		"gem",
		"cargo", "go", "npm", "pnpm", "yarn", "bun", "composer", "luarocks", "cpan", "cpanm", "opam", "rustup",
		"mise",
		"asdf", "sdk", "nvm", "volta", "uv", "poetry", "pdm", "bundle", "make", "cmake", "ninja", "meson", "bazel",
		"gradle", "gradlew", "mvn", "mvnw", "sbt", "lein", "ant", "rake", "just", "task", "nx", "turbo", "lerna",
		"killall", "pkill", "pgrep", "pidof", "service", "rc-service", "systemctl", "man", "info", "tldr", "cheat",
		"help",
		"whatis", "apropos", "complete", "compgen", "compdef", "hash", "rehash", "bind", "unalias", "enable",
		"disable",
		"update-alternatives", "alternatives", "dpkg-divert", "mktemp", "touch", "mkdir", "rmdir", "rm", "mv",
		"cp", "ln",
		"chmod", "chown", "chgrp", "install", "tee", "dd", "truncate", "shred", "kubectl", "helm", "oc", "k9s",
		"docker",
		"podman", "buildah", "skopeo", "terraform", "tofu", "pulumi", "aws", "gcloud", "az", "doctl", "heroku",
		"vercel",
		"netlify", "psql", "mysql", "mariadb", "redis-cli", "mongosh", "mongo", "cqlsh", "clickhouse-client", "for",
		"case", "select", "function", "in", "test", "expr", "seq", "jest", "vitest", "mocha", "pytest", "tox", "nox",
		"phpunit", "rspec", "eslint", "tsc", "ruff", "mypy", "black", "flake8", "pylint", "golangci-lint",
		"swiftlint",
		"adduser", "useradd", "usermod", "groupadd", "gpasswd", "semanage", "setsebool", "getent", "host", "dig",
		"nslookup", "ping", "traceroute", "whois", "nmap", "iptables", "nft", "ufw", "ip", "mount", "umount", "local",
		"zip", "unzip", "7z", "xz", "bzip2", "gzip", "svn", "hg", "jj",
		"llm", "ollama", "mods", "sgpt", "cowsay", "figlet", "say", "espeak", "notify-send", "mail", "mutt", "wall",
		"write", "msmtp", "slackcat", "column", "dialog", "whiptail", "zenity", "gum", "fzf",
	)
})

func setOf(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// MayRunWords reports whether the words of a program of this base name may be a
// command, because nobody here knows what it does with them.
func MayRunWords(name string) bool {
	if plain()[name] || IsShell(name) || IsInterpreter(name) {
		return false
	}
	if _, ok := ReaderOf(name); ok {
		return false
	}
	_, ok := OperandsOf(name)
	return !ok
}

// TextOptions are options by which programs that are not known are given a command
// line.
var TextOptions = []string{"-c", "--command", "--cmd", "--exec", "-e", "--run", "-x", "--shell-command", "--execute",
	"--on-success", "--onSuccess", "--on-change", "--runner", "--shell", "--script-text", "--hook", "--pre", "--post"}
