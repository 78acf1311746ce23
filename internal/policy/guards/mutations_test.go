package guards

import (
	"encoding/base64"
	"encoding/hex"
	"hash/fnv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
)

// mutation writes a command in another form that runs the same. It gives "" for
// commands that cannot be written so.
type mutation struct {
	name string
	form func(command string) string
	// encodes says that the form is a finding of its own, whatever it runs.
	encodes bool
}

var mutations = []mutation{
	{name: "here-document", form: func(c string) string { return "bash <<'MUTATED'\n" + c + "\nMUTATED" }},
	{name: "here-string", form: func(c string) string { return "sh -s <<< " + quoted(c) }},
	{name: "eval", form: func(c string) string { return "eval " + quoted(c) }},
	{name: "function", form: func(c string) string { return "mutated() {\n" + c + "\n}\nmutated" }},
	{name: "called with its words", form: func(c string) string {
		if !simple.MatchString(c) || notPrograms.MatchString(c) {
			return ""
		}
		return `mutated() { "$@"; }; mutated ` + c
	}},
	{name: "array", form: func(c string) string {
		if !simple.MatchString(c) || notPrograms.MatchString(c) {
			return ""
		}
		return "mutated=(" + c + `); "${mutated[@]}"`
	}},
	{name: "variable", form: func(c string) string {
		if len(c) > 1000 {
			return ""
		}
		return "mutated=" + quoted(c) + "; bash -c \"$mutated\""
	}},
	{name: "exported variable", form: func(c string) string {
		if len(c) > 1000 {
			return ""
		}
		return "export MUTATED=" + quoted(c) + `; eval "$MUTATED"`
	}},
	{name: "written and sourced", form: func(c string) string {
		return "cat > mutated.sh <<'MUTATED'\n" + c + "\nMUTATED\n. ./mutated.sh"
	}},
	{name: "echo to a shell", form: func(c string) string { return "printf '%s\\n' " + quoted(c) + " | sh" }},
	{name: "letters exchanged", form: func(c string) string {
		return "printf '%s\\n' " + quoted(strings.Map(exchangeLetter, c)) + " | tr A-Za-z N-ZA-Mn-za-m | bash"
	}},
	{name: "base64", encodes: true, form: func(c string) string {
		return "echo " + base64.StdEncoding.EncodeToString([]byte(c)) + " | base64 -d | bash"
	}},
	{name: "hexadecimal", encodes: true, form: func(c string) string {
		return "echo " + hex.EncodeToString([]byte(c)) + " | xxd -r -p | sh"
	}},
	{name: "quotes in the program's name", form: func(c string) string {
		if !simple.MatchString(c) || notPrograms.MatchString(c) || !isProgramName(c) {
			return ""
		}
		return c[:1] + "''" + c[1:]
	}},
	{name: "program's name in a variable", form: func(c string) string {
		if !simple.MatchString(c) || notPrograms.MatchString(c) || !isProgramName(c) {
			return ""
		}
		name, rest, _ := strings.Cut(c, " ")
		return "mutated=" + name + "; $mutated " + rest
	}},
	{name: "program's name escaped", form: func(c string) string {
		if !simple.MatchString(c) || notPrograms.MatchString(c) || !isProgramName(c) {
			return ""
		}
		name, rest, _ := strings.Cut(c, " ")
		return `$'\x` + hex.EncodeToString([]byte(name[:1])) + name[1:] + "' " + rest
	}},
	{name: "wrappers", form: func(c string) string { return "timeout 60 nice -n 5 bash -c " + quoted(c) }},
	{name: "split by env", form: func(c string) string {
		return "/usr/bin/env A=1 B=2 bash --norc -c " + quoted(c)
	}},
}

func exchangeLetter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// isProgramName reports whether a command starts with a name of plain letters.
func isProgramName(c string) bool {
	name, _, _ := strings.Cut(c, " ")
	return len(name) > 1 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
}

func quoted(c string) string {
	q, err := syntax.Quote(c, syntax.LangBash)
	if err != nil {
		return "''"
	}
	return q
}

// sampled returns how many forms of each command are tried: a few with -short, all otherwise.
func sampled(few, all int) int {
	if testing.Short() {
		return few
	}
	return all
}

// mutationsOf chooses a few mutations for a row, always the same ones.
func mutationsOf(row guardtest.Row, count int) []mutation {
	h := fnv.New32a()
	_, _ = h.Write([]byte(row.Text))
	first := int(h.Sum32() % uint32(len(mutations)))
	var out []mutation
	for i := range count {
		out = append(out, mutations[(first+i*7)%len(mutations)])
	}
	return out
}

// unmutated are commands that mean something else in another place.
func unmutated(text string) bool {
	for _, word := range []string{"MUTATED", "/dev/stdin", "$0", "fd/0", "${0}", "RAILS_ENV", "read ", "exec ", "alias", "PROMPT_COMMAND",
		"BASH_", "history", "!!", "\\!", "xargs", "set --", "return", "<<"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

func TestMutatedCommandsKeepFindings(t *testing.T) {
	set := allGuards(t)
	checked := 0
	for _, row := range readCorpus(t, "dangerous") {
		if strings.HasSuffix(row.Rule, ".unreadable") || unmutated(row.Text) {
			continue
		}
		for _, m := range mutationsOf(row, sampled(1, 3)) {
			text := m.form(row.Text)
			if text == "" {
				continue
			}
			checked++
			if got := set.Check(shellCall(text)); !hasRule(got, row.Rule) {
				t.Errorf("%s:%d: %s: %q: got %v, want %s", row.File, row.Line, m.name, text, got, row.Rule)
			}
		}
	}
	t.Logf("%d mutated dangerous commands", checked)
}

func TestMutatedCommandsStayHarmless(t *testing.T) {
	set := allGuards(t)
	meant := meantFor(t)
	checked := 0
	for _, row := range readCorpus(t, "harmless") {
		if unmutated(row.Text) {
			continue
		}
		for _, m := range mutationsOf(row, sampled(1, 2)) {
			text := m.form(row.Text)
			if text == "" || m.encodes {
				continue
			}
			checked++
			for _, f := range set.Check(shellCall(text)) {
				if meant[row.Text][f.Guard] {
					continue
				}
				t.Errorf("%s:%d: %s: %q: got %s (%s), want nothing", row.File, row.Line, m.name, text, f.Rule, f.Reason)
			}
		}
	}
	t.Logf("%d mutated harmless commands", checked)
}
