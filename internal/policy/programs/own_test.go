package programs

import (
	"slices"
	"strings"
	"testing"
)

const acme = `
programs:
  - names: acme acmectl
    does:
      deletes: ['project destroy', 'bucket rm --recursive']
      deploys: ['release promote']
      prints-secret: ['secret show']
    verbs:
      exec: {skip: 1}
`

func parseOwn(t *testing.T, text string) []*Program {
	t.Helper()
	list, err := Parse("acme.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestPhrases(t *testing.T) {
	p := NewTable(parseOwn(t, acme)).Of("acmectl")
	for line, want := range map[string]Effect{
		"project destroy web": LosesData, "--profile prod project destroy web": LosesData, "--yes project destroy": LosesData,
		"bucket rm data --recursive": LosesData, "bucket rm data": "", "project list": "", "release promote 1.2": Deploys,
		"secret show db": PrintsSecret, "secret list": "", "list project destroy": "", "project": "", "": "",
		"-- project destroy": LosesData,
	} {
		got := Effect("")
		for _, e := range Effects {
			if _, ok := p.Phrase(e, strings.Fields(line)); ok {
				got = e
			}
		}
		if got != want {
			t.Errorf("acmectl %s: %q, want %q", line, got, want)
		}
	}
	if phrase, ok := p.Phrase(LosesData, []string{"project", ""}); !ok || phrase != "project destroy" {
		t.Errorf("a word that isn't known may be any: got %q, %v", phrase, ok)
	}
}

// What is in force before you accept a file can only have hookmux see more.
func TestOnlyAdds(t *testing.T) {
	for text, want := range map[string]bool{
		"{names: acme, does: {deletes: [x]}}":         true,
		"{names: acme, verbs: {exec: {skip: 1}}}":     true,
		"{names: acme, is: sends}":                    true,
		"{names: rm, does: {deletes: [x]}}":           true,
		"{names: acme, reader: {}}":                   false,
		"{names: acme, is: plain}":                    false,
		"{names: acme, is: no-files}":                 false,
		"{names: acme, is: poll}":                     false,
		"{names: acme, starts: {remote: true}}":       false,
		"{names: acme, runs: {contain: true}}":        false,
		"{names: acme, verbs: {x: {contain: true}}}":  false,
		"{names: rm, operands: {does: read}}":         false,
		"{names: sudo, runs: {skip: 9}}":              false,
		"{names: docker, verbs: {run: {skip: 9}}}":    false,
		"{names: git, subcommands: {values: [push]}}": false,
		"{names: cat, prints: {skip: 9}}":             false,
		"{names: psql, language: redis}":              false,
		"{names: acme, language: sql}":                true,
		"{names: acme, kind: delete}":                 true,
		"{names: mv, kind: move}":                     true,
		"{names: rm, kind: edit}":                     false,
	} {
		part, whole := parseOwn(t, "programs:\n  - "+text+"\n")[0].OnlyAdds()
		if whole != want {
			t.Errorf("%s: whole %v, want %v", text, whole, want)
		}
		// Laid over the table, the part takes nothing away.
		name := strings.Fields(part.Names)[0]
		before, after := Of(name), NewTable([]*Program{part}).Of(name)
		if after.Reader != before.Reader || after.Operands != before.Operands || after.traits&before.traits != before.traits ||
			after.traits&^before.traits&^addingTraits != 0 || before != unknown && after.Runs != before.Runs {
			t.Errorf("%s: the part in force at once changes %+v into %+v", text, before, after)
		}
		if !NewTable([]*Program{part}).MayRunWords(name) && Builtin().MayRunWords(name) {
			t.Errorf("%s: its words are not looked through any more", text)
		}
	}
}

// A project adds to what you said about a program and takes nothing's place.
func TestLaterAdditionsReplaceNothing(t *testing.T) {
	mine := parseOwn(t, "programs: [{names: acme, runs: {skip: 1}, language: sql, prints: {}}]")
	part, _ := parseOwn(t, "programs: [{names: acme, runs: {skip: 9}, language: redis, prints: {skip: 9}, does: {deletes: [x]}}]")[0].OnlyAdds()
	got := NewTable(mine, []*Program{part}).Of("acme")
	if got.Runs.Skip != 1 || got.Language != "sql" || got.Prints.Skip != 0 || len(got.Does[LosesData]) != 1 {
		t.Errorf("acme is %+v; want what you said, and what it deletes", got)
	}
}

func TestBuiltInVerbsStay(t *testing.T) {
	table := NewTable(parseOwn(t, "programs: [{names: docker, verbs: {run: {skip: 9}, shell: {skip: 1}}}]"))
	if p := table.Of("docker"); p.Verbs["run"].Skip != 1 || p.Verbs["shell"].Skip != 1 {
		t.Errorf("docker: %+v; want its own run, and shell beside it", p.Verbs)
	}
	if Of("docker").Verbs["shell"].Skip != 0 || NewTable() != nil {
		t.Error("the built-in table was changed, or a table of nothing is one")
	}
}

func TestWrongDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"programs: [{names: acme, delete: [x]}]":                      "delete",
		"programs: [{is: plain}]":                                     "no names",
		"programs: [{names: acme, is: readonly}]":                     `no trait "readonly"`,
		"programs: [{names: acme, does: {destroys: [x]}}]":            `no effect "destroys"; there are deletes, disables, deploys`,
		"programs: [{names: acme, does: {deletes: []}}]":              "lists no subcommand",
		"programs: [{names: acme}, {names: b acme}]":                  "described twice",
		"programs: [{names: /opt/Acme}]":                              "such as acme",
		"programs: [{names: acme, operands: {does: destroy}}]":        "read, write, delete or mode",
		"programs: [{names: a, secrets: [{options: -p, kind: key}]}]": "secrets is for built-in programs only",
		"programs: [{names: a, runs: {}, verbs: {x: {}}}]":            "runs, verbs and starts exclude each other",
		"programs: [{names: a, is: shell}]":                           "is: shell is for built-in programs only; you can use deletes, editor, fetches",
		"programs: [":                                                 "",
		"programs: [~]":                                               "empty",
		"program: [acm]":                                              "program",
	} {
		_, err := Parse("acme.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error that says %q", text, err, want)
		}
	}
}

