package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// writeFile writes a file and the folders above it.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rule writes one rule on a line.
func rule(id, match, decide, more, hit string) string {
	return fmt.Sprintf("  - {id: %s, why: because of %s, match: {%s}, decide: %s%s, examples: {hit: [%s]}}\n", id, id, match,
		decide, more, hit)
}

func rulesFile(list ...string) string { return "version: 1\nrules:\n" + strings.Join(list, "") }

func shellEvent(cwd, command string) *event.Event {
	input, _ := json.Marshal(map[string]string{"command": command})
	return &event.Event{ID: "1", Time: time.Now(), Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Cwd: cwd,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: input}}
}

// decideBy returns what guards and rules come to.
func decideBy(s *Sources, o GuardOptions, ev *event.Event) event.Decision {
	if o.Settings[0] == nil {
		o.Settings[0] = s.Config.Settings()
	}
	entries := s.Guards(o)
	hook.Sort(entries)
	return new(hook.Dispatcher).Decide(context.Background(), hook.Call{Event: ev, Carries: event.Carries{Context: true}},
		hook.Select(entries, ev, nil)).Decision
}

// live takes files as they are.
func live(t *testing.T) *Sources { return New(Options{Dirs: place(t), Catalogue: agent.Builtin()}) }

func TestRulesDecide(t *testing.T) {
	s := live(t)
	writeFile(t, s.Dirs.Config+"/rules/mine.yaml", rulesFile(
		rule("no-deploy", "program: make, subcommand: deploy", "deny", "", "make deploy"),
		rule("ask-clean", "program: make, subcommand: clean", "ask", "", "make clean"),
		rule("careful", "program: npm", "warn", "", "npm ci"),
		rule("tests", "program: go, subcommand: test", "allow", "", "go test"),
		rule("quiet", "program: cargo", "deny", ", mode: log", "cargo publish"),
		rule("env", "path: .env, access: read", "deny", ", onUnknown: ignore", "cat .env"),
		rule("hosts", "host: evil.test", "deny", ", onUnknown: deny", "curl evil.test"),
	))
	writeFile(t, s.Dirs.System+"/rules/all.yaml", rulesFile(
		rule("no-curl-upload", "program: curl, flags: -T", "deny", "", "curl -T x y.test")))
	for _, c := range []struct {
		command string
		want    event.Verdict
		rule    string
	}{
		{"make deploy", event.Deny, "no-deploy"},
		{"sudo env A=1 make deploy", event.Deny, "no-deploy"},
		{"make clean && make deploy", event.Deny, "no-deploy"},
		{"make clean", event.Ask, "ask-clean"},
		{"make $TARGET", event.Ask, "no-deploy"},
		{"go test ./...", event.Allow, "tests"},
		{"go test ./... && rm -r x", event.None, ""},
		{"go test ./... > out.txt", event.None, ""},
		{"go test out.txt > out.txt", event.None, ""},
		{"npm ci", event.None, ""},
		{"cargo publish", event.None, ""},
		{"cat $FILE", event.None, ""},
		{"curl $URL", event.Deny, "hosts"},
		{"curl -T x y.test", event.Deny, "no-curl-upload"},
		{"ls", event.None, ""},
	} {
		got := decideBy(s, GuardOptions{Project: s.Dirs.Home}, shellEvent(s.Dirs.Home, c.command))
		if got.Verdict != c.want || got.Rule != c.rule {
			t.Errorf("%s: %s by %q, want %s by %q", c.command, got.Verdict.Word(), got.Rule, c.want.Word(), c.rule)
		}
	}
	warned := decideBy(s, GuardOptions{}, shellEvent(s.Dirs.Home, "npm ci"))
	if !strings.Contains(warned.Context, "careful: because of careful") || warned.Notice != warned.Context {
		t.Errorf("a warning says %q to the model and %q to the user, want the rule and why in both", warned.Context,
			warned.Notice)
	}
	// An administrator's rule offers no way around it, and no state counts for it.
	denied := decideBy(s, GuardOptions{
		Pass:    func(*hook.Call, string) bool { return true },
		Resting: []Pause{{Name: "no-curl-upload", Until: time.Now().Add(time.Hour)}},
	}, shellEvent(s.Dirs.Home, "curl -T x y.test"))
	if denied.Verdict != event.Deny || strings.Contains(denied.Reason, "guard exception add") {
		t.Errorf("an administrator's rule: %s, %q; want a deny that offers nothing", denied.Verdict.Word(), denied.Reason)
	}
	// A pause lets a rule rest, and a person may let one pass.
	for name, o := range map[string]GuardOptions{
		"pause":   {Resting: []Pause{{Name: "no-deploy", Until: time.Now().Add(time.Hour)}}},
		"allowed": {Pass: func(_ *hook.Call, id string) bool { return id == "no-deploy" }},
	} {
		if got := decideBy(s, o, shellEvent(s.Dirs.Home, "make deploy")); got.Verdict != event.None {
			t.Errorf("%s: %s, want no say", name, got.Verdict.Word())
		}
	}
	// A guard's refusal wins over a rule that allows.
	writeFile(t, s.Dirs.Config+"/rules/loose.yaml", rulesFile(rule("any-git", "program: git", "allow", "", "git status")))
	writeFile(t, s.Dirs.Config+"/config.json", `{"guard.destructive": "block"}`)
	got := decideBy(s, GuardOptions{}, shellEvent(s.Dirs.Home, "git push --force origin main"))
	if got.Verdict != event.Deny || got.By != "guard.destructive" {
		t.Errorf("a guard beside a rule that allows: %s by %s, want deny by guard.destructive", got.Verdict.Word(), got.By)
	}
}

