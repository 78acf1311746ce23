package programs

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// FolderName is the folder of your own descriptions of programs, in each of the places
// that have one.
const FolderName = "programs"

// Parse reads a file of your own: entries in the same format as the built-in table.
func Parse(name string, data []byte) ([]*Program, error) {
	var f struct {
		Programs []*Program `yaml:"programs"`
	}
	if err := yaml.UnmarshalWithOptions(data, &f, yaml.Strict()); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, p := range f.Programs {
		if p == nil {
			return nil, fmt.Errorf("entry %d is empty; give it names and what the programs do", i+1)
		}
		if err := p.prepare(); err != nil {
			return nil, err
		}
		if err := p.usable(); err != nil {
			return nil, err
		}
		p.source = name
		for one := range strings.FieldsSeq(p.Names) {
			if seen[one] {
				return nil, fmt.Errorf("%s is described twice; put it into one entry", one)
			}
			if one != strings.ToLower(one) || strings.Contains(one, "/") {
				return nil, fmt.Errorf("%s: names are base names in lower case, such as %s", one,
					strings.ToLower(one[strings.LastIndexByte(one, '/')+1:]))
			}
			seen[one] = true
		}
		for effect, phrases := range p.Does {
			if len(phrases) == 0 {
				return nil, fmt.Errorf("%s: does: %s lists no subcommand; [''] means every call", p.Names, effect)
			}
		}
	}
	return f.Programs, nil
}

// addingTraits only make hookmux see more; ownTraits are those that your own files may use.
const (
	addingTraits = Fetches | Unpacks | Deletes | Recursive | RunsFiles | Sends | Editor
	ownTraits    = addingTraits | NoFiles | TalksAnyway | Mentions | Poll | Plain
)

// usable returns why an entry can't be one of your own: it has a field that is only read for
// built-in programs.
func (p *Program) usable() error {
	for name := range strings.FieldsSeq(p.Is) {
		if traitNames[name]&ownTraits == 0 {
			return fmt.Errorf("%s: is: %s is for built-in programs only; you can use %s", p.Names, name,
				strings.Join(traitsIn(ownTraits), ", "))
		}
	}
	if p.Kind != "" && !slices.Contains(ownKinds, p.Kind) {
		return fmt.Errorf("%s: kind: %s is for built-in programs only; you can use %s", p.Names, p.Kind, joinKinds(ownKinds))
	}
	field := ""
	switch {
	case len(p.Images) > 0:
		field = "images"
	case p.Code != nil:
		field = "code"
	case len(p.LongValues) > 0:
		field = "longValues"
	case len(p.Secrets) > 0:
		field = "secrets"
	case len(p.Reach) > 0:
		field = "reach"
	case p.OptionsFrom != "":
		field = "optionsFrom"
	case len(p.Commands) > 0:
		field = "commands"
	case p.Fills != nil:
		field = "fills"
	case len(p.Aliases) > 0:
		field = "aliases"
	case p.Runs != nil && (len(p.Verbs) > 0 || p.Starts != nil) || p.Starts != nil && len(p.Verbs) > 0:
		return fmt.Errorf("%s: runs, verbs and starts exclude each other; keep one", p.Names)
	case p.Claude != nil:
		return fmt.Errorf("%s: the field claude is for built-in programs only; take it out", p.Names)
	default:
		return nil
	}
	return fmt.Errorf("%s: %s is for built-in programs only; take it out", p.Names, field)
}

