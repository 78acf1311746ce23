package ruleimport

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/policy/claude"
)

// Format is the format in which an agent keeps permission rules; its entry in the catalogue names
// it.
type Format string

// The formats.
const (
	PermissionLists Format = "permission-lists" // permissions.allow, ask and deny of a settings.json
	PrefixCalls     Format = "prefix-rules"     // calls of prefix_rule in a file of Starlark
	PolicyRules     Format = "policy"           // [[rule]] of a policy in TOML
	PermissionTable Format = "permission-table" // the member permission of a configuration in JSON
)

// Ordered reports whether which rule wins depends on more than what they decide.
func (f Format) Ordered() bool { return f == PolicyRules || f == PermissionTable }

// Place is a file with an agent's rules.
type Place struct {
	File string `json:"file"`
	// Project is the folder whose rules these are; "" for the user's own.
	Project string `json:"project,omitempty"`
	// Local says that they are the user's own rules for this project.
	Local bool `json:"local,omitempty"`
	// Untrusted says that the agent doesn't trust the project, and so ignores what it allows.
	Untrusted bool   `json:"untrusted,omitempty"`
	Home      string `json:"-"`
}

// Entry is one rule of an agent and what is made of it.
type Entry struct {
	List claude.List `json:"list,omitempty"`
	From string      `json:"from"` // as it was written
	Line int         `json:"line,omitempty"`
	// Rule is the imported rule, in Claude Code's syntax; "" if there is none.
	Rule string `json:"rule,omitempty"`
	Why  string `json:"why,omitempty"` // the author's own reason
	// Ignored says that the agent itself doesn't use it.
	Ignored bool `json:"ignored,omitempty"`
	// Reason says in one word why it isn't imported, Note in a sentence; Instead is a form that
	// works.
	Reason  string `json:"reason,omitempty"`
	Note    string `json:"note,omitempty"`
	Instead string `json:"instead,omitempty"`
}

// Source holds the content of one file.
type Source struct {
	Place
	Entries []Entry `json:"entries"`
	Problem string  `json:"problem,omitempty"`
}

// leftBecause explains why something isn't imported.
var leftBecause = map[Reason]string{
	NotUnderstood:  "it is not written as documented",
	UnknownKey:     "it has a condition that no rule here has",
	NoSuchTool:     "no rule here is about this tool",
	Pattern:        "its pattern cannot be written as the beginning of a command",
	NotPlainWord:   "one of its words would need quotes",
	TooMany:        "it has more alternatives than are written out",
	Order:          "a weaker rule wins over it there, and would not here",
	WideAllow:      "hookmux has no rule that allows everything",
	Default:        "it sets what happens when no rule matches",
	ExampleFails:   "its own example would be decided otherwise",
	DecisionUnsaid: "it decides neither allow, ask nor deny",
}

// Read reads the rules of one file.
func Read(format Format, place Place, text []byte) Source {
	source := Source{Place: place, Entries: []Entry{}}
	var result Result
	var err error
	switch format {
	case PermissionLists:
		source.readLists(text)
		return source
	case PrefixCalls:
		result = PrefixRules(string(text))
	case PolicyRules:
		result, err = PolicyFile(string(text))
	case PermissionTable:
		result, err = PermissionBlock(text)
	default:
		err = fmt.Errorf("rules of the format %q cannot be read", format)
	}
	if err != nil {
		source.Problem = err.Error()
	}
	for _, item := range result.Items {
		source.Entries = append(source.Entries, Entry{List: item.List, From: item.From, Line: item.Line,
			Rule: item.Rule, Why: item.Why})
	}
	for _, left := range result.Skipped {
		source.Entries = append(source.Entries, Entry{From: left.From, Line: left.Line, Reason: string(left.Reason),
			Note: leftBecause[left.Reason]})
	}
	return source
}

// readLists reads permission lists, which mean here what they mean there.
func (s *Source) readLists(text []byte) {
	from := claude.UserSource(s.Home)
	switch {
	case s.Local:
		from = claude.LocalSource(s.Project, s.Home)
	case s.Project != "":
		from = claude.ProjectSource(s.Project, s.Home)
	}
	file := claude.ReadSettings(from, text)
	if file.Err != nil {
		s.Problem = file.Err.Error()
	}
	for i := range file.Rules {
		rule := &file.Rules[i]
		if rule.IsUsed() && rule.List == claude.AllowList && s.Untrusted {
			rule.Reason = claude.NotTrusted
		}
		entry := Entry{List: rule.List, From: rule.Text, Rule: rule.Text}
		if !rule.IsUsed() {
			entry.Rule, entry.Ignored = "", true
			entry.Reason, entry.Note, entry.Instead = string(rule.Reason), rule.IgnoredReason(), rule.Instead
		}
		s.Entries = append(s.Entries, entry)
	}
}

// Counts returns how many rules are imported, are ignored by their own agent, and are left
// out for another reason.
func Counts(sources []Source) (taken, ignored, left int) {
	for _, s := range sources {
		for _, e := range s.Entries {
			switch {
			case e.Rule != "":
				taken++
			case e.Ignored:
				ignored++
			default:
				left++
			}
		}
	}
	return taken, ignored, left
}

// WriteOptions configures how a file of rules is written.
type WriteOptions struct {
	ID, Title string // of the agent
	Strict    bool
	// Repair also imports rules that the agent ignores, in the form that works.
	Repair bool
	Home   string
}

// ErrNothing says that there is no rule to import.
var ErrNothing = errors.New("there is no rule that could be taken over")

