package secrets

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
)

// secretTail is an ending of paths. One with "/" at its end means everything below that
// directory.
type secretTail struct{ tail, what string }

// secretTails are endings of paths that contain credentials wherever they are, including those of
// the agents.
var secretTails = sync.OnceValue(func() []secretTail {
	list := slices.Clone(otherTails)
	for _, known := range agent.Builtin().AllMarks() {
		for tail, what := range known.Guarded.Credentials {
			list = append(list, secretTail{tail, what})
		}
	}
	return list
})

// otherTails are those of other programs.
var otherTails = []secretTail{
	{".aws/credentials", "AWS credentials"}, {".aws/sso/cache/", "AWS session tokens"}, {".aws/cli/cache/",
		"AWS session tokens"},
	{"gcloud/credentials.db", "Google Cloud credentials"}, {"gcloud/application_default_credentials.json",
		"Google Cloud credentials"},
	{"gcloud/access_tokens.db", "Google Cloud tokens"}, {"gcloud/legacy_credentials/", "Google Cloud credentials"},
	{".azure/accesstokens.json", "Azure tokens"}, {".azure/msal_token_cache.json", "Azure tokens"},
	{".azure/msal_token_cache.bin", "Azure tokens"}, {".azure/service_principal_entries.json", "Azure credentials"},
	{".kube/config", "cluster credentials"}, {"/etc/kubernetes/admin.conf", "cluster credentials"},
	{"/etc/rancher/k3s/k3s.yaml", "cluster credentials"},
	{".docker/config.json", "registry credentials"}, {".config/containers/auth.json", "registry credentials"},
	{".gnupg/private-keys-v1.d/", "private keys"}, {".gnupg/secring.gpg", "private keys"}, {".password-store/",
		"passwords"},
	{"library/keychains/", "keychains"}, {".local/share/keyrings/", "keyrings"},
	{".config/gh/hosts.yml", "GitHub tokens"}, {".config/hub", "GitHub tokens"}, {".config/glab-cli/config.yml",
		"GitLab tokens"},
	{".terraform.d/credentials.tfrc.json", "Terraform tokens"}, {".cargo/credentials", "cargo tokens"},
	{".cargo/credentials.toml", "cargo tokens"}, {".gem/credentials", "gem tokens"},
	{".config/rclone/rclone.conf", "storage credentials"}, {".config/doctl/config.yaml", "DigitalOcean tokens"},
	{".config/op/config", "1Password data"},
	{"google/chrome/default/login data", "browser passwords"}, {"google/chrome/default/cookies", "browser cookies"},
	{"google-chrome/default/login data", "browser passwords"}, {"google-chrome/default/cookies", "browser cookies"},
	{"/etc/shadow", "password hashes"}, {"/etc/gshadow", "password hashes"}, {"/etc/sudoers", "sudo rules"},
	{"/run/secrets/", "container secrets"},
	{"/etc/networkmanager/system-connections/", "network passwords"}, {"wpa_supplicant.conf", "network passwords"},
	{"/etc/ppp/chap-secrets", "passwords"}, {"/etc/ipsec.secrets", "keys"}, {"/etc/openvpn/", "VPN keys"},
	{".config/sops/age/keys.txt", "private keys"}, {".config/age/", "private keys"}, {"sops/age/", "private keys"},
	{".oci/config", "Oracle Cloud credentials"}, {".config/hcloud/cli.toml", "Hetzner tokens"},
	{".config/stripe/config.toml", "Stripe keys"}, {".fly/config.yml", "Fly tokens"},
	{".config/netlify/config.json", "Netlify tokens"}, {".netlify/config.json", "Netlify tokens"},
	{"com.vercel.cli/auth.json", "Vercel tokens"}, {".config/configstore/firebase-tools.json", "Firebase tokens"},
	{".wrangler/config/default.toml", "Cloudflare tokens"},
	{".cloudflared/cert.pem", "Cloudflare credentials"}, {".config/ngrok/ngrok.yml", "ngrok tokens"},
	{".ngrok2/ngrok.yml", "ngrok tokens"}, {".kaggle/kaggle.json", "Kaggle tokens"},
	{"huggingface/token", "Hugging Face tokens"}, {".huggingface/token", "Hugging Face tokens"},
	{".composer/auth.json", "Composer tokens"}, {".config/composer/auth.json", "Composer tokens"},
	{".subversion/auth/", "Subversion passwords"}, {".config/solana/id.json", "a wallet"},
	{".ethereum/keystore/", "wallets"}, {".electrum/wallets/", "wallets"}, {".config/filezilla/sitemanager.xml",
		"FTP passwords"}, {".gradle/gradle.properties", "signing keys and passwords"}, {".databrickscfg",
		"Databricks tokens"}, {".snowflake/connections.toml", "Snowflake credentials"}, {".config/circleci/cli.yml",
		"CircleCI tokens"}, {".circleci/cli.yml", "CircleCI tokens"}, {".config/heroku/credentials", "Heroku tokens"},
	{".config/railway/config.json", "Railway tokens"}, {".railway/config.json", "Railway tokens"},
	{".config/bitwarden cli/data.json", "passwords"}, {".config/1password/", "1Password data"},
	{".config/supabase/access-token", "Supabase tokens"},
	{".supabase/access-token", "Supabase tokens"}, {".jupyter/jupyter_server_config.json", "a password"},
	{".config/linode-cli", "Linode tokens"}, {".minikube/client.key", "cluster credentials"},
	{"/etc/kubernetes/pki/", "cluster keys"}, {"/etc/krb5.keytab", "Kerberos keys"}, {"/etc/wireguard/", "VPN keys"},
	{"/var/lib/rancher/k3s/server/token", "cluster credentials"}, {"/etc/letsencrypt/live/", "private keys"},
	{"/var/run/secrets/", "container secrets"}, {"/proc/self/environ", "the environment"}, {"/etc/ssl/private/",
		"private keys"},
}

