// Package packs holds the built-in guards that are data: each is a file of rules
// in the language that people write theirs in, with examples that must hold.
package packs

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

//go:embed *.yaml
var files embed.FS

// Pack is one file of rules made ready.
type Pack struct {
	Name  string
	Rules []*rules.Rule
	Needs facts.Set
	// Needles find out whether a command may be one for the rules, nil when any may.
	Needles *inspect.Needles
}

var (
	loading sync.Mutex
	loaded  = map[string]*Pack{}
)

// Load reads a pack, once.
func Load(name string) (*Pack, error) {
	loading.Lock()
	defer loading.Unlock()
	if p, ok := loaded[name]; ok {
		return p, nil
	}
	data, err := readPack(name)
	if err != nil {
		return nil, fmt.Errorf("there is no pack %s", name)
	}
	list, problems := rules.Parse(rules.Source{Name: name + ".yaml", Data: data, Layer: rules.Pack, Tested: true})
	if len(problems) > 0 {
		return nil, fmt.Errorf("pack %s: %s", name, problems[0])
	}
	p := &Pack{Name: name, Rules: list, Needles: needlesOf(list)}
	p.Needs = rules.NewSet(list, rules.Options{}).Needs()
	loaded[name] = p
	return p, nil
}

// readPack reads the file of a pack, with the names of branches put in.
func readPack(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".yaml")
	return programs.ExpandBranches(data), err
}

// Describe lists the rules of a pack without making them ready.
func Describe(name string) []inspect.RuleInfo {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil
	}
	var out []inspect.RuleInfo
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), "\n")
		if id, ok := strings.CutPrefix(text, "  - id: "); ok {
			out = append(out, inspect.RuleInfo{ID: id})
		}
		if why, ok := strings.CutPrefix(text, "    why: "); ok && len(out) > 0 {
			out[len(out)-1].What = why
		}
	}
	return out
}

// hiddenText are words by which a command may run text that does not stand in it as
// it is written.
var hiddenText = []string{"base64", "xxd", "openssl", "eval", "base32", "uudecode", "rot13", "sh -c"}

// needlesOf makes the words without which no rule of a list can hold. A rule that
// names none lets every command be read.
func needlesOf(list []*rules.Rule) *inspect.Needles {
	words := append(append([]string{}, inspect.FedShells...), hiddenText...)
	for _, r := range list {
		found := ruleWords(r)
		if len(found) == 0 {
			return nil
		}
		words = append(words, found...)
	}
	return inspect.NewNeedles(true, words...)
}

// ruleWords are the words of which a command must hold one for a rule to hold.
func ruleWords(r *rules.Rule) []string {
	q := &r.Match
	switch {
	case len(q.Program.Texts()) > 0:
		return lowerWords(q.Program.Texts())
	case len(q.Env.Texts()) > 0:
		var out []string
		for _, t := range q.Env.Texts() {
			name, _, _ := strings.Cut(t, "=")
			out = append(out, name)
		}
		return lowerWords(out)
	case len(q.Origin.Texts()) > 0:
		return programs.With(func(p *programs.Program) bool { return p.Has(programs.Fetches) })
	case len(q.Path.Texts()) > 0:
		var out []string
		for _, t := range q.Path.Texts() {
			out = append(out, namesIn(t)...)
		}
		return lowerWords(out)
	case len(q.Host) > 0 || len(q.Scope) > 0:
		return append(facts.TalkingPrograms(), "://")
	}
	return nil
}

// namesIn are the last names of a path pattern that say something; of {a,b} all.
func namesIn(pattern string) []string {
	var out []string
	for _, p := range expandBraces(pattern) {
		for ; p != "." && p != "/" && p != ""; p = path.Dir(p) {
			best := ""
			for _, part := range strings.FieldsFunc(path.Base(p), isStar) {
				if len(part) > len(best) {
					best = part
				}
			}
			if len(best) > 2 {
				out = append(out, best)
				break
			}
		}
	}
	return out
}

func isStar(r rune) bool { return r == '*' || r == '?' }

// expandBraces writes {a,b} out, as shells do.
func expandBraces(pattern string) []string {
	before, rest, open := strings.Cut(pattern, "{")
	inner, after, closed := strings.Cut(rest, "}")
	if !open || !closed {
		return []string{pattern}
	}
	var out []string
	for _, one := range strings.Split(inner, ",") {
		out = append(out, expandBraces(before+one+after)...)
	}
	return out
}

func lowerWords(list []string) []string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		out = append(out, strings.ToLower(strings.Trim(w, "*?")))
	}
	return out
}