// traitsIn returns the names of traits, sorted.
func traitsIn(traits Trait) []string {
	var out []string
	for name, t := range traitNames {
		if traits&t != 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// OnlyAdds returns the part of an entry that can only make hookmux see more, whatever else it
// says about the program; whole says that this is all of it.
func (p *Program) OnlyAdds() (part *Program, whole bool) {
	part = &Program{Names: p.Names, Kind: p.Kind, RunsOptions: p.RunsOptions, RunsWritten: p.RunsWritten, Does: p.Does, Files: p.Files,
		traits: p.traits & addingTraits, source: p.source, adds: true}
	known := slices.ContainsFunc(strings.Fields(p.Names), func(name string) bool { return Of(name) != unknown })
	if !known {
		part.Language = p.Language
		// In addition, its words are searched like those of any program that isn't known.
		part.Runs, part.Verbs, part.Prints = keptPrefix(p.Runs), map[string]Prefix{}, p.Prints
		for verb, prefix := range p.Verbs {
			part.Verbs[verb] = *keptPrefix(&prefix)
		}
		if p.Starts != nil {
			starts := *p.Starts
			starts.Remote = false
			part.Starts = &starts
		}
	}
	sorted := p.Kind != "" && slices.ContainsFunc(strings.Fields(p.Names), func(name string) bool {
		return Of(name).Kind != "" && Of(name).Kind != p.Kind
	})
	whole = !sorted && p.traits == part.traits && p.Subcommands == nil && p.Reader == nil && p.Operands == nil && p.Talks == nil &&
		p.Values == "" && len(p.Polls) == 0 &&
		(!known || p.Runs == nil && len(p.Verbs) == 0 && p.Starts == nil && p.Prints == nil && p.Language == "")
	contains := p.Starts != nil && p.Starts.Remote || p.Runs != nil && p.Runs.Contain
	for _, verb := range p.Verbs {
		contains = contains || verb.Contain
	}
	return part, whole && !contains
}

// keptPrefix returns a prefix whose wrapper is checked as well, and whose command isn't assumed
// to run in a container.
func keptPrefix(p *Prefix) *Prefix {
	if p == nil {
		return nil
	}
	kept := *p
	kept.Keep, kept.Contain = true, false
	return &kept
}

// NewTable layers entries over the built-in table, one after the other; nil if there are none.
// Each adds to what is known about its programs; if an entry sets a field that has one value
// only, that value applies.
func NewTable(lists ...[]*Program) *Table {
	t := &Table{entries: map[string]*Program{}, base: Builtin()}
	for _, p := range slices.Concat(lists...) {
		for name := range strings.FieldsSeq(p.Names) {
			t.entries[name] = t.Of(name).with(p)
		}
	}
	if len(t.entries) == 0 {
		return nil
	}
	t.names = slices.Sorted(maps.Keys(t.entries))
	return t
}

// with returns what is known about a program together with another entry.
func (p *Program) with(more *Program) *Program {
	out := *p
	out.Names, out.source, out.traits = more.Names, more.source, p.traits|more.traits
	out.RunsOptions = slices.Concat(p.RunsOptions, more.RunsOptions)
	out.RunsWritten = slices.Concat(p.RunsWritten, more.RunsWritten)
	out.read = new(readOnce)
	out.Polls = slices.Concat(p.Polls, more.Polls)
	out.Values = p.Values + more.Values
	if out.Does = maps.Clone(p.Does); p == unknown && more.adds {
		out.Does = maps.Clone(builtin().Any.Does) // what only adds leaves that in force
	}
	for effect, phrases := range more.Does {
		if out.Does == nil {
			out.Does = map[Effect][]string{}
		}
		out.Does[effect] = slices.Concat(out.Does[effect], phrases)
	}
	if len(more.Verbs) > 0 {
		out.Verbs = maps.Clone(more.Verbs)
		maps.Copy(out.Verbs, p.Verbs)
	}
	if more.Files != nil {
		var f FileOptions
		if p.Files != nil {
			f = *p.Files
		}
		out.Files = &FileOptions{Shows: slices.Concat(f.Shows, more.Files.Shows),
			Loads: slices.Concat(f.Loads, more.Files.Loads), Writes: slices.Concat(f.Writes, more.Files.Writes)}
	}
	if more.Language != "" && (!more.adds || p.Language == "") {
		out.Language = more.Language
	}
	set := func(has bool, take func()) { // what only adds takes nothing's place
		if !more.adds || !has {
			take()
		}
	}
	runs := p.Runs != nil || p.Starts != nil || len(p.Verbs) > 0 // one hides the others
	set(p.Kind != "", func() { out.Kind = cmp.Or(more.Kind, p.Kind) })
	set(runs, func() { out.Runs = cmp.Or(more.Runs, p.Runs) })
	set(runs, func() { out.Starts = cmp.Or(more.Starts, p.Starts) })
	set(p.Subcommands != nil, func() { out.Subcommands = cmp.Or(more.Subcommands, p.Subcommands) })
	set(p.Reader != nil, func() { out.Reader = cmp.Or(more.Reader, p.Reader) })
	set(p.Prints != nil, func() { out.Prints = cmp.Or(more.Prints, p.Prints) })
	set(p.Operands != nil, func() { out.Operands = cmp.Or(more.Operands, p.Operands) })
	set(p.Talks != nil, func() { out.Talks = cmp.Or(more.Talks, p.Talks) })
	return &out
}

// MentionedIn reports whether a command may run one of the programs of your own files.
func (t *Table) MentionedIn(command string) bool {
	return t != nil && slices.ContainsFunc(t.names, func(name string) bool { return strings.Contains(command, name) })
}

// SameAs reports whether two entries say the same.
func (p *Program) SameAs(other *Program) bool {
	a, b := *p, *other
	a.source, b.source, a.Is, b.Is, a.adds, b.adds, a.read, b.read = "", "", "", "", false, false, nil, nil
	return reflect.DeepEqual(a, b)
}

// Own reports whether one of your own files describes the program.
func (p *Program) Own() bool { return p.source != "" }

// Phrase returns the phrase of an effect that a command's words have: all its operands, at
// the start and in their order, and all its options. A word after an option may be its value
// or an operand; either will do. Dynamic words are given as "".
func (p *Program) Phrase(effect Effect, args []string) (phrase string, found bool) {
	return firstPhrase(p.phrases(effect), args, effect == MayDelete || !p.Own())
}

func firstPhrase(phrases []phrase, args []string, builtIn bool) (text string, found bool) {
	if len(phrases) == 0 {
		return "", false
	}
	given := splitArgs(args)
	for i := range phrases {
		if given.have(&phrases[i], builtIn) {
			return phrases[i].text, true
		}
	}
	return "", false
}

// FillsFolder reports whether a command's words have p change whatever lies in a folder.
func (p *Program) FillsFolder(args []string) bool {
	if p.Fills == nil {
		return false
	}
	_, found := firstPhrase(readPhrases(p.Fills.When), args, true)
	return found
}

// HasEffects reports whether anything is known about the effects of p's subcommands.
func (p *Program) HasEffects() bool { return len(p.Does) > 0 || p.guessed() }

// phrases returns those of an effect. What a tool seems to delete is guessed if its
// description doesn't say what it deletes.
func (p *Program) phrases(effect Effect) []phrase {
	switch {
	case effect == MayDelete && p.guessed():
		return guesses()
	case len(p.Does[effect]) == 0:
		return nil
	case p.read == nil: // a part of one
		return readPhrases(p.Does[effect])
	}
	p.read.once.Do(func() {
		p.read.phrases = make(map[Effect][]phrase, len(p.Does))
		for effect, texts := range p.Does {
			p.read.phrases[effect] = readPhrases(texts)
		}
	})
	return p.read.phrases[effect]
}

var guesses = sync.OnceValue(func() []phrase { return readPhrases(builtin().Any.Does[MayDelete]) })

// guessed reports whether what p's subcommands do is guessed from their names.
func (p *Program) guessed() bool {
	switch {
	case p == unknown:
		return true
	case p.Own():
		return false
	}
	return p.Reader == nil && p.Prints == nil && p.Code == nil && p.Kind == "" && p.Operands == nil && p.Starts == nil &&
		!p.Has(Plain|PlainTool|NoFiles|Mentions|Targets|Poll|Shell|ShellHook|RunsFiles) && len(p.Does[LosesData]) == 0 &&
		p.Runs == nil
}

// givenWords are a command's words, as phrases are compared with them.
type givenWords struct {
	operands []operand
	options  []option
}

// operand is a word that isn't an option, and whether it may be the value of one.
type operand struct {
	text    string
	isValue bool
}

// option is an option, with the value that is joined to it and the word after it.
type option struct{ name, value, next string }

func splitArgs(args []string) givenWords {
	var g givenWords
	behind := false // an option that may take the next word
	for i, word := range args {
		if word == "--" {
			for _, rest := range args[i+1:] {
				g.operands = append(g.operands, operand{text: rest})
			}
			break
		}
		if len(word) < 2 || word[0] != '-' {
			g.operands = append(g.operands, operand{word, behind})
			behind = false
			continue
		}
		name, value, joined := strings.Cut(word, "=")
		o := option{name: name, value: value}
		if behind = !joined; behind && i+1 < len(args) {
			o.next = args[i+1]
		}
		g.options = append(g.options, o)
	}
	return g
}

// have reports whether the words have a phrase. A word that isn't known may be any, but if
// sure is set, at least one word must be there as it is written.
func (g givenWords) have(p *phrase, sure bool) bool {
	at, seen := 0, 0
	for i := range p.words {
		w := &p.words[i]
		switch w.kind {
		case notThere:
			if g.hasOption(w.options) || slices.ContainsFunc(g.operands, func(o operand) bool { return fitsAny(w.patterns, o.text) }) {
				return false
			}
			continue
		case vitalWord:
			if !slices.ContainsFunc(g.operands, func(o operand) bool { return isVital(w.text, o.text) }) {
				return false
			}
			seen++
			continue
		case optionWord:
			if !g.hasOption(w.options) {
				return false
			}
			seen++
			continue
		}
		for at < len(g.operands) && g.operands[at].isValue && g.operands[at].text != "" &&
			(w.kind == anyWord && at+1 < len(g.operands) || !fitsAny(w.patterns, g.operands[at].text)) {
			at++
		}
		switch {
		case at >= len(g.operands):
			return false
		case g.operands[at].text == "":
		case !fitsAny(w.patterns, g.operands[at].text):
			return false
		case w.kind != anyWord:
			seen++
		}
		at++
	}
	if p.anyLast && at > 0 && slices.Contains(builtin().Any.Verbs, g.operands[at-1].text) {
		return false
	}
	return seen > 0 || p.wanted == 0 || !sure
}

// isVital reports whether a word names a service or a package that the machine or its owner
// needs, or is a pattern that matches one.
func isVital(kind, word string) bool {
	list, word := builtin().Vital.Packages, strings.Trim(word, "^$")
	if kind == "@package" {
		word = word[strings.LastIndexByte(word, '/')+1:] // sys-libs/glibc
	}
	if kind == "@service" {
		word = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(word, ".service"), ".socket"))
		list = builtin().Vital.Services
	}
	start, pattern := strings.CutSuffix(word, "*")
	return word != "" && slices.ContainsFunc(list, func(v string) bool {
		return fitsAny([]wordPattern{readPattern(v)}, word) || pattern && strings.HasPrefix(v, start)
	})
}

// hasOption reports whether an option of a phrase is among the words: -x, --long,
// --long=VALUE, or one of several. A letter may be joined with others.
func (g givenWords) hasOption(wanted []wantedOption) bool {
	for i := range wanted {
		one := &wanted[i]
		for _, o := range g.options {
			same := one.name.fits(o.name) || one.letter != "" && !strings.HasPrefix(o.name, "--") && strings.Contains(o.name, one.letter)
			if same && (!one.valued || one.value.fits(o.value) || one.value.fits(o.next)) {
				return true
			}
		}
	}
	return false
}