// trustedProject makes a project with rules and trusts it.
func trustedProject(t *testing.T, s *Sources, text string) *trust.TrustedContent {
	t.Helper()
	root := filepath.Join(s.Dirs.Home, "project")
	writeFile(t, filepath.Join(root, ".hookmux/rules/team.yaml"), text)
	if f := s.Trust.InForce(root); len(f.RuleFiles()) > 0 {
		t.Errorf("rules %v of a project that nobody trusts are in force, want none", f.RuleFiles())
	}
	f, err := s.Trust.Trust(root, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A project's rules count in the project, after trust, also when the agent goes
// elsewhere, and their paths mean the project's.
func TestProjectRules(t *testing.T) {
	s := live(t)
	trusted := trustedProject(t, s, rulesFile(
		rule("no-deploy", "program: make, subcommand: deploy", "deny", "", "make deploy"),
		rule("infra", "path: ./infra/, access: change", "ask", "", "rm infra/x"),
		rule("loose", "program: ls", "allow", "", "ls"),
	))
	elsewhere := filepath.Join(s.Dirs.Home, "other")
	for _, c := range []struct {
		name    string
		options GuardOptions
		ev      *event.Event
		want    event.Verdict
	}{
		{"in it", GuardOptions{Trusted: [2]*trust.TrustedContent{trusted}, Project: trusted.Root}, shellEvent(trusted.Root, "make deploy"), event.Deny},
		{"its path", GuardOptions{Trusted: [2]*trust.TrustedContent{trusted}, Project: trusted.Root}, shellEvent(trusted.Root, "rm infra/x"), event.Ask},
		{"elsewhere", GuardOptions{Project: elsewhere}, shellEvent(elsewhere, "make deploy"), event.None},
		{"gone elsewhere", GuardOptions{Trusted: [2]*trust.TrustedContent{nil, trusted}, Project: elsewhere}, shellEvent(elsewhere, "make deploy"), event.Deny},
		{"its path from elsewhere", GuardOptions{Trusted: [2]*trust.TrustedContent{nil, trusted}, Project: elsewhere},
			shellEvent(elsewhere, "rm "+trusted.Root+"/infra/x"), event.Ask},
		{"another's path", GuardOptions{Trusted: [2]*trust.TrustedContent{nil, trusted}, Project: elsewhere},
			shellEvent(elsewhere, "rm infra/x"), event.None},
		{"allowing", GuardOptions{Trusted: [2]*trust.TrustedContent{trusted}, Project: trusted.Root}, shellEvent(trusted.Root, "ls"), event.None},
	} {
		if got := decideBy(s, c.options, c.ev); got.Verdict != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.Verdict.Word(), c.want.Word())
		}
	}
	_, here, _ := s.RulesIn(&GuardOptions{Trusted: [2]*trust.TrustedContent{trusted}})
	if len(here.Problems) != 1 || !strings.Contains(here.Problems[0].Text, "only make things tighter") {
		t.Errorf("problems %v, want one about the rule that allows", here.Problems)
	}
	// What changed waits: the trusted rules stay.
	writeFile(t, filepath.Join(trusted.Root, ".hookmux/rules/team.yaml"), rulesFile())
	now := s.Trust.InForce(trusted.Root)
	got := decideBy(s, GuardOptions{Trusted: [2]*trust.TrustedContent{now}, Project: now.Root}, shellEvent(now.Root, "make deploy"))
	if got.Verdict != event.Deny {
		t.Errorf("after the project's file was emptied: %s, want deny by the trusted copy", got.Verdict.Word())
	}
}

