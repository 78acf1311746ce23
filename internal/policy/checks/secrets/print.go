package secrets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// feedsLogin reports whether the output goes to a login, which is what tokens are for:
// … | docker login --password-stdin.
func (x *scope) feedsLogin(r *shell.Run) bool {
	for _, n := range x.RunsIn(r.To) {
		line := facts.JoinArgs(n.Args())
		if strings.Contains(line, "--password-stdin") || strings.Contains(line, "--with-token") ||
			strings.Contains(line,
				"secret set") || strings.Contains(line, "wc -c") || n.Name() == "wc" {
			return true
		}
	}
	return false
}

func (x *scope) printsSecret(r *shell.Run) {
	name := r.Name()
	args := r.Args()
	line := facts.JoinArgs(args)
	if (name == "docker" || name == "podman") && strings.Contains(line, "inspect") &&
		(strings.Contains(line, ".Config.Env") || slices.ContainsFunc(x.Sinks(r.To), func(n *shell.Run) bool {
			return strings.Contains(facts.JoinArgs(n.Args()), "Env")
		})) {
		x.Report.Add("print", r.Head(), name+" inspect prints the environment of a container")
		return
	}
	if facts.HasWord(args, "--help") {
		return
	}
	hit, always := "", false
	for _, p := range x.Script.Programs.Of(name).Does[programs.PrintsSecret] {
		if strings.HasPrefix(line+" ", p+" ") || strings.Contains(p, " ") && facts.HasPhrase(line, p) {
			hit = p
			break
		}
	}
	if p := x.Script.Programs.Of(name); hit == "" && (p.Own() || !anyDynamic(args)) {
		hit, always = p.Phrase(programs.PrintsSecret, facts.KnownTexts(args)) // with options before it
		always = always && hit == ""
	}
	switch name {
	case "kubectl", "oc", "k":
		out := strings.Contains(line, "-o yaml") || strings.Contains(line, "-o json") ||
			strings.Contains(line, "-ojson") ||
			strings.Contains(line, "-oyaml") || strings.Contains(line, "jsonpath") ||
			strings.Contains(line, "--output") ||
			strings.Contains(line, "go-template")
		if facts.HasWord(args, "get") && out && slices.ContainsFunc(args, namesSecrets) {
			hit = "get secret -o"
		}
		if facts.HasWord(args, "get") && strings.Contains(line, "--raw") && strings.Contains(line, "/secrets") {
			hit = "get --raw"
		}
	}
	if hit == "" && !always || loadsEnvironment(r) || x.feedsLogin(r) {
		return
	}
	x.Report.Add("print", r.Head(), fmt.Sprintf("%s %s prints a stored secret", name, hit))
}

// namesSecrets reports whether a word names secrets among the kinds of a cluster's
// objects: secret, secrets/x, configmap,secret.
func namesSecrets(w shell.Word) bool {
	for _, kind := range strings.Split(strings.ToLower(w.Text), ",") {
		kind, _, _ = strings.Cut(kind, "/")
		kind, _, _ = strings.Cut(kind, ".")
		if kind == "secret" || kind == "secrets" {
			return true
		}
	}
	return false
}

var secretVariable = lazyregexp.New(`(?i)(^|_)(token|secret|passwd|password|api_?key|apikey|access_?key|` +
	`private_?key|secret_?key|credentials?|auth_?key|secret_access_key)(_?id)?$|^(aws_secret_access_key|` +
	`aws_session_token|[a-z]*(stripe|openai|anthropic|sendgrid|mailgun|twilio|encryption|signing|signature|jwt|session|master|datadog|cloudflare|supabase|service_role)_key|npm_auth|pgpass|mysql_pwd|openai_api_key|anthropic_api_key|github_token|gh_token|npm_token|database_url|pgpassword)$`)

