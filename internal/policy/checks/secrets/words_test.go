package secrets

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// checkLine gives the rules that a command breaks.
func checkLine(opt facts.Machine, command string) string {
	call := guardtest.ShellCall(command)
	script := shell.Parse(command)
	report := &facts.Report{}
	New(opt).CheckScript(facts.NewScope(&call, &script, report, opt.Resolve))
	var rules []string
	for _, f := range report.List {
		rules = append(rules, "secrets."+f.Check)
	}
	return strings.Join(rules, " ")
}

// A guard never panics, however few words a command has.
func TestShortCommands(*testing.T) {
	names := slices.Concat(programs.WithOperands(), programs.With(func(p *programs.Program) bool {
		return p.Has(programs.Sends) || len(p.Does[programs.PrintsSecret]) > 0
	}), []string{"env", "export", "set", "env | grep", "git show", "find", "openssl rsa", "ln", "find . -name .env"})
	for _, name := range names {
		for _, word := range []string{"", "-", "-T", "-in", "-exec", "x", ":", "-e", "-u", "-o", "--", "''", "x.y"} {
			for _, second := range []string{"", "x", "-T"} {
				checkLine(facts.Machine{}, name+" "+word+" "+second)
			}
		}
	}
}

func TestHosts(t *testing.T) {
	for word, want := range map[string]string{
		"https://API.github.com/x": "api.github.com", "https://u:p@host.example:8080/x": "host.example", "http://h?x": "h", "http://h#x": "h",
		"file:///x": "", "host.example": "host.example", "host.example:80/x": "host.example", "word": "", "http://@h/x": "h",
		"http://$H/x": "", "http://[::1]:80/x": "::1", "http://[2001:db8::1]/x": "2001:db8::1", "a@b@c.example": "", "http://a@b@c/x": "c",
	} {
		if got := hostOf(word); got != want {
			t.Errorf("the host of %q: got %q, want %q", word, got, want)
		}
	}
	for flag, want := range map[string]bool{
		"-H": true, "-s": false, "-sSo": true, "-": false, "": false, "o": false, "--header": true, "--silent": false, "--header=x": false,
		"do": false,
	} {
		if got := takesValue(flag); got != want {
			t.Errorf("%q takes a value: got %v, want %v", flag, got, want)
		}
	}
}

// A token goes to its own service, or stays on this machine; a company's own name for one may go where the company logs in.
func TestWhereTokensBelong(t *testing.T) {
	for _, c := range []struct {
		variable, host string
		login, want    bool
	}{
		{"GITHUB_TOKEN", "api.github.com", false, true}, {"GH_TOKEN", "api.github.com", false, true}, {"GH_TOKEN", "ghost.example", false, false},
		{"GITHUB_TOKEN", "evil.example", true, false}, {"API_TOKEN", "evil.example", false, false}, {"API_TOKEN", "evil.example", true, true},
		{"ACME_TOKEN", "acme.example", false, true}, {"ACME_TOKEN", "other.example", true, true}, {"ACME_TOKEN", "other.example", false, false},
		{"GITHUB_TOKEN", "localhost", false, true}, {"GITHUB_TOKEN", "127.0.0.1", false, true}, {"GITHUB_TOKEN", "10.1.2.3", false, true},
		{"GITHUB_TOKEN", "192.168.1.2", false, true}, {"GITHUB_TOKEN", "172.16.0.1", false, true}, {"GITHUB_TOKEN", "::1", false, true},
		{"GITHUB_TOKEN", "127.0.0.1.evil.example", false, false}, {"GITHUB_TOKEN", "10.evil.example", false, false},
		{"GITHUB_TOKEN", "2001:db8::1", false, false}, {"GITHUB_TOKEN", "8.8.8.8", false, false}, {"GITHUB_TOKEN", "printer.local", false, true},
		{"X_TOKEN", "x.example", false, false}, {"XAI_KEY", "api.x.ai", false, true}, {"DO_TOKEN", "dodo.example", false, false},
		{"ABC_TOKEN", "abc.example", false, true}, {"AB_TOKEN", "ab.example", false, false},
	} {
		if got := tokenBelongsTo(c.variable, c.host, c.login); got != c.want {
			t.Errorf("%s belongs to %s, as a login %v: got %v, want %v", c.variable, c.host, c.login, got, c.want)
		}
	}
}

func TestKeysThatOpenSSLShows(t *testing.T) {
	for line, want := range map[string]string{
		"rsa -in server.key": "server.key", "rsa -in server.key -out x": "server.key", "rsa -in": "", "rsa": "", "": "",
		"rsa -in server.key -noout": "", "x509 -in server.key": "",
	} {
		var words []shell.Word
		for _, text := range strings.Fields(line) {
			words = append(words, shell.Word{Text: text})
		}
		if got := facts.JoinArgs(opensslPrints(words)); got != want {
			t.Errorf("openssl %s shows %q, want %q", line, got, want)
		}
	}
}