// strictness orders what calls get: a project must never make it less.
var strictness = map[event.Verdict]int{event.Allow: 0, event.None: 1, event.Ask: 2, event.Deny: 3}

// Whatever a project's rules say, no call gets through that does not without them,
// and none is allowed that is not.
func TestProjectNeverLoosens(t *testing.T) {
	calls := []string{"make deploy", "make clean", "npm publish", "npm ci", "git push origin main", "cat .env", "rm -r infra",
		"curl https://x.test", "make $X", "npm ci && make clean", "$PROGRAM x", "if ("}
	matches := []string{"program: make", "program: make, subcommand: deploy", "program: npm", "path: .env, access: read",
		"host: x.test", "tool: shell", "program: [git, npm]", "program: make, noFlags: -n", "path: infra/"}
	hits := []string{"make", "make deploy", "npm x", "cat .env", "curl x.test", "ls", "npm x", "make x", "rm infra/x"}
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		random := func(prefix string, verdicts ...string) string {
			var list []string
			for i := range 1 + r.Intn(4) {
				at := r.Intn(len(matches))
				more := pick(r, "", ", mode: log", ", mode: ask", ", mode: off", ", onUnknown: ignore", ", onUnknown: deny",
					", expires: 2020-01-01")
				id := fmt.Sprintf("%s%d", pick(r, prefix, "shared"), i)
				list = append(list, rule(id, matches[at], pick(r, verdicts...), more, hits[at]))
			}
			return rulesFile(list...)
		}
		s := live(t)
		writeFile(t, s.Dirs.Config+"/rules/u.yaml", random("u", "deny", "ask", "warn", "allow"))
		writeFile(t, s.Dirs.System+"/rules/s.yaml", random("s", "deny", "ask", "warn", "allow"))
		trusted := trustedProject(t, s, random("p", "deny", "ask", "warn", "allow"))
		for _, call := range calls {
			ev := shellEvent(trusted.Root, call)
			without := decideBy(s, GuardOptions{Project: trusted.Root}, ev)
			for i, trustedOnes := range [][2]*trust.TrustedContent{{trusted}, {nil, trusted}} {
				with := decideBy(s, GuardOptions{Project: trusted.Root, Trusted: trustedOnes}, shellEvent(trusted.Root, call))
				if strictness[with.Verdict] < strictness[without.Verdict] {
					t.Errorf("seed %d, place %d, %s: %s with the project's rules (%s), %s without (%s)", seed, i, call,
						with.Verdict.Word(), with.Rule, without.Verdict.Word(), without.Rule)
				}
			}
		}
	}
}

// What a person added counts at once as far as it refuses; everything else waits,
// also what would hide a rule that was accepted.
func TestUnacceptedRules(t *testing.T) {
	dirs := place(t)
	file := dirs.Config + "/rules/m.yaml"
	writeFile(t, file, rulesFile(rule("no-deploy", "program: make, subcommand: deploy", "deny", "", "make deploy")))
	s := open(dirs, false)
	s.Rules.Base()
	if err := s.Accepted.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	decide := func(command string) event.Verdict {
		return decideBy(s, GuardOptions{}, shellEvent(dirs.Home, command)).Verdict
	}
	want := func(when, command string, verdict event.Verdict) {
		t.Helper()
		if got := decide(command); got != verdict {
			t.Errorf("%s, %s: %s, want %s", when, command, got.Word(), verdict.Word())
		}
	}
	want("accepted", "make deploy", event.Deny)
	writeFile(t, file, rulesFile(
		rule("no-deploy", "program: make, subcommand: deploy", "allow", "", "make deploy"),
		rule("no-publish", "program: npm, subcommand: publish", "deny", "", "npm publish"),
		rule("yes-to-ls", "program: ls", "allow", "", "ls"),
	))
	want("a rule was loosened", "make deploy", event.Deny)
	want("a rule was added", "npm publish", event.Deny)
	want("one that allows was added", "ls", event.None)
	writeFile(t, dirs.Config+"/rules/a.yaml", rulesFile(rule("no-deploy", "program: nothing", "deny", "", "nothing")))
	want("another file has the same id", "make deploy", event.Deny)
	writeFile(t, file, rulesFile())
	want("the file was emptied", "npm publish", event.Deny)
	want("the file was emptied", "make deploy", event.Deny)
	if err := os.RemoveAll(dirs.Config + "/rules"); err != nil {
		t.Fatal(err)
	}
	want("the folder is gone", "npm publish", event.Deny)
	want("the folder is gone", "make deploy", event.Deny)
	writeFile(t, file, rulesFile(rule("yes-to-ls", "program: ls", "allow", "", "ls")))
	s.Rules.Base()
	if _, err := s.Accepted.Accept(""); err != nil {
		t.Fatal(err)
	}
	want("accepted again", "make deploy", event.None)
	want("accepted again", "ls", event.Allow)
}