// secretNames are file names that contain credentials in any directory.
var secretNames = map[string]string{
	".netrc": "login data", "_netrc": "login data", ".pypirc": "package tokens",
	".git-credentials": "git credentials",
	".pgpass":          "database passwords",
	".my.cnf":          "database passwords", ".boto": "cloud credentials", ".s3cfg": "cloud credentials",
	".vault-token": "a Vault token", ".htpasswd": "password hashes",
	"id_rsa": "a private key", "id_dsa": "a private key", "id_ecdsa": "a private key", "id_ed25519": "a private key",
	"id_ecdsa_sk": "a private key", "id_ed25519_sk": "a private key",
	"credentials.json": "credentials", "client_secret.json": "credentials", "service-account.json": "credentials",
	"serviceaccount.json": "credentials", "service_account.json": "credentials",
	"master.key": "a master key", "secrets.json": "secrets", "secrets.yml": "secrets", "secrets.yaml": "secrets",
	"secrets.toml": "secrets", ".secrets": "secrets", "wallet.dat": "a wallet",
	"login.keychain-db": "a keychain", "terraform.tfvars.secret": "secrets", "kubeconfig": "cluster credentials",
	".envrc": "an environment file", "terraform.tfstate": "infrastructure state with its secrets",
	"terraform.tfstate.backup": "infrastructure state with its secrets",
	"key4.db":                  "browser keys", "logins.json": "browser passwords",
	"cookies.sqlite":        "browser cookies",
	"cookies.binarycookies": "browser cookies",
}

var keyEndings = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".p8", ".kdbx", ".keychain",
	".keychain-db", ".ovpn", ".gpgkey"}

// secretPath returns what kind of secret a path has. It only looks at the name, so that ~, $HOME
// and unknown directories make no difference.
func secretPath(p, home string) (what string, ok bool) {
	if len(p) < 4 {
		return "", false
	}
	t := strings.ToLower(strings.ReplaceAll(strings.TrimRight(p, "/"), "//", "/"))
	base := path.Base(t)
	if what := secretNames[base]; what != "" {
		return what, true
	}
	if isEnvFile(base) {
		return "an environment file", true
	}
	if base == ".npmrc" && (t == "~/.npmrc" || strings.HasPrefix(t,
		"$home/") || t == strings.ToLower(home)+"/.npmrc") {
		return "npm tokens", true
	}
	if strings.HasSuffix(base, ".tfstate") {
		return "infrastructure state with its secrets", true
	}
	if what := browserData(t, base); what != "" {
		return what, true
	}
	if inSSH(t, base) {
		return "a private key", true
	}
	for _, e := range keyEndings {
		if strings.HasSuffix(base, e) && !publicKeyName(base) {
			return "a private key", true
		}
	}
	if strings.HasPrefix(base, "service-account") && strings.HasSuffix(base, ".json") || strings.HasSuffix(base,
		"-service-account.json") || strings.Contains(base, "firebase-adminsdk") {
		return "credentials", true
	}
	if strings.HasPrefix(t, "/proc/") && base == "environ" {
		return "a process's environment", true
	}
	for _, s := range secretTails() {
		if strings.HasSuffix(s.tail, "/") {
			if strings.Contains(t+"/", s.tail) {
				return s.what, true
			}
		} else if strings.HasSuffix(t, s.tail) && (len(t) == len(s.tail) || s.tail[0] == '/' ||
			t[len(t)-len(s.tail)-1] == '/') {
			return s.what, true
		}
	}
	return "", false
}

