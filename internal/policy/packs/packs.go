// Package packs holds the built-in guards that are data: each is a file of rules in the
// language that users write theirs in, with examples that must hold.
package packs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

//go:embed *.yaml
var files embed.FS

// packs.json holds the files' rules in the form that is quick to load; a test keeps them alike.
//
//go:embed packs.json
var compiled []byte

// readCompiled finds the packs in packs.json.
var readCompiled = sync.OnceValues(func() (packs map[string]json.RawMessage, err error) {
	err = json.Unmarshal(compiled, &packs)
	return packs, err
})

// Pack is a compiled guard: the rules of its file, and those of other files that it includes.
type Pack struct {
	Name  string
	Rules []*rules.Rule
	// Needles find out whether a command may be one for the rules that name no check in Go, nil if
	// any may.
	Needles *facts.Needles
}

// Families returns the families of checks that its rules name.
func (p *Pack) Families() []string {
	var out []string
	for _, r := range p.Rules {
		if family, _, _ := strings.Cut(r.Check, "."); family != "" && !slices.Contains(out, family) {
			out = append(out, family)
		}
	}
	return out
}

// file is one file of rules.
type file struct {
	rules    []*rules.Rule
	includes []string
}

// keptFile is a file in packs.json.
type keptFile struct {
	Includes []string     `json:"includes,omitempty"`
	Rules    []rules.Kept `json:"rules"`
}

var (
	loading sync.Mutex
	loaded  = map[string]*Pack{}
	read    = map[string]*file{}
)

// Load loads a guard, once.
func Load(name string) (*Pack, error) {
	loading.Lock()
	defer loading.Unlock()
	if p, ok := loaded[name]; ok {
		return p, nil
	}
	f, err := loadFile(name)
	if err != nil {
		return nil, err
	}
	p := &Pack{Name: name, Rules: slices.Clone(f.rules)}
	for _, id := range f.includes {
		pack, _, _ := strings.Cut(id, ".")
		from, err := loadFile(pack)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(from.rules, func(r *rules.Rule) bool { return r.ID == id })
		if at < 0 {
			return nil, fmt.Errorf("pack %s includes %s, which does not exist", name, id)
		}
		p.Rules = append(p.Rules, from.rules[at])
	}
	p.Needles = needlesOf(p.Rules)
	loaded[name] = p
	return p, nil
}

// loadFile reads a file of rules, once.
func loadFile(name string) (*file, error) {
	if f, ok := read[name]; ok {
		return f, nil
	}
	packs, err := readCompiled()
	if err != nil {
		return nil, err
	}
	text, ok := packs[name]
	if !ok {
		return nil, fmt.Errorf("there is no pack %s", name)
	}
	var kept keptFile
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("pack %s: %w", name, err)
	}
	f := &file{includes: kept.Includes}
	for _, r := range kept.Rules {
		f.rules = append(f.rules, r.Ready())
	}
	read[name] = f
	return f, nil
}

// readPack reads the file of a pack, with the names of branches inserted. The ids that it
// includes are before its rules, between the lines include: and version:.
func readPack(name string) (data []byte, includes []string, err error) {
	data, err = files.ReadFile(name + ".yaml")
	if list, rest, ok := bytes.Cut(data, []byte("version:")); ok && bytes.HasPrefix(list, []byte("include:")) {
		for line := range strings.Lines(string(list)) {
			if id, ok := strings.CutPrefix(line, "  - "); ok {
				includes = append(includes, strings.TrimSpace(id))
			}
		}
		data = append(bytes.Repeat([]byte("\n"), bytes.Count(list, []byte("\n"))), append([]byte("version:"), rest...)...)
	}
	return programs.ExpandBranches(data), includes, err
}

// RuleInfo describes one rule.
type RuleInfo struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// Describe lists the rules of a guard without making them ready.
func Describe(name string) []RuleInfo {
	own, includes := describeFile(name)
	others := map[string][]RuleInfo{}
	for _, id := range includes {
		pack, _, _ := strings.Cut(id, ".")
		if others[pack] == nil {
			others[pack], _ = describeFile(pack)
		}
		if at := slices.IndexFunc(others[pack], func(r RuleInfo) bool { return r.ID == id }); at >= 0 {
			own = append(own, others[pack][at])
		}
	}
	return own
}

func describeFile(name string) (out []RuleInfo, includes []string) {
	data, includes, err := readPack(name)
	if err != nil {
		return nil, nil
	}
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), "\n")
		if id, ok := strings.CutPrefix(text, "  - id: "); ok {
			out = append(out, RuleInfo{ID: id})
		}
		if why, ok := strings.CutPrefix(text, "    why: "); ok && len(out) > 0 {
			if quoted, err := strconv.Unquote(why); err == nil {
				why = quoted
			}
			out[len(out)-1].What = why
		}
	}
	return out, includes
}

// hiddenText are words with which a command may run text that doesn't occur in it as written.
var hiddenText = []string{"base64", "xxd", "openssl", "eval", "base32", "uudecode", "rot13", "sh -c"}

// needlesOf returns the words without which no rule of a list can hold. If a rule names none,
// every command is read.
func needlesOf(list []*rules.Rule) *facts.Needles {
	words := append(append([]string{}, facts.FedShells...), hiddenText...)
	for _, r := range list {
		if r.Check != "" {
			continue
		}
		found := ruleWords(r)
		if len(found) == 0 {
			return nil
		}
		words = append(words, found...)
	}
	return facts.NewNeedles(true, words...)
}

// ruleWords returns the words one of which a command must have for a rule to hold.
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
	case len(q.Statement) > 0:
		return statementWords
	case len(q.Effect) > 0 && len(q.Text.Texts()) > 0: // of any program
		return lowerWords(q.Text.Texts())
	case len(q.Effect) > 0: // your own programs are looked for as such
		return programs.With(func(p *programs.Program) bool { return len(p.Does) > 0 })
	case len(q.Origin.Texts()) > 0:
		return programs.With(func(p *programs.Program) bool {
			return p.Has(programs.Fetches) || p.Has(programs.Sends) && p.Operands != nil && p.Operands.Target
		})
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

// statementWords occur in statements that do more than read.
var statementWords = []string{"drop", "truncate", "delete", "update", "flush", "remove", "alter", "restore", "grant",
	"revoke", "insert", "replace", "create", "unset", "purge", "rename"}

// namesIn returns the last names of a path pattern that aren't just wildcards; of {a,b} all.
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

// expandBraces expands {a,b}, as shells do.
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
