// Package secrets implements the guard against reading or sending keys, tokens and
// credentials.
package secrets

import (
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Uses that are left alone: `source .env`, `export $(cat .env)`, docker --env-file, ssh -i,
// ls, test -f, grep -q, chmod, writing a secret file. Reading is anything that puts the
// contents on stdout, into another file or onto the network.

var (
	secretOnce sync.Once
	secretPre  *facts.Needles
)

func secretNeedles() *facts.Needles {
	secretOnce.Do(func() {
		words := []string{".env", ".ssh", "id_", "credential", "secret",
			"shadow",
			"sudoers", "environ", ".kube", "kubeconfig", ".docker/config", ".npmrc",
			".netrc", "_netrc", ".pypirc", ".pgpass", ".my.cnf", ".boto", ".s3cfg", ".vault-token", ".htpasswd",
			"service-account", "service_account", "serviceaccount", "firebase-adminsdk", "wallet.dat",
			"keychain", "keyring", "password", "passwd", "auth.json", "hosts.yml", "hosts.json", "apps.json",
			"oauth_creds",
			"google_accounts", "rclone.conf", "doctl/config", "op/config", ".config/hub", "glab-cli",
			"login data", "cookies", "token", "printenv", "env |", "env|", "find-generic", "find-internet",
			"auth print",
			"get-secret", "with-decryption", "vault ", "op read", "op item", "pass ", "bw ", "api_key", "apikey",
			"master.key",
			"server.token",
			"k3s.yaml", "admin.conf", "accesstokens", "msal_token", "/run/secrets", "export-secret",
			"access_tokens", "lpass",
			"gopass", "doppler", "config get", "config:get", "heroku config", ".aws", ".gnupg", "prod.env",
			"gh auth", "--raw",
			"env", "set", "export", "declare", "typeset", "compgen", "ps ", "tfstate", "cookies", "logins.json", "key4.db", "web data"}
		words = append(words, "private key", "readfile", "read_text", "open(", "getent", "ansible-vault", "eyaml",
			"sops",
			"_history",
			"begin ", "akia", "arg-file", "xargs -a", "create token", "compose", "output")
		for _, t := range secretTails() {
			if base := path.Base(t.tail); len(base) > 5 {
				words = append(words, base)
			}
		}
		words = append(append(words, keyEndings...), facts.FedShells...)
		words = append(words, programs.With(func(p *programs.Program) bool { return len(p.Does[programs.PrintsSecret]) > 0 })...)
		secretPre = facts.NewNeedles(true, words...)
	})
	return secretPre
}

// scope is the context in which the rules of one command run.
type scope struct {
	*facts.Scope
	aliases map[string]string // names that this very command gave to other files
	twin    func(path string, among func() []string) string
}

// Checker checks calls against the rules of this package.
type Checker struct {
	pre   *facts.Needles
	links *facts.Needles                                  // set when links are followed: what must be parsed because of them
	twin  func(path string, among func() []string) string // facts.Machine.Twin
}

// New makes a checker.
func New(opt facts.Machine) *Checker {
	c := &Checker{pre: secretNeedles(), twin: opt.Twin}
	if opt.Resolve != nil {
		c.links = readerNeedles()
	}
	return c
}

// MustParse reports whether a command names something that may be a secret, or
// reads a file that may be a link to one.
func (c *Checker) MustParse(command string) bool {
	return c.pre.MustParse(command) || c.links != nil && c.links.Match(command)
}

// WatchesFolder reports whether secrets lie in a folder.
func (c *Checker) WatchesFolder(folder string) bool { return c.pre.Match(folder + "/") }

// NamedIn returns the first word of free text that names a secret file.
func (c *Checker) NamedIn(text string) string { return secretInText(text) }

// CheckScript reports which secrets a command reads, prints or sends.
func (c *Checker) CheckScript(s *facts.Scope) {
	x := &scope{Scope: s, twin: c.twin}
	x.aliases = x.otherNames()
	for _, h := range x.HostRuns() {
		x.secretRedirects(h)
		x.secretOperands(h)
	}
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		if r.Contained {
			x.containedToken(r)
			x.secretInCode(r)
			continue
		}
		x.secretRedirects(r)
		if len(r.Argv) == 0 {
			continue
		}
		x.secretOperands(r)
		x.secretEchoed(r)
		x.secretRenamed(r)
		x.secretUpload(r)
		x.secretFind(i)
		x.grepsEnvironment(r)
		x.printsSecret(r)
		x.printsVariable(r)
		x.envToNetwork(r)
		x.envDump(r)
		x.envInCode(r)
		x.variableInCode(r)
		x.variableSent(r)
		x.secretInCode(r)
		x.secretInCmdlets(r)
	}
}