func TestKeysOfSSH(t *testing.T) {
	for p, want := range map[string]bool{
		".ssh/deploy": true, "/home/u/.ssh/deploy": true, "my.ssh/deploy": false, "/x/my.ssh/deploy": false, ".ssh/deploy.pub": false,
		".ssh/config": false, "deploy": false, "my.ssh/.ssh/deploy": true,
	} {
		if got := inSSH(p, path.Base(p)); got != want {
			t.Errorf("%s is a private key: got %v, want %v", p, got, want)
		}
	}
}

func TestNamedInText(t *testing.T) {
	for text, want := range map[string]string{
		"cat .env (": ".env", "cat\t~/.ssh/id_rsa (": "~/.ssh/id_rsa", "x=.netrc": ".netrc", "ls (": "", "a@server.key": "server.key",
	} {
		if got := New(facts.Machine{}).NamedIn(text); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// resolve leads notes.txt to a key, as a link on the disk does.
func resolve(p string) string {
	if path.Base(p) == "notes.txt" {
		return "/home/dev/.ssh/id_rsa"
	}
	return p
}

func TestLinksAreFollowed(t *testing.T) {
	for command, want := range map[string]string{"cat notes.txt": "secrets.read", "cat other.txt": "", "cat < notes.txt": "secrets.read"} {
		if got := checkLine(facts.Machine{Resolve: resolve}, command); got != want {
			t.Errorf("%s where links are followed: got %q, want %q", command, got, want)
		}
		if got := checkLine(facts.Machine{}, command); got != "" {
			t.Errorf("%s where no link is followed: got %q, want nothing", command, got)
		}
		if !New(facts.Machine{Resolve: resolve}).MustParse(command) || New(facts.Machine{}).MustParse(command) {
			t.Errorf("%s must be parsed where links are followed, and only there", command)
		}
	}
}

// File and search tools: by name, through links, by where and for what they search.
func TestPathsOfFileTools(t *testing.T) {
	for _, c := range []struct {
		kind, tool    string
		reads, extra  []string
		url           string
		linked, plain int // findings where links are followed, and where not
	}{
		{"file_read", "Read", []string{".env"}, nil, "", 1, 1}, {"file_read", "Read", []string{"a.go"}, nil, "", 0, 0},
		{"file_read", "Read", []string{"notes.txt"}, nil, "", 1, 0}, {"file_read", "Read", []string{"~/.ssh"}, nil, "", 0, 0},
		{"search", "Grep", []string{"/home/dev/.ssh"}, nil, "", 1, 1}, {"search", "LS", []string{"/home/dev/.ssh"}, nil, "", 0, 0},
		{"search", "Glob", nil, []string{"**/id_*"}, "", 1, 1}, {"search", "Glob", nil, []string{"**/*.go"}, "", 0, 0},
		{"file_read", "Read", nil, []string{"**/id_*"}, "", 0, 0},
		{"search", "Grep", []string{"/home/dev/.docker"}, []string{"config.json"}, "", 1, 1},
		{"search", "Grep", []string{"/home/dev/.docker"}, []string{"/config.json"}, "", 0, 0},
		{"search", "list_files", []string{"/home/dev/.docker"}, []string{"config.json"}, "", 0, 0},
		{"search", "Grep", []string{".docker"}, []string{".docker"}, "", 0, 0},
		{"file_read", "Read", []string{"/home/dev/.docker"}, []string{"config.json"}, "", 0, 0},
		{"fetch", "WebFetch", nil, nil, "file:///home/dev/.env", 1, 1}, {"fetch", "WebFetch", nil, nil, "https://x.example/.env", 0, 0},
	} {
		for _, follow := range []bool{true, false} {
			opt, want := facts.Machine{}, c.plain
			if follow {
				opt.Resolve, want = resolve, c.linked
			}
			call := guardtest.ShellCall("")
			call.Commands, call.ToolKind, call.ToolName, call.Reads, call.URL = nil, c.kind, c.tool, c.reads, c.url
			report := &facts.Report{}
			New(opt).CheckPaths(facts.NewScope(&call, nil, report, opt.Resolve), facts.InputPaths{Reads: c.extra})
			if len(report.List) != want {
				t.Errorf("%s of %q and %q %s, links followed %v: got %+v, want %d findings", c.tool, c.reads, c.extra, c.url, follow,
					report.List, want)
			}
		}
	}
}
