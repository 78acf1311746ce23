package secrets

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// dumpsEnvironment reports whether a run prints every variable there is.
func dumpsEnvironment(r *shell.Run) bool {
	args := r.Args()
	switch r.Name() {
	case "env":
		for i := 0; i < len(args); i++ {
			t := args[i].Text
			switch {
			case t == "-u" || t == "--unset":
				i++
			case t == "-i" || t == "-" || t == "--ignore-environment", t == "--help" || t == "--version":
				return false
			case strings.HasPrefix(t, "-") || strings.Contains(t, "="):
			default:
				return false
			}
		}
		return true
	case "printenv":
		_, names := facts.SplitFlags(args)
		return len(names) == 0 && !facts.HasWord(args, "--help", "--version")
	case "set":
		return len(args) == 0
	case "compgen":
		return facts.HasWord(args, "-e", "-v", "export", "variable")
	case "ps":
		return psShowsEnvironment(args)
	case "export", "declare", "typeset":
		flags, names := facts.SplitFlags(args)
		if len(names) > 0 || len(r.Assigns) > 0 {
			return false
		}
		for _, f := range flags {
			if strings.Trim(f.Text, "-pxg") != "" {
				return false // functions, arrays, integers
			}
		}
		return true
	}
	return false
}

// psShowsEnvironment finds the letter e among ps's options without a dash, which adds
// every process's environment to its command. With a dash it means something else.
func psShowsEnvironment(args []shell.Word) bool {
	value := false // the word belongs to the option before it
	for _, a := range args {
		t := a.Text
		switch {
		case t == "":
		case strings.HasPrefix(t, "--"):
			value = !strings.Contains(t, "=") && t != "--forest" && t != "--headers" && t != "--no-headers" && t != "--deselect"
			continue
		case strings.HasPrefix(t, "-"):
			value = strings.ContainsRune("oOpuUgGCtskqN", rune(t[len(t)-1]))
			continue
		case !value && strings.Trim(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
			if strings.Contains(t, "e") {
				return true
			}
			value = strings.ContainsRune("oOpUtk", rune(t[len(t)-1]))
			continue
		}
		value = false
	}
	return false
}

// envDump denies printing the environment: the model reads it, and with it every token that the
// user's shell happens to have.
func (x *scope) envDump(r *shell.Run) {
	if !dumpsEnvironment(r) || loadsEnvironment(r) || x.isFiltered(r) {
		return
	}
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Target.Text == "/dev/null" && rd.Op != "<>" {
			return
		}
	}
	x.Report.Add("env-dump", r.Head(),
		fmt.Sprintf("%s prints every variable, secrets included; ask for the one that is needed", r.Name()))
}

// secretLookup are patterns that find secrets in an environment; a pattern that
// matches everything finds them, too.
var secretLookup = lazyregexp.New(`(?i)token|secret|passw|passphrase|api_?key|credential|(^|[^a-z])keys?($|` +
	`[^a-z])|auth|private|aws|openai|anthropic`)

// isFiltered reports whether the pipe after a dump lets only names through, or only variables
// that were asked for by a harmless name.
func (x *scope) isFiltered(r *shell.Run) bool {
	for _, n := range x.Sinks(r.To) {
		line := facts.JoinArgs(n.Args())
		switch n.Name() {
		case "grep", "egrep", "fgrep", "rg", "ag":
			if quietRead(n.Name(), n) {
				return true
			}
			flags, rest := facts.SplitFlags(n.Args())
			if facts.HasShort(flags, 'v') || facts.HasLong(flags, "--invert-match") || len(rest) == 0 {
				break
			}
			p := rest[0].Text
			if len(strings.Trim(p, ".*^$=[]\\ ")) > 1 && !secretLookup.MatchString(p) {
				return true
			}
		case "wc", "sha256sum", "md5sum", "sha1sum":
			return true
		case "head", "tail":
			if showsFew(n) {
				return true
			}
		case "cut":
			if quietRead("cut", n) || strings.Contains(line, "-f1") || strings.Contains(line, "-f 1") {
				return true
			}
		case "awk", "gawk", "mawk":
			if strings.Contains(line, "$1") && !strings.Contains(line, "$2") && !strings.Contains(line, "$0") &&
				strings.Contains(line, "=") {
				return true
			}
		case "sed":
			if strings.Contains(line, "s/=.*/") || strings.Contains(line, "s/=.*$/") {
				return true
			}
		}
	}
	return false
}

