package ruleimport

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/claude"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// The calls in claude/testdata were made by a real Claude Code. Here they go the
// whole way: settings files are read, a file of rules is written, read again, and
// decides about the hook call that Claude Code makes.

const (
	labHome    = "/home/lab"
	labProject = "/home/lab/app"
)

var labLinks = map[string]string{
	labProject + "/link-env":      labProject + "/.env",
	labProject + "/docs/link-key": labProject + "/secrets/key.pem",
	labProject + "/link-out":      labHome + "/outside/o.txt",
	labProject + "/linkdir":       labHome + "/outside",
	labProject + "/link-secrets":  labProject + "/secrets",
	labProject + "/link-src":      labProject + "/src",
	labHome + "/outside/back":     labProject + "/secrets",
}

func resolveLab(name string) string {
	for range 4 {
		for link, target := range labLinks {
			if name == link || strings.HasPrefix(name, link+"/") {
				name = target + name[len(link):]
			}
		}
	}
	return name
}

type labSet struct {
	Set       string
	Untrusted bool
	Rules     map[string]json.RawMessage
	Calls     []labCall
	// Said is the short form of Calls: outcome → "Tool argument".
	Said map[rules.Verdict][]string
}

type labCall struct {
	Tool    string
	Input   map[string]any
	Cwd     string
	Outcome rules.Verdict
}

func readLab(t *testing.T, name string) []labSet {
	t.Helper()
	text, err := os.ReadFile("../claude/testdata/" + name)
	if err != nil {
		t.Fatalf("%s: want measured calls, got %v", name, err)
	}
	places := strings.NewReplacer("$PROJECT", labProject, "$HOME", labHome, "@HOME@", "$HOME")
	var out []labSet
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var set labSet
		if err := json.Unmarshal([]byte(places.Replace(lines.Text())), &set); err != nil {
			t.Fatalf("%s: want a rule set on every line, got %v", name, err)
		}
		for outcome, calls := range set.Said {
			for _, text := range calls {
				tool, argument, _ := strings.Cut(text, " ")
				input := map[string]any{argumentNames[tool]: argument}
				set.Calls = append(set.Calls, labCall{Tool: tool, Input: input, Outcome: outcome})
			}
		}
		out = append(out, set)
	}
	return out
}

var argumentNames = map[string]string{"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path",
	"NotebookEdit": "notebook_path", "WebFetch": "url", "Skill": "skill"}

// importSet takes a set of settings over; nil where there is nothing to take over.
func importSet(t *testing.T, set labSet, strict bool) *rules.Set {
	t.Helper()
	var sources []Source
	for _, scope := range []string{"user", "project", "local"} {
		lists, ok := set.Rules[scope]
		if !ok {
			continue
		}
		place := Place{File: labHome + "/.claude/settings.json", Home: labHome}
		if scope != "user" {
			place = Place{File: labProject + "/.claude/" + scope, Project: labProject, Local: scope == "local", Home: labHome,
				Untrusted: set.Untrusted}
		}
		sources = append(sources, Read(PermissionLists, place, []byte(`{"permissions":`+string(lists)+`}`)))
	}
	text, err := RulesFile(sources, WriteOptions{ID: "claude", Title: "Claude Code", Strict: strict, Home: labHome})
	if errors.Is(err, ErrNothing) {
		return rules.NewSet(nil, rules.Options{Home: labHome})
	}
	list, problems := rules.Parse(rules.Source{Name: "claude.yaml", Data: text, Layer: rules.User})
	if err != nil || len(problems) > 0 {
		t.Fatalf("%s: want a file of rules that is right, got %v, %v\n%s", set.Set, err, problems, text)
	}
	return rules.NewSet(list, rules.Options{Home: labHome})
}

