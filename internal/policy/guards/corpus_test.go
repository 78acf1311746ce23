package guards

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// readCorpus reads one directory of the corpora.
func readCorpus(t testing.TB, dir string) []guardtest.Row {
	return guardtest.ReadRows(t, "testdata/"+dir)
}

// allGuards returns the guards there are, packs included.
func allGuards(testing.TB) *Guard { return NewGuard("", Options{}) }

// knownByExamples are rules that a command alone does not meet: they need a file, a
// branch, a list of hosts or a session. The examples of their packs hold them.
func knownByExamples(rule string) bool {
	return slices.Contains([]string{"secrets.file", "network.outside", "destructive.deploys", "git-history.push-from-main",
		"git-history.rebase-branch", "git-history.amend-pushed"}, rule) || strings.HasPrefix(rule, names.Loop+".")
}

// meantFor returns the guards that are meant to stop a command, by its text: one that
// publishes something is harmless for all guards but publish.
func meantFor(t testing.TB) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, row := range readCorpus(t, "dangerous") {
		guard, _, _ := strings.Cut(row.Rule, ".")
		if out[row.Text] == nil {
			out[row.Text] = map[string]bool{}
		}
		out[row.Text][guard] = true
	}
	return out
}

func shellCall(cmd string) Call { return guardtest.ShellCall(cmd) }

func hasRule(list []Finding, rule string) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Rule == rule })
}

func TestDangerousCorpus(t *testing.T) {
	set := allGuards(t)
	all := readCorpus(t, "dangerous")
	known := map[string]bool{}
	for _, g := range List() {
		for _, r := range g.Rules {
			known[r.ID] = true
		}
	}
	seen := map[string]bool{}
	for _, s := range all {
		if !known[s.Rule] {
			t.Errorf("%s:%d: rule %q is not in List", s.File, s.Line, s.Rule)
		}
		got := set.Check(shellCall(s.Text))
		if !hasRule(got, s.Rule) {
			t.Errorf("%s:%d: %q: want %s, got %v", s.File, s.Line, s.Text, s.Rule, got)
		}
		seen[s.Rule] = true
	}
	if len(all) < 3000 {
		t.Errorf("%d dangerous commands, want at least 3000", len(all))
	}
	for r := range known {
		if !seen[r] && !strings.HasSuffix(r, ".unreadable") && !knownByExamples(r) {
			t.Errorf("rule %s has no command in the corpus", r)
		}
	}
	t.Logf("%d dangerous commands", len(all))
}

func TestHarmlessCorpus(t *testing.T) {
	set := allGuards(t)
	meant := meantFor(t)
	all := readCorpus(t, "harmless")
	distinct := map[string]bool{}
	for _, s := range all {
		distinct[s.Text] = true
		for _, f := range set.Check(shellCall(s.Text)) {
			if meant[s.Text][f.Guard] {
				continue
			}
			t.Errorf("%s:%d: %q: false alarm %s: %s; want it to pass", s.File, s.Line, s.Text, f.Rule, f.Reason)
		}
	}
	if len(distinct) < 3000 {
		t.Errorf("%d different harmless commands, want at least 3000", len(distinct))
	}
	t.Logf("%d harmless commands", len(distinct))
}

// What is read is shared by all that look at a call, and nobody changes it.
func TestGuardsChangeNoScript(t *testing.T) {
	scripts := new(shell.Cache)
	set := NewGuard("", Options{Scripts: scripts})
	for _, dir := range []string{"dangerous", "harmless"} {
		for _, s := range readCorpus(t, dir) {
			set.Check(shellCall(s.Text))
			want := shell.Parse(s.Text)
			if got := scripts.Parse(s.Text); !reflect.DeepEqual(got, &want) {
				t.Errorf("%s:%d: %q: a guard changed the script: %+v, want %+v", s.File, s.Line, s.Text, got, want)
			}
		}
	}
}