// fewLines is how many lines of an environment are still just a look at it.
const fewLines = 12

// showsFew reports whether head or tail lets only a few lines through.
func showsFew(r *shell.Run) bool {
	args := r.Args()
	for i, a := range args {
		digits := strings.TrimLeft(a.Text, "-=lines")
		if a.Text == "-n" && i+1 < len(args) {
			digits = args[i+1].Text
		}
		if count, err := strconv.Atoi(digits); err == nil {
			return count > 0 && count <= fewLines
		}
	}
	return len(args) == 0
}

// printedVariable matches a secret variable that program text prints.
var printedVariable = lazyregexp.New(`(?i)(?:print|log|puts|echo|write|dump|^)[^;\n]*(?:process\.env\.|process\.env\[['"]|os\.environ\[['"]|` +
	`os\.environ\.get\(['"]|os\.getenv\(['"]|ENV\[['"]|ENV\.fetch\(['"]|ENVIRON\s*\[['"]|\$ENV\{['"]?|getenv\(['"])([A-Z0-9_]+)`)

// variableInCode finds a secret variable that code prints: node -p
// process.env.API_KEY.
func (x *scope) variableInCode(r *shell.Run) {
	text, ok := r.Code()
	if !ok || !namesEnvironment(text) || !r.To.Empty() || loadsEnvironment(r) || r.Sink != "" {
		return
	}
	for _, m := range printedVariable.Compiled().FindAllStringSubmatch(text, 16) {
		if secretVariable.MatchString(m[1]) {
			x.Report.Add("variable", r.Name(), fmt.Sprintf("%s code prints the variable %s", r.Name(), m[1]))
			return
		}
	}
}

var codeDumps = lazyregexp.New(`(print\w*|dumps?|log|table|puts|write|pprint|echo|p)\b[^;\n]*(os\.environ(\b[^\[.]|` +
	`\.items|\.copy|$)|process\.env\s*[,)}]|\bENV\s*$|\bENV\.(to_\w+|inspect|each|map|sort|select|filter|pretty)|%ENV\b|getenv\(\s*\)|ENVIRON\s*\[\s*\w+\s*\]|process\.env\[\w+\]|Deno\.env\.toObject|os\.Environ\(\)|System\.getenv\(\))|phpinfo\(|print_r\(\s*\$_(ENV|SERVER)|Object\.\w+\(process\.env\)|\bENV\.each`)

// namesEnvironment reports whether code names the environment in any language's way.
func namesEnvironment(code string) bool {
	return strings.Contains(code, "env") || strings.Contains(code, "ENV") || strings.Contains(code, "Environ") || strings.Contains(code, "phpinfo")
}

// wholeEnvironment matches an expression for the whole environment.
var wholeEnvironment = lazyregexp.New(`^\s*(process\.env|JSON\.stringify\(process\.env\)|os\.environ|ENV(\.to_h)?|Deno\.env\.toObject\(\))\s*;?\s*$`)

// environmentFilter matches a jq filter that prints the environment or a variable of it.
var environmentFilter = lazyregexp.New(`(?:^|[^.\w$"])(?:env|\$ENV)\b(?:\.([A-Za-z_]\w*)|\[\s*"(\w+)"\s*\])?`)

// printsValue reports whether an interpreter prints the value of the expression it is given.
func printsValue(r *shell.Run) bool {
	flags, _ := facts.SplitFlags(r.Args())
	return facts.HasShort(flags, 'p') || facts.HasLong(flags, "--print")
}

// envInCode finds the environment that code prints: python3 -c 'print(os.environ)'.
func (x *scope) envInCode(r *shell.Run) {
	text, ok := r.Code()
	if _, rest := facts.SplitFlags(r.Args()); !ok && len(rest) > 0 && r.Name() == "jq" {
		for _, m := range environmentFilter.Compiled().FindAllStringSubmatch(rest[0].Text, 16) {
			if name := m[1] + m[2]; name == "" {
				x.Report.Add("env-dump", r.Name(), "jq's env is every variable, secrets included")
				return
			} else if secretVariable.MatchString(name) && r.To.Empty() && r.Sink == "" {
				x.Report.Add("variable", r.Name(), "jq prints the variable "+name)
				return
			}
		}
	}
	if ok && namesEnvironment(text) && (codeDumps.MatchString(text) || printsValue(r) && wholeEnvironment.MatchString(text)) {
		x.Report.Add("env-dump", r.Name(), r.Name()+" code prints every variable, secrets included")
	}
}

