package claude

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// The calls in testdata were made by a real Claude Code 2.1.325 in mode default.
// oracle.jsonl and measured.jsonl are two rounds of the same measurement; "without" is
// the outcome of the same call without rules.

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
		changed := false
		for link, target := range labLinks {
			if paths.IsWithin(link, name) {
				name, changed = target+name[len(link):], true
			}
		}
		if !changed {
			break
		}
	}
	return name
}

type measuredSet struct {
	Set       string
	Untrusted bool
	Rules     map[Scope]json.RawMessage
	Calls     []measuredCall
	// Said is the short form of Calls: outcome → "Tool argument".
	Said map[Verdict][]string
}

type measuredCall struct {
	Tool    string
	Input   map[string]any
	Cwd     string
	Outcome Verdict
	Without Verdict
}

// labText puts the folders of the test into a measured text.
func labText(text string) string {
	return strings.NewReplacer("$PROJECT", labProject, "$HOME", labHome, "@HOME@", "$HOME").Replace(text)
}

func readMeasured(t testing.TB, name string) []measuredSet {
	t.Helper()
	text, err := os.ReadFile(path.Join("testdata", name))
	if err != nil {
		t.Fatalf("%s: want measured calls, got %v", name, err)
	}
	var out []measuredSet
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var set measuredSet
		if err := json.Unmarshal([]byte(labText(lines.Text())), &set); err != nil {
			t.Fatalf("%s: want a rule set on every line, got %v", name, err)
		}
		for outcome, calls := range set.Said {
			for _, text := range calls {
				tool, argument, _ := strings.Cut(text, " ")
				input := map[string]any{argumentNames[tool]: argument}
				set.Calls = append(set.Calls, measuredCall{Tool: tool, Input: input, Outcome: outcome})
			}
		}
		out = append(out, set)
	}
	return out
}

var argumentNames = map[string]string{"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path",
	"NotebookEdit": "notebook_path", "WebFetch": "url", "Skill": "skill"}

func (m measuredSet) build() *Set {
	var files []File
	for _, scope := range []Scope{UserScope, ProjectScope, LocalScope} {
		lists, ok := m.Rules[scope]
		if !ok {
			continue
		}
		source := ProjectSource(labProject, labHome)
		switch scope {
		case UserScope:
			source = UserSource(labHome)
		case LocalScope:
			source = LocalSource(labProject, labHome)
		}
		files = append(files, ReadSettings(source, []byte(`{"permissions":`+string(lists)+`}`)))
	}
	return NewSet(files...)
}

func (m measuredSet) place(call measuredCall) Place {
	return Place{Home: labHome, Project: labProject, Cwd: call.Cwd, Trusted: !m.Untrusted, Resolve: resolveLab}
}

// isHeldBack splits rule sets into those this package was written against and those
// that only count. It is decided by the name, so that nobody chose.
func isHeldBack(set string) bool {
	sum := sha1.Sum([]byte(set))
	return sum[0]%10 >= 7
}

type tally struct{ right, all int }

func (c *tally) add(right bool) {
	c.all++
	if right {
		c.right++
	}
}

func (c *tally) percent() float64 { return 100 * float64(c.right) / float64(max(c.all, 1)) }

func TestDecidesAsClaudeCode(t *testing.T) {
	for _, name := range []string{"oracle.jsonl", "measured.jsonl", "later.jsonl"} {
		t.Run(name, func(t *testing.T) { checkMeasured(t, name) })
	}
}

func checkMeasured(t *testing.T, name string) {
	var seen, held, without tally
	for _, set := range readMeasured(t, name) {
		rules := set.build()
		for i, call := range set.Calls {
			place := set.place(call)
			got := rules.evaluate(Call{call.Tool, call.Input}, place)
			right := got.Verdict == call.Outcome
			if name == "oracle.jsonl" && isHeldBack(set.Set) {
				held.add(right)
			} else {
				seen.add(right)
			}
			if !right {
				t.Logf("%s/%02d %s %v: Claude Code said %s, predicted %s by %s\n rules %s",
					set.Set, i+1, call.Tool, call.Input, call.Outcome, got.Verdict, ruleText(got.Rule), set.Rules)
			}
			if call.Without != "" {
				base := Baseline(Call{call.Tool, call.Input}, place)
				without.add(base == call.Without)
				if base != call.Without {
					t.Logf("without rules: %s %v: Claude Code said %s, predicted %s",
						call.Tool, call.Input, call.Without, base)
				}
			}
		}
	}
	for _, part := range []struct {
		what string
		tally
	}{{"calls", seen}, {"calls of rule sets held back", held}, {"calls without rules", without}} {
		if part.all == 0 {
			continue
		}
		t.Logf("%s: %d of %d %s as Claude Code (%.2f%%)", name, part.right, part.all, part.what, part.percent())
		if part.percent() < 99 {
			t.Errorf("%s: want at least 99%% of the %s decided as Claude Code did, got %.2f%%",
				name, part.what, part.percent())
		}
	}
}

func ruleText(rule *Rule) string {
	if rule == nil {
		return "no rule"
	}
	return string(rule.List) + " " + rule.Text
}