// printsVariable finds echo $TOKEN to a place where it can be read.
func (x *scope) printsVariable(r *shell.Run) {
	name := r.Name()
	switch name {
	case "printenv", "declare", "typeset":
		if name != "printenv" && !facts.HasWord(r.Args(), "-p", "-xp", "-px") {
			return
		}
		for _, a := range r.Args() {
			if secretVariable.MatchString(a.Text) && r.To.Empty() {
				x.Report.Add("variable", r.Head(), fmt.Sprintf("prints the variable %s", a.Text))
			}
		}
		return
	case "echo", "printf", "print":
	default:
		x.showsVariable(r)
		x.showsInError(r)
		return
	}
	if !r.To.Empty() && !x.reachesNetwork(r) && !x.printsOn(r) || loadsEnvironment(r) || r.Sink != "" {
		return
	}
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Op != ">&" && !strings.HasPrefix(rd.Target.Text, "/dev/tcp/") {
			return // it goes into a file, which is what .env files are made of
		}
	}
	for _, a := range r.Args() {
		for _, v := range a.Vars {
			if secretVariable.MatchString(v) && strings.Contains(a.Text, "$") && !showsPartOnly(a.Text, v) {
				x.Report.Add("variable", r.Head(), fmt.Sprintf("prints the variable %s", v))
				return
			}
		}
	}
}

// showsVariable finds programs that show a variable without an echo: cat <<< "$TOKEN",
// envsubst <<< '$TOKEN', and any command that a traced shell prints before it runs it.
func (x *scope) showsVariable(r *shell.Run) {
	shown := func(text string, vars []string) {
		for _, v := range vars {
			if secretVariable.MatchString(v) && strings.Contains(text, "$") && !showsPartOnly(text, v) {
				x.Report.Add("variable", r.Head(), fmt.Sprintf("prints the variable %s", v))
				return
			}
		}
	}
	printed := (r.To.Empty() || x.printsOn(r)) && r.Sink == "" && !slices.ContainsFunc(r.Redirects, func(rd shell.Redirect) bool {
		return rd.Writes() && rd.Op != ">&"
	})
	switch _, operands := facts.SplitFlags(r.Args()); {
	case !printed || !r.HasInput:
	case r.Name() == "envsubst":
		shown(r.Input.Text, variablesIn(r.Input.Text))
	case isReader(r.Name()) && len(operands) == 0:
		shown(r.Input.Text, r.Input.Vars)
	}
	if code, ok := r.Code(); ok && printed && printsText.MatchString(code) { // python3 -c "print('$TOKEN')"
		for _, a := range r.Args() {
			shown(a.Text, a.Vars)
		}
	}
	if x.traces(r) {
		for _, a := range r.Argv {
			shown(a.Text, a.Vars)
		}
	}
}

// printsText matches how code prints.
var printsText = lazyregexp.New(`\b(print|puts|echo|console\.log|write|say|warn|p)\b`)

// namedInErrors matches texts that are part of the error message if a file of this name doesn't
// exist, or a variable isn't set.
var namedInErrors = lazyregexp.New(`(?i)/[$][{]?[a-z_]*(token|password|passwd|secret|api_?key)[}]?($|/)|:[?][^}]*[$]`)

// showsInError finds ls /x/$TOKEN and : ${X:?$TOKEN}, which print the value because they
// fail.
func (x *scope) showsInError(r *shell.Run) {
	for _, a := range r.Args() {
		if !a.Dynamic || strings.HasPrefix(a.Text, "-") || strings.Contains(a.Text, "://") ||
			!namedInErrors.Compiled().MatchString(a.Text) {
			continue
		}
		for _, v := range a.Vars {
			if secretVariable.MatchString(v) {
				x.Report.Add("variable", r.Head(), fmt.Sprintf("has an error message print the variable %s", v))
				return
			}
		}
	}
}

// traces reports whether the shell prints a run before it starts it: after set -x, and
// below bash -x.
func (x *scope) traces(r *shell.Run) bool {
	for _, via := range r.Via {
		if words := strings.Fields(via); len(words) > 1 && shell.IsShell(words[0]) && strings.HasPrefix(words[1], "-") &&
			strings.Contains(words[1], "x") && words[1][1] != '-' {
			return true
		}
	}
	traced := false
	for i := range x.Script.Runs {
		if &x.Script.Runs[i] == r {
			break
		}
		if set := &x.Script.Runs[i]; set.Name() == "set" {
			for _, a := range set.Args() {
				switch {
				case strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "x") || a.Text == "xtrace":
					traced = true
				case strings.HasPrefix(a.Text, "+") && strings.Contains(a.Text, "x"):
					traced = false
				}
			}
		}
	}
	return traced
}