// tokenHosts says where the token of a service may go if neither name suggests the other.
var tokenHosts = map[string][]string{
	"gh": {"github.", "githubusercontent.", "ghcr.io"}, "github": {"github.", "githubusercontent.", "ghcr.io",
		"githubcopilot."}, "gl": {"gitlab"}, "ci": {"gitlab", "circleci", "github."}, "npm": {"npmjs.",
		"npm.pkg.github."},
	"node": {"npmjs."}, "aws": {"amazonaws.", "aws."}, "google": {"googleapis.", "google."}, "gcp": {"googleapis.",
		"google."}, "gcloud": {"googleapis.", "google."}, "gemini": {"googleapis.", "google."},
	"claude": {"anthropic."}, "anthropic": {"anthropic.", "claude."}, "cf": {"cloudflare."},
	"cloudflare": {"cloudflare.",
		"workers.dev"}, "do": {"digitalocean."}, "hf": {"huggingface.", "hf.co"}, "huggingface": {"huggingface.",
		"hf.co"},
	"jira": {"atlassian."}, "confluence": {"atlassian."}, "atlassian": {"atlassian.", "bitbucket."},
	"bb":     {"bitbucket."},
	"circle": {"circleci."}, "twine": {"pypi."}, "pypi": {"pypi."}, "cargo": {"crates.io"},
	"docker": {"docker.io", "docker.com"}, "dockerhub": {"docker.io", "docker.com"}, "xai": {"x.ai"},
	"grok":  {"x.ai"},
	"azure": {"azure.", "microsoft", "windows.net"}, "fly": {"fly.io"}, "sonar": {"sonarcloud.", "sonarqube."},
	"tf": {"terraform.io"},
	"dd": {"datadoghq."}, "datadog": {"datadoghq."}, "openai": {"openai.", "azure."}, "slack": {"slack."},
	"tg": {"telegram."}, "bot": {"telegram.", "slack.", "discord"},
}

// genericParts of a variable's name say nothing about whose token it is.
var genericParts = map[string]bool{"token": true, "secret": true, "key": true, "api": true, "apikey": true,
	"access": true, "auth": true, "password": true, "passwd": true, "private": true, "credential": true,
	"credentials": true,
	"id":          true, "client": true, "my": true, "the": true, "user": true, "admin": true, "service": true,
	"bearer":   true,
	"personal": true, "app": true, "oauth": true, "jwt": true, "session": true, "test": true, "dev": true,
	"staging": true, "prod": true, "id_token": true, "refresh": true}

// variableSent finds a secret variable that goes to a host that is not its service's.
func (x *scope) variableSent(r *shell.Run) {
	p := x.Script.Programs.Of(r.Name())
	if looksUp := p.Talks != nil && p.Talks.Bare && p.Has(programs.Poll|programs.Fetches); looksUp && !p.Has(programs.Sends) {
		for _, a := range r.Args() {
			for _, v := range a.Vars {
				if secretVariable.MatchString(v) && strings.Contains(a.Text, ".") && !showsPartOnly(a.Text, v) {
					x.Report.Add("send", r.Head(), fmt.Sprintf("%s has a name server learn the variable %s", r.Name(), v))
					return
				}
			}
		}
	}
	switch r.Name() {
	case "curl", "wget", "http", "https", "xh", "curlie", "nc", "ncat", "telnet":
	default:
		return
	}
	for _, v := range r.Input.Vars {
		if _, operands := facts.SplitFlags(r.Args()); r.HasInput && len(operands) > 0 && secretVariable.MatchString(v) &&
			strings.Contains(r.Input.Text, "$") && !isLocal(strings.ToLower(operands[0].Text)) {
			x.Report.Add("send", r.Head(), fmt.Sprintf("%s sends the variable %s", r.Name(), v))
			return
		}
	}
	var hosts []string
	args := r.Args()
	for _, a := range args { // https://$TOKEN.x.test
		if _, behind, ok := strings.Cut(a.Text, "://"); ok {
			host, _, _ := strings.Cut(behind, "/")
			for _, v := range a.Vars {
				if secretVariable.MatchString(v) && !strings.Contains(host, "@") && strings.Contains(host, v) {
					x.Report.Add("send", r.Head(), fmt.Sprintf("%s has a name server learn the variable %s", r.Name(), v))
					return
				}
			}
		}
	}
	for i, a := range args {
		if h := hostOf(a.Text); h != "" && (strings.Contains(a.Text,
			"://") || i == 0 || !takesValue(args[i-1].Text)) {
			hosts = append(hosts, h)
		}
	}
	for i, a := range args {
		for _, v := range a.Vars {
			if !secretVariable.MatchString(v) || !strings.Contains(a.Text, "$") || showsPartOnly(a.Text, v) {
				continue
			}
			flag := ""
			if i > 0 {
				flag = args[i-1].Text
			}
			for _, h := range hosts {
				if !tokenBelongsTo(v, h, loginWord(flag, a.Text)) {
					x.Report.Add("send", r.Head(), fmt.Sprintf("%s sends the variable %s to %s", r.Name(), v, h))
					return
				}
			}
		}
	}
}