// A tool that only an additive entry describes is still one whose subcommands are guessed.
func TestGuesses(t *testing.T) {
	for text, want := range map[string]bool{"": true, "{names: acme, is: sends}": true, "{names: acme, reader: {}}": false,
		"{names: acme, does: {deletes: [x]}}": true} {
		table := Builtin()
		if text != "" {
			part, whole := parseOwn(t, "programs:\n  - "+text+"\n")[0].OnlyAdds()
			entry := part
			if !whole {
				entry = parseOwn(t, "programs:\n  - "+text+"\n")[0]
			}
			table = NewTable([]*Program{entry})
		}
		if _, got := table.Of("acme").Phrase(MayDelete, []string{"project", "delete", "web"}); got != want {
			t.Errorf("acme as %q: guessed %v, want %v", text, got, want)
		}
	}
	for _, words := range [][]string{{"", "x"}, {"list"}, {"list", "a", "b", "delete"}, {}} {
		if phrase, got := Of("acme").Phrase(MayDelete, words); got {
			t.Errorf("acme %q: %s is guessed, want nothing", words, phrase)
		}
	}
	if Of("rm").HasEffects() || !Of("acme").HasEffects() {
		t.Error("effects are guessed of programs that are described, or not of others")
	}
}

// A program belongs to one kind, and only to kinds that exist.
func TestKinds(t *testing.T) {
	if got := OfKind(KindLink, KindDotfiles); !slices.Equal(got, []string{"chezmoi", "gln", "ln"}) {
		t.Errorf("links and dotfiles are made by %v", got)
	}
	for text, want := range map[string]string{"{names: acme, kind: explode}": "there is no kind",
		"{names: acme, kind: signal}": "built-in programs only"} {
		if _, err := Parse("x", []byte("programs:\n  - "+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, k := range kinds {
		if len(OfKind(k)) == 0 {
			t.Errorf("no program is of the kind %s", k)
		}
	}
}