// readsInCmdlets matches how PowerShell reads a file, and listsInCmdlets how it lists variables.
var (
	readsInCmdlets = lazyregexp.New(`(?i)\b(get-content|gc|cat|type|select-string|import-csv|copy-item|cp|get-itemproperty|readall\w+)\b`)
	listsInCmdlets = lazyregexp.New(`(?i)\b(get-childitem|gci|dir|ls)\s+env:\s*($|[|;)'"])|getenvironmentvariables`)
)

// secretInCmdlets finds PowerShell that reads a secret file or lists its variables.
func (x *scope) secretInCmdlets(r *shell.Run) {
	if x.Script.Programs.Of(r.Name()).Kind != programs.KindCmdlets {
		return
	}
	text := strings.ReplaceAll(facts.JoinArgs(r.Args()), `\`, "/")
	if listsInCmdlets.MatchString(text) {
		x.Report.Add("env-dump", r.Head(), r.Name()+" prints every variable, secrets included")
	}
	if !readsInCmdlets.MatchString(text) {
		return
	}
	if file := secretInText(text); file != "" {
		x.Report.Add("read", r.Head(), fmt.Sprintf("%s reads %s", r.Name(), file))
	}
}

// containedToken finds secrets read inside a container: kubectl exec pod -- cat
// /var/run/secrets/…/token reveals what the cluster trusts, and the environment of a container
// consists of secrets.
func (x *scope) containedToken(r *shell.Run) {
	if len(r.Argv) == 0 {
		return
	}
	x.envDump(r)
	x.printsVariable(r)
	if !isReader(r.Name()) {
		return
	}
	if spec, ok := programs.OperandsOf(r.Name()); ok && !loadsEnvironment(r) && !quietRead(r.Name(), r) {
		for _, w := range readFiles(r.Name(), r.Args(), spec) {
			if base := path.Base(w.Text); isEnvFile(strings.ToLower(base)) && !strings.ContainsAny(base, "*?") {
				x.Report.Add("read", r.Head(), fmt.Sprintf("%s reads %s, the environment of a container",
					r.Name(), w.Text))
				return
			}
		}
	}
	for _, a := range r.Args() {
		if strings.Contains(a.Text, "/run/secrets/kubernetes.io/serviceaccount/token") ||
			strings.HasPrefix(a.Text, "/run/secrets/") {
			x.Report.Add("read", r.Head(),
				fmt.Sprintf("%s reads %s, a secret of a running container", r.Name(), a.Text))
			return
		}
	}
}

// secretWord returns the secret file that w names, if any. The caller removes literal prefixes of
// curl and dd.
func (x *scope) secretWord(t string) (string, bool) {
	return secretPath(t, x.Home)
}

// secretEchoed finds a shell that prints what it reads: bash -v .env.
func (x *scope) secretEchoed(r *shell.Run) {
	flags, rest := facts.SplitFlags(r.Args())
	traced := (r.Name() == "source" || r.Name() == ".") && x.traces(r)
	if len(rest) == 0 || !traced && (!shell.IsShell(r.Name()) || !facts.HasShort(flags, 'v', 'x') &&
		!facts.HasLong(flags, "--verbose") || facts.HasShort(flags, 'c')) {
		return
	}
	if what, ok := x.secretFile(rest[0], r); ok {
		x.Report.Add("read", r.Head(), fmt.Sprintf("%s prints %s (%s)", r.Name(), rest[0].Text, what))
	}
}

// loadsEnvironment reports whether the run's output goes into the environment of something,
// not to a reader. That is what `export $(grep … .env | xargs)` does.
func loadsEnvironment(r *shell.Run) bool {
	return r.Sink == "export" || r.Sink == "env" || r.Sink == "eval"
}

func (x *scope) secretRedirects(r *shell.Run) {
	if loadsEnvironment(r) {
		return
	}
	for _, rd := range r.Redirects {
		if !rd.Reads() {
			continue
		}
		what, ok := x.secretFile(rd.Target, r)
		if !ok {
			continue
		}
		name := r.Name()
		switch {
		case x.Script.Programs.Of(name).Has(programs.Sends) && name != "gh":
			x.Report.Add("send", r.Head(), fmt.Sprintf("%s sends %s (%s)", name, rd.Target.Text, what))
		case isReader(name), name == "tee", name == "xargs", name == "parallel":
			x.Report.Add("read", r.Head(), fmt.Sprintf("%s reads %s (%s)", name, rd.Target.Text, what))
		case (name == "echo" || name == "printf") && anyDynamic(r.Args()), name == "mapfile", name == "readarray",
			name == "read" && !x.loadsLoop(rd.Target.Text),
			name == "exec", name == "": // a loop that prints its lines; $(< file)
			x.Report.Add("read", r.Head(), fmt.Sprintf("reads %s (%s)", rd.Target.Text, what))
		}
	}
}

func anyDynamic(args []shell.Word) bool {
	for _, a := range args {
		if a.Dynamic {
			return true
		}
	}
	return false
}

func isReader(name string) bool {
	_, ok := programs.OperandsOf(name)
	return ok
}

// secretDirs are directories that contain nothing but secrets.
var secretDirs = map[string]bool{".ssh": true, ".aws": true, ".gnupg": true, ".password-store": true,
	"Keychains": true, ".kube": true, ".azure": true, ".oci": true, ".config/gcloud": true, ".config/gh": true,
	".config/op": true}

// isSecretDir reports whether a path is one of secretDirs, or everything in one.
func isSecretDir(name string) bool {
	name = strings.TrimRight(name, "/*")
	base := path.Base(name)
	return secretDirs[base] || secretDirs[path.Base(path.Dir(name))+"/"+base]
}

// secretFind finds a find that names secret files and hands them to a reader.
func (x *scope) secretFind(i int) {
	r := &x.Script.Runs[i]
	if n := r.Name(); n != "find" && n != "gfind" && n != "fd" || loadsEnvironment(r) {
		return
	}
	args := r.Args()
	name, what := "", ""
	for j, a := range args {
		if j > 0 && (args[j-1].Text == "-not" || j > 1 && args[j-2].Text == "-not" || j > 1 && args[j-2].Text == "!") {
			continue
		}
		if w, ok := x.secretWord(strings.Trim(a.Text, `^$\`)); ok {
			name, what = a.Text, w
		} else if isSecretDir(a.Text) {
			name, what = a.Text, "keys and credentials"
		} else if w, ok := globSecret(a.Text); ok && strings.ContainsAny(a.Text, "*?[") {
			name, what = a.Text, w
		}
	}
	if name == "" {
		return
	}
	reads := false
	for j, a := range args[min(1, len(args)):] {
		reads = reads || runsFound(args[j].Text) && isReader(path.Base(a.Text))
	}
	for j := range x.Script.Runs {
		n := &x.Script.Runs[j]
		if j == i || !isReader(n.Name()) || quietRead(n.Name(), n) {
			continue
		}
		for _, a := range n.Args() {
			reads = reads || a.Dynamic && a.From.Lo <= i && i < a.From.Hi
		}
	}
	if reads {
		x.Report.Add("read", r.Head(), fmt.Sprintf("finds %s (%s) and reads it", name, what))
	}
}

// runsFound reports whether an option of find or fd runs a command on what is found.
func runsFound(option string) bool {
	switch option {
	case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		return true
	}
	return false
}

// globSecret recognises patterns that are written to match secrets.
func globSecret(t string) (string, bool) {
	if strings.HasSuffix(t, ".pub") {
		return "", false
	}
	if what, ok := fitsSecret(t); ok {
		return what, true
	}
	dir, base := path.Split(t)
	if strings.Trim(base, ".*?") != "" {
		for _, name := range [...]string{".env", "id_rsa", "id_ed25519", ".netrc", ".git-credentials", ".pgpass"} {
			if ok, err := path.Match(base, name); ok && err == nil && !strings.HasPrefix(base, "*") {
				return "secrets", true
			}
		}
	}
	switch {
	case strings.HasPrefix(base, "*") && isEnvFile(strings.TrimLeft(base, "*")), strings.HasPrefix(base, "*.env*"):
		return "environment files", true
	case isEnvFile(base), strings.HasPrefix(base, ".env") && !strings.HasPrefix(base, ".env."):
		return "environment files", true
	case strings.HasPrefix(base, "id_"):
		return "private keys", true
	case strings.HasSuffix(strings.TrimSuffix(dir, "/"), ".ssh"),
		strings.HasSuffix(strings.TrimSuffix(dir, "/"), ".aws"),
		strings.HasSuffix(strings.TrimSuffix(dir, "/"), ".gnupg"):
		return "keys and credentials", true
	}
	return "", false
}

// secretCommit finds git add of a secret file, or showing one from history.
func (x *scope) secretCommit(r *shell.Run) {
	sub, args := facts.GitParts(r)
	switch sub {
	case "show", "cat-file", "diff", "blame", "grep", "hash-object", "archive", "log", "annotate", "stash", "commit":
		flags, _ := facts.SplitFlags(args)
		if sub == "log" && !facts.HasShort(flags, 'p') && !facts.HasLong(flags, "--patch") ||
			sub == "hash-object" && !facts.HasShort(flags, 'w') || sub == "stash" && !facts.HasWord(args,
			"show") ||
			sub == "grep" && quietRead("grep", r) {
			return
		}
		if sub == "commit" {
			args = facts.OptionValues(args, "-F", "--file")
		}
		for _, a := range args {
			t := a.Text
			if i := strings.LastIndexByte(t, ':'); i >= 0 {
				t = t[i+1:]
			}
			if strings.HasPrefix(t, "--add-file=") || strings.HasPrefix(t, "--file=") {
				_, t, _ = strings.Cut(t, "=")
			} else if strings.HasPrefix(t, "-") || sub == "log" && strings.HasPrefix(t, ":!") {
				continue
			}
			what, ok := x.secretWord(t)
			if !ok && strings.ContainsAny(t, "*?") {
				what, ok = globSecret(t)
			}
			if ok && !facts.HasWord(args, "--stat", "--name-only", "--name-status",
				"--quiet") {
				x.Report.Add("read", r.Head(), fmt.Sprintf("git %s shows %s (%s)", sub, t, what))
			}
		}
		return
	case "config":
		for _, w := range facts.OptionValues(args, "-f", "--file") {
			if what, ok := x.secretWord(w.Text); ok && facts.HasWord(args, "-l", "--list", "--get", "--get-all", "--get-regexp") {
				x.Report.Add("read", r.Head(), fmt.Sprintf("git config shows %s (%s)", w.Text, what))
			}
		}
		return
	case "add", "stage":
	default:
		return
	}
	for _, a := range args {
		if what, ok := x.secretWord(a.Text); ok && !publicKeyName(path.Base(a.Text)) {
			x.Report.Add("commit", r.Head(), fmt.Sprintf("git add puts %s (%s) into the repository", a.Text, what))
		}
	}
}

// reachesNetwork follows the pipe after a run.
func (x *scope) reachesNetwork(r *shell.Run) bool {
	for _, n := range x.Sinks(r.To) {
		if x.Script.Programs.Of(n.Name()).Has(programs.Sends) && n.Name() != "gh" && n.Name() != "openssl" && n.Name() != "aws" {
			return true
		}
	}
	return false
}

// envToNetwork finds the whole environment piped to the network.
func (x *scope) envToNetwork(r *shell.Run) {
	if !dumpsEnvironment(r) {
		return
	}
	if x.reachesNetwork(r) {
		x.Report.Add("send", r.Head(), "sends the whole environment to the network")
		return
	}
	// curl -d "$(env)": a later run has the output of this one in one of its words.
	for j := range x.Script.Runs {
		n := &x.Script.Runs[j]
		if !x.Script.Programs.Of(n.Name()).Has(programs.Sends) {
			continue
		}
		for _, a := range n.Args() {
			from := x.RunsIn(a.From)
			for k := range from {
				if &from[k] == r {
					x.Report.Add("send", n.Name(), "sends the whole environment to the network")
					return
				}
			}
		}
	}
}

var (
	// printsLoaded matches code that prints what it loads from an environment file.
	printsLoaded = lazyregexp.New(`(print|log|puts|dumps?|write|stringify)\w*\s*\(?[^;\n]*(dotenv_values|parse\(|\.parsed|readFile|config\(\))`)
	joinedPath   = lazyregexp.New(`['"]([^'"\n]{2,64})['"]\s*[,/]\s*['"]([^'"\n]{2,64})['"]`)
	walksFolder  = lazyregexp.New(`walk|listdir|readdir|glob|iterdir|scandir|Dir\[|Dir\.`)
)

// secretInCode finds code that prints a secret file: python3 -c
// "print(open('.env').read())".
func (x *scope) secretInCode(r *shell.Run) {
	text, ok := r.Code()
	if !ok || strings.HasSuffix(r.Name(), "awk") && !strings.Contains(text, "getline") {
		return // awk's operands are checked like cat's
	}
	opens := false
	for _, w := range [...]string{"open", "read", "File", "load", "slurp", "<", "cat", "file_get", "file(", "include",
		"lines", "getline"} {
		opens = opens || strings.Contains(text, w)
	}
	if !opens && !strings.Contains(text, "dotenv_values") ||
		strings.Contains(text, "dotenv") && !printsLoaded.MatchString(text) {
		return
	}
	literals := facts.QuotedIn(text)
	for _, m := range joinedPath.Compiled().FindAllStringSubmatch(text, 16) { // home.joinpath('.aws', 'credentials')
		literals = append(literals, m[1]+"/"+m[2])
	}
	for _, lit := range literals {
		if isSecretDir(lit) && walksFolder.MatchString(text) {
			x.Report.Add("read", r.Name(), fmt.Sprintf("%s code reads the files in %s", r.Name(), lit))
			return
		}
	}
	for _, name := range append(literals, x.NamesInCode(r, text)...) {
		if what, ok := x.secretWord(name); ok {
			x.Report.Add("read", r.Name(), fmt.Sprintf("%s code reads %s (%s)", r.Name(), name, what))
			return
		}
	}
}