// bareHost: curl accepts a host without a scheme, too.
var bareHost = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+(:\d+)?(/.*)?$`)

// hostOf returns the host in a word that is an address, "" for other words and for hosts that
// only the shell knows.
func hostOf(t string) string {
	_, rest, ok := strings.Cut(t, "://")
	if !ok {
		if !bareHost.MatchString(t) {
			return ""
		}
		rest = t
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if inner, ok := strings.CutPrefix(rest, "["); ok { // an address of IPv6
		inner, _, _ = strings.Cut(inner, "]")
		return inner
	}
	rest, _, _ = strings.Cut(rest, ":")
	if strings.ContainsAny(rest, "$`") {
		return ""
	}
	return strings.ToLower(rest)
}

// takesValue reports whether the word after this option of curl or wget is its value, and not an
// address.
func takesValue(flag string) bool {
	if strings.HasPrefix(flag, "--") {
		switch flag {
		case "--silent", "--show-error", "--fail", "--location", "--verbose", "--include", "--insecure",
			"--compressed",
			"--get", "--head":
			return false
		}
		return !strings.Contains(flag, "=")
	}
	return strings.HasPrefix(flag, "-") && strings.ContainsAny(flag[len(flag)-1:], "HdoOuXFAebcTKmxwPtr")
}

// loginWord reports whether this is where a request carries its credentials.
func loginWord(flag, text string) bool {
	switch flag {
	case "-u", "--user", "--oauth2-bearer", "-a", "--auth", "--password", "--http-password":
		return true
	}
	head, _, ok := strings.Cut(strings.ToLower(text), ":")
	if !ok {
		return false
	}
	for _, h := range [...]string{"authorization", "api-key", "apikey", "token", "x-auth", "x-access", "cookie"} {
		if strings.Contains(head, h) {
			return true
		}
	}
	return false
}

// isLocal reports whether a host is this machine or in a private network.
// 127.0.0.1.example.com is neither.
func isLocal(host string) bool {
	switch host {
	case "localhost", "::1", "0.0.0.0", "host.docker.internal":
		return true
	}
	if strings.Trim(host, "0123456789.") != "" {
		return false
	}
	for _, network := range [...]string{"127.", "10.", "192.168.", "172.16.", "172.17."} {
		if strings.HasPrefix(host, network) {
			return true
		}
	}
	return false
}

// tokenBelongsTo reports whether host plausibly is where the token named v is for. A name that
// says nothing about that is given the benefit of the doubt in a login header.
func tokenBelongsTo(v, host string, login bool) bool {
	if isLocal(host) {
		return true
	}
	for _, end := range [...]string{".local", ".localhost", ".internal", ".test", ".lan"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	named := false
	for _, part := range strings.Split(strings.ToLower(v), "_") {
		if len(part) < 2 || genericParts[part] {
			continue
		}
		named = true
		if len(part) > 2 && strings.Contains(host, part) {
			return true
		}
		for _, h := range tokenHosts[part] {
			if strings.HasPrefix(host, h) || strings.Contains(host, "."+h) || strings.HasSuffix(host, h) {
				return true
			}
		}
	}
	_, known := tokenHosts[strings.ToLower(strings.SplitN(v, "_", 2)[0])]
	if named && !known && login {
		// A company's own token under the company's own name for it.
		return true
	}
	return !named && login
}