// RulesFile writes what is imported as a file of rules: one rule for each that denies or asks,
// so that each can be allowed by itself, and one for what is allowed, which applies once the
// user accepted it. What isn't imported is in it as a comment.
func RulesFile(sources []Source, o WriteOptions) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Permission rules of %s, taken over by `hookmux rules import`. They apply to every\n"+
		"# agent. They are written and decided as in Claude Code's settings (permissions).\n", o.Title)
	for i := range sources {
		for _, e := range sources[i].Entries {
			if e.Rule == "" && (!o.Repair || e.Instead == "") {
				fmt.Fprintf(&b, "# not taken over, %s: %s %s (%s)\n", shorten(sources[i].File, o.Home), e.List,
					commentText(e.From), commentText(e.Note))
			}
		}
	}
	b.WriteString("version: 1\nrules:\n")
	refusing := false
	ids := map[string]bool{}
	for _, list := range []claude.List{claude.DenyList, claude.AskList} {
		for _, rule := range rulesOf(sources, list, o) {
			only := sourcesWith(sources, list, rule, o)
			refusing = writeRule(&b, uniqueID(ids, o.ID+"-"+string(list)+"-"+rule), only, o, list) || refusing
		}
	}
	o.Strict = false
	allowing := writeRule(&b, o.ID+"-allowed", sources, o, claude.AllowList)
	if !refusing && !allowing {
		return nil, ErrNothing
	}
	return b.Bytes(), nil
}

// taken returns the rule that an entry is imported as, "" for none.
func (e *Entry) taken(o WriteOptions) string {
	if e.Rule == "" && o.Repair {
		return e.Instead
	}
	return e.Rule
}

// rulesOf returns the different rules of a list that are imported, in their order.
func rulesOf(sources []Source, list claude.List, o WriteOptions) []string {
	var out []string
	for i := range sources {
		for j := range sources[i].Entries {
			e := &sources[i].Entries[j]
			if rule := e.taken(o); e.List == list && rule != "" && !slices.Contains(out, rule) {
				out = append(out, rule)
			}
		}
	}
	return out
}

// sourcesWith returns the sources with nothing in them but one rule of a list.
func sourcesWith(sources []Source, list claude.List, rule string, o WriteOptions) []Source {
	out := slices.Clone(sources)
	for i := range out {
		out[i].Entries = slices.DeleteFunc(slices.Clone(out[i].Entries), func(e Entry) bool {
			return e.List != list || e.taken(o) != rule
		})
	}
	return out
}

// maxID limits the length of a rule's id that is made from its text.
const maxID = 48

// uniqueID turns a text into an id that isn't used yet.
func uniqueID(used map[string]bool, text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isLetterOrDigit(r) })
	id := strings.Join(words, "-")
	id = strings.TrimRight(id[:min(len(id), maxID)], "-")
	for n, plain := 2, id; used[id]; n++ {
		id = fmt.Sprintf("%s-%d", plain, n)
	}
	used[id] = true
	return id
}

func isLetterOrDigit(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// writeRule writes one rule with some of the lists, unless they are empty.
func writeRule(b *bytes.Buffer, id string, sources []Source, o WriteOptions, lists ...claude.List) bool {
	var own, projects bytes.Buffer
	var user Source
	for i := range sources {
		if s := &sources[i]; s.Project == "" {
			user.Entries = append(user.Entries, s.Entries...)
		} else {
			writeProject(&projects, s, o, lists)
		}
	}
	writeLists(&own, "      ", &user, o, lists)
	if own.Len()+projects.Len() == 0 {
		return false
	}
	fmt.Fprintf(b, "  - id: %s\n    why: %s\n    claude:\n", id,
		quote("a permission rule of "+o.Title+"'s settings says so"))
	if o.Strict {
		b.WriteString("      strict: true\n")
	}
	b.Write(own.Bytes())
	if projects.Len() > 0 {
		b.WriteString("      settings:\n")
		b.Write(projects.Bytes())
	}
	return true
}

func writeProject(b *bytes.Buffer, s *Source, o WriteOptions, lists []claude.List) {
	var own bytes.Buffer
	writeLists(&own, "          ", s, o, lists)
	if own.Len() == 0 {
		return
	}
	fmt.Fprintf(b, "        - project: %s\n", quote(shorten(s.Project, o.Home)))
	if s.Local {
		b.WriteString("          local: true\n")
	}
	b.Write(own.Bytes())
}

func writeLists(b *bytes.Buffer, indent string, s *Source, o WriteOptions, lists []claude.List) {
	for _, list := range lists {
		begun := false
		for _, e := range s.Entries {
			rule := e.taken(o)
			if e.List != list || rule == "" {
				continue
			}
			if !begun {
				fmt.Fprintf(b, "%s%s:\n", indent, list)
				begun = true
			}
			fmt.Fprintf(b, "%s  - %s", indent, quote(rule))
			if e.Why != "" {
				fmt.Fprintf(b, " # %s", commentText(e.Why))
			}
			b.WriteByte('\n')
		}
	}
}

// quote writes a text so that YAML reads it back as it is.
func quote(text string) string {
	quoted, err := jsonx.Marshal(text)
	if err != nil {
		return `""` // a text always encodes
	}
	return string(quoted)
}

// commentText returns a text on one line of a comment.
func commentText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

func shorten(name, home string) string {
	if rest, ok := strings.CutPrefix(name, home+string(filepath.Separator)); ok && home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return name
}