// A file of the administrator that breaks keeps its last good version, also for
// whoever starts later; one that is taken away is gone.
func TestSystemRulesBreak(t *testing.T) {
	s := live(t)
	file := s.Dirs.System + "/rules/s.yaml"
	good := rulesFile(rule("no-deploy", "program: make, subcommand: deploy", "deny", "", "make deploy"),
		rule("no-clean", "program: make, subcommand: clean", "deny", "", "make clean"))
	writeFile(t, file, good)
	want := func(when string, s *Sources, command string, verdict event.Verdict) {
		t.Helper()
		if got := decideBy(s, GuardOptions{}, shellEvent(s.Dirs.Home, command)); got.Verdict != verdict {
			t.Errorf("%s, %s: %s, want %s", when, command, got.Verdict.Word(), verdict.Word())
		}
	}
	want("good", s, "make deploy", event.Deny)
	for name, text := range map[string]string{
		"no yaml":         "version: 1\nrules: [",
		"broken examples": strings.Replace(good, "hit: [make deploy]", "hit: [ls -l]", 1),
		"broken rule":     strings.Replace(good, "decide: deny", "decide: perhaps", 1),
	} {
		writeFile(t, file, text)
		later := New(Options{Dirs: s.Dirs, Catalogue: agent.Builtin()})
		for who, one := range map[string]*Sources{"the same daemon": s, "a later one": later} {
			want(name+", "+who, one, "make deploy", event.Deny)
			want(name+", "+who, one, "make clean", event.Deny)
			problems := one.Rules.Base().Problems
			if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), file) || problems[0].Line == 0 {
				t.Errorf("%s, %s: problems %v, want one with the file and the line", name, who, problems)
			}
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	want("taken away", s, "make deploy", event.None)
}

// Rules that name other events hear of these.
func TestRulesOfOtherEvents(t *testing.T) {
	s := live(t)
	writeFile(t, s.Dirs.Config+"/rules/m.yaml", "version: 1\nrules:\n"+
		"  - {id: prompts, why: x, match: {event: turn.start}, when: agent == 'claude', decide: deny, examples: {hit: []}}\n"+
		rule("here", "event: [turn.start, tool.before], mode: yolo", "deny", "", "{command: ls, mode: yolo}"))
	list := s.Rules.Base()
	if len(list.Rules) != 1 || len(list.Problems) != 1 {
		t.Fatalf("rules %d, problems %v; want one of each: examples are needed", len(list.Rules), list.Problems)
	}
	ev := &event.Event{ID: "1", Agent: "claude", Kind: event.TurnStart, Mode: "yolo"}
	if got := decideBy(s, GuardOptions{}, ev); got.Verdict != event.Deny {
		t.Errorf("a prompt: %s, want deny", got.Verdict.Word())
	}
	ev.Mode = "careful"
	if got := decideBy(s, GuardOptions{}, ev); got.Verdict != event.None {
		t.Errorf("a prompt in another mode: %s, want none", got.Verdict.Word())
	}
}