var namedVariable = lazyregexp.New(`\$\{?([A-Za-z_]\w*)`)

// variablesIn returns the variables that a text names.
func variablesIn(text string) []string {
	var out []string
	for _, m := range namedVariable.Compiled().FindAllStringSubmatch(text, 64) {
		out = append(out, m[1])
	}
	return out
}

// shownLetters is how many letters of a secret identify it without revealing more.
const shownLetters = 4

// showsPartOnly reports whether a text reveals nothing of the value, like ${TOKEN:0:4} and
// ${TOKEN:+set}.
func showsPartOnly(text, name string) bool {
	if strings.Contains(text, "${#"+name) || strings.Contains(text, "${"+name+"+") {
		return true
	}
	_, rest, found := strings.Cut(text, "${"+name+":")
	if !found {
		return false
	}
	if strings.HasPrefix(rest, "+") {
		return true
	}
	part, _, _ := strings.Cut(rest, "}")
	offset, length, both := strings.Cut(part, ":")
	last := strings.TrimLeft(offset, " (")
	if !both && strings.HasPrefix(last, "-") && offset != last { // ${TOKEN: -4}
		length = strings.Trim(last, "-) ")
	}
	count, err := strconv.Atoi(strings.TrimSpace(length))
	return err == nil && count >= 0 && count <= shownLetters
}

// printsOn reports whether the pipe ends in something that shows its input.
func (x *scope) printsOn(r *shell.Run) bool {
	for _, n := range x.RunsIn(r.To) {
		switch n.Name() {
		case "cat", "base64", "xxd", "rev", "tee", "od", "hexdump", "fold", "nl", "tac", "expand", "pr", "strings", "base32":
			return true
		}
	}
	return false
}

// grepsEnvironment finds env | grep TOKEN, which prints the token.
func (x *scope) grepsEnvironment(r *shell.Run) {
	switch r.Name() {
	case "grep", "egrep", "rg":
	default:
		return
	}
	if quietRead(r.Name(), r) || loadsEnvironment(r) || !r.To.Empty() {
		return
	}
	_, words := facts.SplitFlags(r.Args())
	if len(words) > 1 && secretPattern.MatchString(words[0].Text) {
		for _, w := range words[1:] {
			if strings.HasSuffix(w.Text, "_history") || x.searchesHome(r, w) {
				x.Report.Add("read", r.Head(), fmt.Sprintf("looks for secrets in %s", w.Text))
				return
			}
		}
	}
	for _, from := range x.RunsIn(r.From) {
		if n := from.Name(); n == "cat" && len(from.Args()) > 0 && len(words) > 0 &&
			strings.HasSuffix(from.Args()[0].Text, "_history") && secretPattern.MatchString(words[0].Text) {
			x.Report.Add("read", r.Head(), "looks for secrets in the history of commands")
			return
		}
		if n := from.Name(); (n == "env" || n == "printenv" || n == "set" || n == "export" || n == "history" ||
			n == "fc") &&
			len(from.Args()) == 0 {
			_, rest := facts.SplitFlags(r.Args())
			if len(rest) > 0 && secretPattern.MatchString(rest[0].Text) {
				x.Report.Add("variable", r.Head(), "prints variables that hold secrets")
			}
		}
	}
}

// searchesHome finds grep -r "PRIVATE KEY" ~, which finds keys wherever they are.
func (x *scope) searchesHome(r *shell.Run, w shell.Word) bool {
	flags, _ := facts.SplitFlags(r.Args())
	if r.Name() != "rg" && !facts.HasShort(flags, 'r', 'R') && !facts.HasLong(flags, "--recursive") {
		return false
	}
	p := x.ResolveWord(w, r)
	switch p.Path {
	case x.Home, x.Home + "/.config", x.Home + "/.local/share", "/", "/etc", "/home", "/root", "/Users":
		return p.Known
	}
	return false
}

var secretPattern = lazyregexp.New(`(?i)token|secret|passw|api_?key|credential|private key|BEGIN .*KEY|AKIA`)