// browserData returns which secret database of a browser a path is. Those of Chromium's family
// have names that mean nothing elsewhere, so the directory must be a browser's.
func browserData(t, base string) string {
	var what string
	switch base {
	case "cookies":
		what = "browser cookies"
	case "login data", "login data for account":
		what = "browser passwords"
	case "web data":
		what = "browser form data"
	default:
		return ""
	}
	for _, b := range [...]string{"chrome", "chromium", "brave", "edge", "vivaldi", "opera", "/arc/", "mozilla",
		"firefox"} {
		if strings.Contains(t, b) {
			return what
		}
	}
	return ""
}

// isEnvFile reports whether a name is like .env or .env.production; .env.example isn't.
func isEnvFile(base string) bool {
	if base == ".env" || base == ".env*" || base == ".env.*" {
		return true
	}
	rest, ok := strings.CutPrefix(base, ".env.")
	if !ok {
		rest, ok = strings.CutSuffix(base, ".env")
		if !ok {
			return false
		}
		switch rest {
		case "prod", "production", "secret", "secrets", "staging", "live", "private":
			return true
		}
		return false
	}
	rest = strings.TrimRight(rest, "*") // of a pattern
	for _, harmless := range [...]string{"example", "sample", "template", "dist", "default", "defaults", "test",
		"schema",
		"tpl", "tmpl", "d.ts", "md", "ts", "js", "ci", "vault", "enc", "encrypted", "spec"} {
		if rest == harmless || strings.HasSuffix(rest, "."+harmless) || strings.HasPrefix(rest, harmless+".") {
			return false
		}
	}
	return true
}

func inSSH(t, base string) bool {
	i := strings.LastIndex(t, ".ssh/")
	if i < 0 || i > 0 && t[i-1] != '/' {
		return false
	}
	switch {
	case strings.HasSuffix(base, ".pub"), strings.HasPrefix(base, "known_hosts"), base == "config",
		strings.HasPrefix(base, "authorized_keys"), base == "environment", base == ".ssh", base == "config.d",
		base == "rc":
		return false
	}
	return true
}

// publicKeyName reports whether a name is that of a certificate or of a public half,
// which end in .pem as well.
func publicKeyName(base string) bool {
	for _, s := range [...]string{"cert", "chain", "pub", "ca.", "cacert", "root", "bundle", "csr", "dhparam",
		"dh4096",
		"example", "sample", "test"} {
		if strings.Contains(base, s) {
			return true
		}
	}
	return base == ".key" || base == ".pem"
}

// secretInText returns the first word of free text that names a secret file.
func secretInText(text string) string {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>|;,&=@:", r)
	}) {
		if _, ok := secretPath(w, ""); ok {
			return w
		}
	}
	return ""
}

// commonSecrets are the places that patterns are compared with, by kind, in addition to those
// of the agents.
var commonSecrets = []string{".env", ".env.local", ".env.production", ".ssh/id_rsa", ".ssh/id_ed25519",
	".aws/credentials",
	"/etc/shadow", "/etc/gshadow", ".netrc", ".git-credentials", ".pgpass", ".kube/config", ".docker/config.json",
	".config/gh/hosts.yml", ".gnupg/secring.gpg", ".vault-token", ".pypirc",
	".config/gcloud/application_default_credentials.json", "/etc/sudoers", ".npmrc"}

// knownSecrets are commonSecrets and the agents' credentials.
var knownSecrets = sync.OnceValue(func() []string {
	list := slices.Clone(commonSecrets)
	for _, known := range agent.Builtin().AllMarks() {
		list = slices.AppendSeq(list, maps.Keys(known.Guarded.Credentials))
	}
	return list
})

// fitsSecret reports whether a pattern of files matches one of the well-known secrets. A pattern
// that matches nearly everything means nothing: enough letters of each part must be written for
// it to mean one name.
func fitsSecret(pattern string) (string, bool) {
	if !strings.ContainsAny(pattern, "*?[") || len(pattern) > 256 {
		return "", false
	}
	parts := strings.Split(strings.TrimPrefix(pattern, "./"), "/")
	for _, secret := range knownSecrets() {
		names := strings.Split(strings.TrimPrefix(secret, "/"), "/")
		at := len(parts) - len(names)
		if at < 0 || secret[0] == '/' && (at != 1 || parts[0] != "") {
			continue
		}
		fits, written := true, 0
		for i, name := range names {
			ok, err := path.Match(parts[at+i], name)
			fits = fits && ok && err == nil && parts[at+i][0] != '*'
			written += len(strings.Trim(removeWildcards(parts[at+i]), "."))
		}
		if fits && written >= 2 {
			return "secrets", true
		}
	}
	return "", false
}

// removeWildcards returns the literal text of a pattern's part. [abc] has none.
func removeWildcards(part string) string {
	var b strings.Builder
	open := false
	for _, r := range part {
		switch {
		case r == '[':
			open = true
		case r == ']':
			open = false
		case !open && r != '*' && r != '?':
			b.WriteRune(r)
		}
	}
	return b.String()
}