// States are switched by a setting, by id.
func TestRuleModes(t *testing.T) {
	s := live(t)
	writeFile(t, s.Dirs.Config+"/rules/m.yaml", rulesFile(rule("no-deploy", "program: make", "deny", "", "make deploy")))
	writeFile(t, s.Dirs.System+"/rules/s.yaml", rulesFile(rule("no-clean", "program: cargo", "deny", "", "cargo clean")))
	for state, want := range map[rules.Mode]event.Verdict{
		rules.Block: event.Deny, rules.Asks: event.Ask, rules.LogOnly: event.None, rules.Off: event.None,
	} {
		writeFile(t, s.Dirs.Config+"/config.json", fmt.Sprintf(`{"rules.modes": ["no-deploy=%s", "no-clean=%s"]}`, state, state))
		one := New(Options{Dirs: s.Dirs, Catalogue: agent.Builtin()})
		if got := decideBy(one, GuardOptions{}, shellEvent(s.Dirs.Home, "make deploy")); got.Verdict != want {
			t.Errorf("%s: %s, want %s", state, got.Verdict.Word(), want.Word())
		}
		if got := decideBy(one, GuardOptions{}, shellEvent(s.Dirs.Home, "cargo clean")); got.Verdict != event.Deny {
			t.Errorf("an administrator's rule that is switched to %s: %s, want deny", state, got.Verdict.Word())
		}
		logOnly := one.LogOnlyRules(&GuardOptions{Settings: [2]*config.Settings{one.Config.Settings()}})
		if (len(logOnly) == 1) != (state == rules.LogOnly) {
			t.Errorf("%s: %v only log; want (len(logOnly) == 1) == (state == rules.LogOnly)", state, logOnly)
		}
	}
}

// Many calls at once, while files change and pauses begin and end.
func TestRulesAtOnce(t *testing.T) {
	s := live(t)
	file := s.Dirs.Config + "/rules/m.yaml"
	both := rulesFile(rule("no-deploy", "program: make, subcommand: deploy", "deny", "", "make deploy"),
		rule("watched", "program: cargo", "deny", ", mode: log", "cargo publish"))
	writeFile(t, file, both)
	o := GuardOptions{Settings: [2]*config.Settings{s.Config.Settings()}}
	entries := s.Guards(o)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 40 {
				command, want := fmt.Sprintf("make deploy x%d-%d", worker, i), event.Deny
				if i%2 == 0 {
					command, want = fmt.Sprintf("cargo publish x%d-%d", worker, i), event.None
				}
				ev := shellEvent(s.Dirs.Home, command)
				outcome := new(hook.Dispatcher).Decide(context.Background(), hook.Call{Event: ev}, hook.Select(entries, ev, nil))
				if outcome.Decision.Verdict != want {
					t.Errorf("%s: %s, want %s", command, outcome.Decision.Verdict.Word(), want.Word())
				}
				steps := new(hook.Dispatcher).LogOnly(context.Background(), hook.Call{Event: ev}, outcome.LogOnly)
				if would := slices.ContainsFunc(steps, func(s hook.Step) bool { return s.Would != nil }); would != (want == event.None) {
					t.Errorf("%s: a rule in log mode would have matched: %v, want %v", command, would, want == event.None)
				}
			}
		})
	}
	for i := range 10 {
		writeFile(t, file, both+strings.Repeat("#\n", i))
		s.Guards(o)
		s.Examine(context.Background(), shellEvent(s.Dirs.Home, "make deploy"), o)
	}
	group.Wait()
}

// Wherever in a repository an agent works, and by whatever link it came there, rules
// about the project mean the same folder.
func TestRulesHoldBelowAndBehindLinks(t *testing.T) {
	s := live(t)
	repo := filepath.Join(s.Dirs.Home, "repo")
	writeFile(t, filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main\n")
	writeFile(t, filepath.Join(repo, "sub", "a"), "")
	writeFile(t, filepath.Join(repo, "infra", "a"), "")
	link := filepath.Join(s.Dirs.Home, "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(s.Dirs.Config, "rules", "a.yaml"), rulesFile(
		rule("infra", "path: ./infra/, access: change", "deny", "", "rm infra/a"),
		rule("make", "program: make", "deny", ", projects: ~/repo", "make")))
	for _, c := range []struct{ cwd, command, want string }{
		{repo, "rm infra/a", "infra"},
		{filepath.Join(repo, "sub"), "rm ../infra/a", "infra"},
		{filepath.Join(repo, "sub"), "rm " + repo + "/infra/a", "infra"},
		{link, "rm infra/a", "infra"},
		{filepath.Join(link, "sub"), "rm ../infra/a", "infra"},
		{repo, "make", "make"},
		{link, "make", "make"},
		{filepath.Join(link, "sub"), "make", "make"},
		{s.Dirs.Home, "make", ""},
	} {
		got := decideBy(s, GuardOptions{}, shellEvent(c.cwd, c.command))
		if got.Rule != c.want {
			t.Errorf("%s: %s: rule %q, want %q", c.cwd, c.command, got.Rule, c.want)
		}
	}
}