// hookCall returns the event that Claude Code's hook call for a tool becomes.
func hookCall(t *testing.T, call labCall) *event.Event {
	t.Helper()
	cwd := call.Cwd
	if cwd == "" {
		cwd = labProject
	}
	payload, err := json.Marshal(map[string]any{"session_id": "s", "hook_event_name": "PreToolUse", "cwd": cwd,
		"tool_name": call.Tool, "tool_input": call.Input})
	if err != nil {
		t.Fatalf("%v: want a payload, got %v", call, err)
	}
	ev := catalogue.Decode(agent.Input{ID: "1", Agent: "claude", Event: "PreToolUse", Payload: payload, Cwd: cwd})
	return &ev
}

var catalogue = agent.Builtin()

// decideImported returns what the imported rules say, and what Claude Code does where they say
// nothing.
func decideImported(t *testing.T, set *rules.Set, call labCall, trusted bool) (rules.Verdict, rules.Result) {
	t.Helper()
	ev := hookCall(t, call)
	got := set.Decide(facts.Collect(ev, labProject, set.Needs(), facts.Options{Home: labHome, Resolve: resolveLab}))
	if got.Verdict != rules.NoVerdict {
		return got.Verdict, got
	}
	place := claude.Place{Home: labHome, Project: labProject, Cwd: ev.Cwd, Trusted: trusted, Resolve: resolveLab}
	return rules.Verdict(claude.Baseline(claude.Call{Tool: call.Tool, Input: call.Input}, place)), got
}

func TestImportedDecidesAsClaudeCode(t *testing.T) {
	for _, name := range []string{"oracle.jsonl", "measured.jsonl", "later.jsonl"} {
		right, all, heldRight, held := 0, 0, 0, 0
		for _, set := range readLab(t, name) {
			imported := importSet(t, set, false)
			sum := sha1.Sum([]byte(set.Set))
			for _, call := range set.Calls {
				got, _ := decideImported(t, imported, call, !set.Untrusted)
				good := got == call.Outcome
				if !good {
					t.Logf("%s %s %v: Claude Code said %s, imported %s", set.Set, call.Tool, call.Input, call.Outcome, got)
				}
				if sum[0]%10 >= 7 {
					held++
					heldRight += map[bool]int{true: 1}[good]
				} else {
					all++
					right += map[bool]int{true: 1}[good]
				}
			}
		}
		t.Logf("%s: %d of %d, of those held back %d of %d, as Claude Code", name, right, all, heldRight, held)
		if right*100 < all*99 || heldRight*100 < held*99 || all == 0 || held == 0 {
			t.Errorf("%s: want at least 99%% decided as Claude Code did, got %d of %d and %d of %d", name, right, all,
				heldRight, held)
		}
	}
}

// With strict nothing is weaker than in Claude Code, and every difference says why.
func TestImportedStrictIsNeverWeaker(t *testing.T) {
	rank := map[rules.Verdict]int{rules.Allow: 0, rules.Ask: 1, rules.Deny: 2}
	weaker, differs := 0, 0
	for _, set := range slices.Concat(readLab(t, "oracle.jsonl"), readLab(t, "measured.jsonl"), readLab(t, "later.jsonl")) {
		plain, strict := importSet(t, set, false), importSet(t, set, true)
		for _, call := range set.Calls {
			was, _ := decideImported(t, plain, call, !set.Untrusted)
			got, result := decideImported(t, strict, call, !set.Untrusted)
			if rank[got] < rank[was] || rank[got] < rank[call.Outcome] && was == call.Outcome {
				weaker++
				t.Errorf("%s %s %v: want at least %s, got %s", set.Set, call.Tool, call.Input, call.Outcome, got)
			}
			if got != was {
				differs++
				if h := result.Decisive(); h == nil || !strings.Contains(h.Where, "Claude Code misses it: ") {
					t.Errorf("%s %v: want the difference explained, got %+v", set.Set, call.Input, result.Hits)
				}
			}
		}
	}
	t.Logf("strict says otherwise about %d calls, about %d weaker", differs, weaker)
}

