package facts

import (
	"sync"

	"github.com/hookmux/hookmux/internal/shell/programs"
)

// withSubcommands are programs whose first operand says what they do, with the
// options in front of it that take the next word.
var withSubcommands = sync.OnceValue(func() map[string]map[string]bool {
	options := func(names ...string) map[string]bool {
		m := make(map[string]bool, len(names))
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	cloud := options("--profile", "--region", "--output", "--endpoint-url", "--query", "--project", "--account",
		"--subscription", "--configuration", "--format", "-o")
	return map[string]map[string]bool{
		"git":    options(programs.GitValueOptions...),
		"docker": options("-H", "--host", "--context", "-c", "--config", "-l", "--log-level", "--tlscacert"),
		"k":      options("-n", "--namespace", "--context"), "kubecolor": options("-n"),
		"podman":  options("--connection", "-c", "--url", "--root", "--log-level"),
		"nerdctl": options("-n", "--namespace", "-H", "--address"),
		"kubectl": options("-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s",
			"--server", "--as"),
		"oc":        options("-n", "--namespace", "--context", "--kubeconfig"),
		"helm":      options("-n", "--namespace", "--kube-context", "--kubeconfig"),
		"terraform": options("-chdir"), "tofu": options("-chdir"), "terragrunt": options("--terragrunt-config",
			"--working-dir"),
		"pulumi": options("-C", "--cwd", "-s", "--stack"), "ansible": options(),
		"aws": cloud, "gcloud": cloud, "az": cloud, "doctl": options("-t", "--access-token", "--context", "-o"),
		"npm": options("--prefix", "-w", "--workspace", "--registry"), "pnpm": options("-C", "--dir", "--filter",
			"-F"),
		"yarn": options("--cwd"), "bun": options("--cwd"), "cargo": options("-Z", "-C", "--config", "--color"),
		"go": options("-C"), "gem": options(), "bundle": options(), "pip": options("--proxy", "--python",
			"--cache-dir"),
		"pip3": options("--proxy", "--python", "--cache-dir"), "uv": options("--directory", "--project",
			"--config-file"),
		"poetry": options("-C", "--directory", "-P", "--project"), "pipx": options(), "conda": options("-n",
			"--name"),
		"twine": options(), "composer": options("-d", "--working-dir"), "mvn": options("-f", "--file", "-P", "-s"),
		"gh": options("-R", "--repo", "--hostname"), "glab": options("-R", "--repo"), "hub": options("-C"),
		"systemctl": options("-H", "--host", "-M", "-t", "--type", "-n"), "launchctl": options(),
		"apt": options("-o", "-c", "-t"), "apt-get": options("-o", "-c", "-t"), "dnf": options("-c", "--repo"),
		"yum": options("-c"), "apk": options("-p", "-X"), "pacman": options(), "brew": options(), "snap": options(),
		"flatpak": options(), "zypper": options("--root"), "nix": options(), "hookmux": options(),
		"fly":    options("-a", "-c"),
		"flyctl": options("-a", "-c"), "heroku": options("-a", "--app"), "vercel": options("--cwd", "-t",
			"--token", "-S"),
		"netlify": options("--site", "--auth"), "wrangler": options("-c", "--config", "-e", "--env"),
		"redis-cli": options("-h", "-p", "-a", "-n", "-u", "--user", "--pass"), "crontab": options("-u"),
		"vault": options("-address", "-namespace"), "consul": options(), "nomad": options("-address"),
		"rails": options(),
		"flask": options("--app", "-A"), "openssl": options(), "ip": options("-n", "-netns"), "nft": options(),
		"tmux": options(
			"-L", "-S", "-f"), "mise": options("-C", "--cd"), "asdf": options(), "rustup": options(),
		"deno":     options(),
		"supabase": options("--workdir"), "firebase": options("-P", "--project", "--config"),
		"serverless": options("--stage"),
		"gsutil":     options(), "bq": options("--project_id", "--location"), "hcloud": options(),
		"linode-cli": options(),
		"oci":        options(), "scw": options(), "exo": options(), "turso": options(), "pscale": options(),
		"neonctl": options(),
		"eksctl":  options(), "kops": options(), "argocd": options(), "flux": options("-n"), "velero": options("-n"),
		"rclone": options("--config"), "s3cmd": options("-c"), "mc": options(), "cdk": options("-a", "--app",
			"-c"), "sam": options(),
		"sls": options(), "sst": options("--stage"), "eb": options(), "copilot": options(), "jj": options("-R"),
		"hg":  options("-R"),
		"svn": options(), "lerna": options(), "virsh": options("-c"), "railway": options(), "render": options(),
		"azd":    options(),
		"dotnet": options(), "make": nil, "just": nil, "task": nil,
	}
})

// secondVerbs are programs whose second operand says what they do as well, and that
// take their options between the two.
var secondVerbs = map[string]bool{"gh": true, "glab": true, "aws": true, "gcloud": true, "az": true}

// hasSubcommands reports whether a program's first operand says what it does.
func hasSubcommands(program string) bool {
	_, ok := withSubcommands()[program]
	return ok
}

// valueOptions are the options in front of a subcommand that take the next word.
func valueOptions(program string) map[string]bool { return withSubcommands()[program] }