func TestReadSaysWhatIsIgnored(t *testing.T) {
	text := `{"permissions":{"deny":["Write(secrets/**)","Read(./.env)"],"allow":["bash(ls)","Bash(make:*)"]}}`
	source := Read(PermissionLists, Place{Project: labProject, Home: labHome}, []byte(text))
	taken, ignored, left := Counts([]Source{source})
	if taken != 2 || ignored != 2 || left != 0 || source.Entries[0].Instead != "Edit(secrets/**)" ||
		source.Entries[0].Note == "" {
		t.Errorf("want 2 taken, 2 ignored with the form that works, got %+v", source.Entries)
	}
	plain, err := RulesFile([]Source{source}, WriteOptions{ID: "claude", Title: "Claude Code", Home: labHome})
	if err != nil || strings.Contains(string(plain), `"Edit(secrets/**)"`) ||
		!strings.Contains(string(plain), "# not taken over") {
		t.Errorf("want what is ignored as a comment, got %v\n%s", err, plain)
	}
	repaired, err := RulesFile([]Source{source}, WriteOptions{ID: "claude", Title: "Claude Code", Home: labHome, Repair: true})
	if err != nil || !strings.Contains(string(repaired), `"Edit(secrets/**)"`) {
		t.Errorf("repaired: want the form that works, got %v\n%s", err, repaired)
	}
	untrusted := Read(PermissionLists, Place{Project: labProject, Home: labHome, Untrusted: true}, []byte(text))
	if taken, _, _ := Counts([]Source{untrusted}); taken != 1 {
		t.Errorf("a project nobody trusted: want only its deny taken, got %+v", untrusted.Entries)
	}
}

// Whatever stands in a rule, the file that is written reads back as it was.
func TestRulesFileReadsBack(t *testing.T) {
	rule := "Bash(echo \"a: b\" # 'c' \\\\ {d} [e] <f>&:*)"
	source := Source{Place: Place{Project: "/srv/a b: #c"}, Entries: []Entry{
		{List: claude.DenyList, From: rule, Rule: rule, Why: "line\nbreak # and\u2028more"},
		{From: "left\n- id: x\nversion: 2", Note: "why\nnot"}}}
	text, err := RulesFile([]Source{source}, WriteOptions{ID: "x", Title: "X"})
	if err != nil {
		t.Fatalf("want a file, got %v", err)
	}
	list, problems := rules.Parse(rules.Source{Name: "x.yaml", Data: text, Layer: rules.User})
	if len(problems) > 0 || len(list) != 1 || len(list[0].Claude.Settings) != 1 ||
		list[0].Claude.Settings[0].Deny[0] != rule || list[0].Claude.Settings[0].Project != source.Project {
		t.Errorf("want the rule as it was, got %v, %v\n%s", list, problems, text)
	}
	if _, err := RulesFile(nil, WriteOptions{}); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing to take over: want %v, got %v", ErrNothing, err)
	}
}

func TestOtherFormatsAreRead(t *testing.T) {
	for format, text := range map[Format]string{
		PrefixCalls:     `prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "CI pushes")`,
		PolicyRules:     "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git push\"\ndecision = \"deny\"\npriority = 100\n",
		PermissionTable: `{"permission": {"bash": {"git push *": "deny", "ls": "weird"}}}`,
	} {
		source := Read(format, Place{File: "f"}, []byte(text))
		file, err := RulesFile([]Source{source}, WriteOptions{ID: "x", Title: "X"})
		if err != nil {
			t.Errorf("%s: want a file of rules, got %v from %+v", format, err, source)
			continue
		}
		list, problems := rules.Parse(rules.Source{Name: "x.yaml", Data: file, Layer: rules.User})
		if len(problems) > 0 || len(list) != 1 {
			t.Errorf("%s: want one rule, got %v\n%s", format, problems, file)
			continue
		}
		got := rules.NewSet(list, rules.Options{Home: labHome}).Decide(rules.Example{Command: "git push origin"}.Facts(0))
		if got.Verdict != rules.Deny {
			t.Errorf("%s: want git push denied, got %q\n%s", format, got.Verdict, file)
		}
	}
	if s := Read("other", Place{}, nil); s.Problem == "" {
		t.Errorf("an unknown format: want it said, got %+v", s)
	}
}
