// Package programs is the one place that knows what programs do: which of their words are a
// command, an option's value or a file, what they read, write, delete, send or print, and
// which variables matter. The facts are data: programs.yaml for what hookmux knows itself, and
// your own files in the same format (own.go).
//
// programs.json is programs.yaml in a format that loads fast; a test keeps them in sync.
// Nothing is loaded before the first query.
package programs

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/embedjson"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

//go:embed programs.json
var compiled string

// Program describes a program.
type Program struct {
	Names string `json:"names" yaml:"names"`
	// Is lists traits, separated by blanks.
	Is string `json:"is,omitempty" yaml:"is"`
	// Kind is the kind of tool it is, for guards that evaluate what it is given.
	Kind Kind `json:"kind,omitempty" yaml:"kind"`
	// Images are container images that start the program.
	Images []string `json:"images,omitempty" yaml:"images"`
	// Runs says that it runs the command after its own options, Verbs that it does so after one of
	// its verbs.
	Runs  *Prefix           `json:"runs,omitempty" yaml:"runs"`
	Verbs map[string]Prefix `json:"verbs,omitempty" yaml:"verbs"`
	// Starts says that it opens a terminal, a session or a service with a command in it.
	Starts *Launcher `json:"starts,omitempty" yaml:"starts"`
	// RunsOptions are options whose value is run as a command; it may be joined with "=".
	RunsOptions []string `json:"runsOptions,omitempty" yaml:"runsOptions"`
	// RunsWritten are patterns of files that it runs because of their names.
	RunsWritten []string `json:"runsWritten,omitempty" yaml:"runsWritten"`
	// Code is set for interpreters: their short options for program text.
	Code *string `json:"code,omitempty" yaml:"code"`
	// Values are short options that take the next word, LongValues long ones.
	Values     string   `json:"values,omitempty" yaml:"values"`
	LongValues []string `json:"longValues,omitempty" yaml:"longValues"`
	// Subcommands says that its first operand names what it does.
	Subcommands *Subcommands `json:"subcommands,omitempty" yaml:"subcommands"`
	// Commands are its subcommands, if any unambiguous prefix means one; Aliases are other names
	// of them.
	Commands []string          `json:"commands,omitempty" yaml:"commands"`
	Aliases  map[string]string `json:"aliases,omitempty" yaml:"aliases"`
	Reader   *Reader           `json:"reader,omitempty" yaml:"reader"`
	Prints   *Operands         `json:"prints,omitempty" yaml:"prints"`
	Operands *Access           `json:"operands,omitempty" yaml:"operands"`
	Files    *FileOptions      `json:"files,omitempty" yaml:"files"`
	// Fills says that it changes whatever lies in a folder.
	Fills *Fills  `json:"fills,omitempty" yaml:"fills"`
	Talks *Talker `json:"talks,omitempty" yaml:"talks"`
	// Language is the language of the statements it reads: sql, mongo or redis.
	Language string `json:"language,omitempty" yaml:"language"`
	// Polls are subcommands that only check a status.
	Polls []string `json:"polls,omitempty" yaml:"polls"`
	// Does lists the phrases that have an effect: operands in their order, and options.
	Does map[Effect][]string `json:"does,omitempty" yaml:"does"`
	// Secrets are options with a secret as their value.
	Secrets []SecretOption `json:"secrets,omitempty" yaml:"secrets"`
	// OptionsFrom is the variable whose words come before the program's own.
	OptionsFrom string `json:"optionsFrom,omitempty" yaml:"optionsFrom"`
	// Reach are options that make it do more than it does by itself.
	Reach  []string `json:"reach,omitempty" yaml:"reach"`
	Claude *Claude  `json:"claude,omitempty" yaml:"claude"`

	traits Trait
	read   *readOnce
	source string // the file that describes it, "" for a built-in one
	adds   bool   // it must not take the place of what is known already
}

// Prefix describes a program that runs the command written after its own options.
type Prefix struct {
	// Values are the short options that take a separate argument, Long the long ones.
	Values string   `json:"values,omitempty" yaml:"values"`
	Long   []string `json:"long,omitempty" yaml:"long"`
	// Skip is the number of positional arguments before the command.
	Skip    int  `json:"skip,omitempty" yaml:"skip"`
	Assigns bool `json:"assigns,omitempty" yaml:"assigns"` // NAME=value may come before the command
	Joins   bool `json:"joins,omitempty" yaml:"joins"`     // the words are joined and given to a shell
	Keep    bool `json:"keep,omitempty" yaml:"keep"`       // the wrapper is recorded as a run, too
	Contain bool `json:"contain,omitempty" yaml:"contain"` // the command runs in a container
	// Need is the word before the command; several are separated by a blank.
	Need string `json:"need,omitempty" yaml:"need"`
	// Unskipped says that with options there is no positional argument before the
	// command.
	Unskipped bool `json:"unskipped,omitempty" yaml:"unskipped"`
}

// Launcher describes a program that opens a terminal, a session or a service with a
// command in it.
type Launcher struct {
	// Rest are options after which every word belongs to the command, Text those whose value is a
	// command line.
	Rest []string `json:"rest,omitempty" yaml:"rest"`
	Text []string `json:"text,omitempty" yaml:"text"`
	// Verbs come first among the operands, if there are any; the rest is then looked at.
	Verbs []string `json:"verbs,omitempty" yaml:"verbs"`
	// Types are verbs that type the operands, or standard input, into a terminal.
	Types []string `json:"types,omitempty" yaml:"types"`
	// Operands says that the first operand starts the command; Skip is the number of operands
	// before it. Values and Long list options that take a value, Pairs those that take two.
	Operands bool     `json:"operands,omitempty" yaml:"operands"`
	Skip     int      `json:"skip,omitempty" yaml:"skip"`
	Values   string   `json:"values,omitempty" yaml:"values"`
	Long     []string `json:"long,omitempty" yaml:"long"`
	Pairs    []string `json:"pairs,omitempty" yaml:"pairs"`
	// Literals are options in whose value string literals are command lines.
	Literals []string `json:"literals,omitempty" yaml:"literals"`
	// Divided says that there may be a -- between the command and its own words.
	Divided bool `json:"divided,omitempty" yaml:"divided"`
	// Backslashes says that they separate the folders of a path (cmd.exe).
	Backslashes bool `json:"backslashes,omitempty" yaml:"backslashes"`
	// Remote says that the command runs on another machine.
	Remote bool `json:"remote,omitempty" yaml:"remote"`
}

// Subcommands describes a program whose first operand says what it does.
type Subcommands struct {
	// Values are the options before it that take the next word.
	Values []string `json:"values,omitempty" yaml:"values"`
	// Second says that the second operand does as well, and that options may be between the two.
	Second bool `json:"second,omitempty" yaml:"second"`
}

// Reader is a program that only reads what it is given, except in these ways.
type Reader struct {
	Output  []string `json:"output,omitempty" yaml:"output"`   // options whose value is a file it writes
	InPlace []string `json:"inPlace,omitempty" yaml:"inPlace"` // options that have it change its operands
	First   bool     `json:"first,omitempty" yaml:"first"`     // the first operand is where it writes
	Second  bool     `json:"second,omitempty" yaml:"second"`   // the second operand is where it writes
}

// Operands says which words of a program are files whose contents it puts somewhere.
type Operands struct {
	Values string `json:"values,omitempty" yaml:"values"` // short options that take a separate argument
	Skip   int    `json:"skip,omitempty" yaml:"skip"`     // leading operands that aren't files
}

// Access describes what a program does with its operands, if it doesn't just read them.
type Access struct {
	Does   string `json:"does" yaml:"does"`               // read, write, delete or mode
	Skip   int    `json:"skip,omitempty" yaml:"skip"`     // leading operands that aren't files (chmod's mode)
	Values string `json:"values,omitempty" yaml:"values"` // short options that take the next word, in addition to Program.Values
	// Target says that the last operand, or -t's value, is written; the others are
	// sources (read, or deleted by a move).
	Target bool `json:"target,omitempty" yaml:"target"`
}

// FileOptions are the options of a program whose value is a file.
type FileOptions struct {
	// Shows are those whose contents are shown: printed, sent, or named in an error.
	Shows []string `json:"shows,omitempty" yaml:"shows"`
	// Loads are the files that the program works with, Writes those it creates or changes.
	Loads  []string `json:"loads,omitempty" yaml:"loads"`
	Writes []string `json:"writes,omitempty" yaml:"writes"`
}

// Fills says when a program changes whatever lies in a folder, and in which.
type Fills struct {
	When []string `json:"when" yaml:"when"` // phrases, as in Program.Does
	// Last says that the last operand is the folder; otherwise it's where the program starts,
	// and what Options and Variables name. An option may have a key: -c=core.worktree.
	Last      bool     `json:"last,omitempty" yaml:"last"`
	Options   []string `json:"options,omitempty" yaml:"options"`
	Variables []string `json:"variables,omitempty" yaml:"variables"`
}

// Talker is a program that talks to other machines.
type Talker struct {
	// Bare says that its operands are hosts even without a scheme (ssh, ping, nc);
	// Operand is the number of the operand that names the host, 0 for the first.
	Bare    bool   `json:"bare,omitempty" yaml:"bare"`
	Operand int    `json:"operand,omitempty" yaml:"operand"`
	Values  string `json:"values,omitempty" yaml:"values"` // short options that take the next word, in addition to Program.Values
	// Implied is the host that it talks to when it names none; Only lists the
	// subcommands that do.
	Implied string   `json:"implied,omitempty" yaml:"implied"`
	Only    []string `json:"only,omitempty" yaml:"only"`
	// Hosts are options whose value is a host, Variables environment variables that name one.
	Hosts     []string `json:"hosts,omitempty" yaml:"hosts"`
	Variables []string `json:"variables,omitempty" yaml:"variables"`
}

// SecretOption is a way in which a program takes a secret on its command line.
type SecretOption struct {
	Behind  string `json:"behind,omitempty" yaml:"behind"` // a word that must come before the option
	Options string `json:"options" yaml:"options"`         // divided by blanks
	Form    string `json:"form,omitempty" yaml:"form"`     // how the option carries it; "" is the next word
	Between string `json:"between,omitempty" yaml:"between"`
	Kind    string `json:"kind" yaml:"kind"`
}

// Claude is how Claude Code's own permission rules treat a program.
type Claude struct {
	Wrapper *ClaudeWrapper `json:"wrapper,omitempty" yaml:"wrapper"`
	Passed  *ClaudePassed  `json:"passed,omitempty" yaml:"passed"`
}

// ClaudeWrapper says that deny and ask rules look past a program at the one it starts. Its
// options are those of Program.Runs; only differences are listed here.
type ClaudeWrapper struct {
	Operands int    `json:"operands,omitempty" yaml:"operands"` // words before the command, of a program without Runs
	Optional bool   `json:"optional,omitempty" yaml:"optional"` // the operands may be missing
	Passed   bool   `json:"passed,omitempty" yaml:"passed"`     // only as far as allow rules do
	Prefix   bool   `json:"prefix,omitempty" yaml:"prefix"`     // only rules that are prefixes, and no further
	Stops    string `json:"stops,omitempty" yaml:"stops"`       // an expression: first words that they don't get past
	// Flags are options that the rules assume to have no value.
	Flags []string `json:"flags,omitempty" yaml:"flags"`

	stops *lazyregexp.Regexp
}

// StopsAt reports whether the rules don't get past a wrapper with this first word.
func (w *ClaudeWrapper) StopsAt(word string) bool { return w.Stops != "" && w.stops.MatchString(word) }

// ClaudePassed says that allow rules look past a program.
type ClaudePassed struct {
	Options  string   `json:"options,omitempty" yaml:"options"`   // an expression
	Values   []string `json:"values,omitempty" yaml:"values"`     // options that take the next word
	Needed   bool     `json:"needed,omitempty" yaml:"needed"`     // an option must be there
	Once     bool     `json:"once,omitempty" yaml:"once"`         // only one option
	Operand  string   `json:"operand,omitempty" yaml:"operand"`   // an expression: the word before the command
	Harmless bool     `json:"harmless,omitempty" yaml:"harmless"` // needs no rule if the command needs none

	options, operand *lazyregexp.Regexp
}

// HasOption reports whether a word is an option that doesn't matter.
func (c *ClaudePassed) HasOption(word string) bool {
	return c.Options != "" && c.options.MatchString(word)
}

// TakesOperand reports whether a word may be the one before the command.
func (c *ClaudePassed) TakesOperand(word string) bool { return c.operand.MatchString(word) }

// ClaudePassedOf returns how allow rules look past a program, nil if they don't.
func ClaudePassedOf(name string) *ClaudePassed {
	if c := Of(name).Claude; c != nil {
		return c.Passed
	}
	return nil
}

// ClaudeWrapper returns how deny and ask rules look past the program, nil if they don't.
func (p *Program) ClaudeWrapper() *ClaudeWrapper {
	if p.Claude == nil {
		return nil
	}
	return p.Claude.Wrapper
}

func (c *Claude) prepare() {
	whole := func(text string) *lazyregexp.Regexp { return lazyregexp.New("^(?:" + text + ")$") }
	if w := c.Wrapper; w != nil && w.Stops != "" {
		w.stops = whole(w.Stops)
	}
	if c.Passed != nil {
		c.Passed.options, c.Passed.operand = whole(c.Passed.Options), whole(c.Passed.Operand)
	}
}

// file is the format of programs.yaml.
type file struct {
	Any struct {
		Loads     []string `json:"loads" yaml:"loads"`
		Writes    []string `json:"writes" yaml:"writes"`
		Runs      []string `json:"runs" yaml:"runs"`
		Reach     []string `json:"reach" yaml:"reach"`
		Elsewhere []string `json:"elsewhere" yaml:"elsewhere"`
		// Verbs only check a status: none of them matches the * at the end of a phrase.
		Verbs []string `json:"verbs" yaml:"verbs"`
		// Does guesses what subcommands of programs without a description do.
		Does map[Effect][]string `json:"does" yaml:"does"`
	} `json:"any" yaml:"any"`
	Loader    Prefix `json:"loader" yaml:"loader"`
	Variables struct {
		Commands       []string `json:"commands" yaml:"commands"`
		Code           []string `json:"code" yaml:"code"`
		Expanded       []string `json:"expanded" yaml:"expanded"`
		StartFiles     []string `json:"startFiles" yaml:"startFiles"`
		AlwaysSet      []string `json:"alwaysSet" yaml:"alwaysSet"`
		ClaudeHarmless []string `json:"claudeHarmless" yaml:"claudeHarmless"`
	} `json:"variables" yaml:"variables"`
	Branches struct {
		Main      []string `json:"main" yaml:"main"`
		Shared    []string `json:"shared" yaml:"shared"`
		Protected []string `json:"protected" yaml:"protected"`
	} `json:"branches" yaml:"branches"`
	// Vital lists what a machine or its owner can't do without; phrases name it as
	// @service and @package.
	Vital struct {
		Services []string `json:"services" yaml:"services"`
		Packages []string `json:"packages" yaml:"packages"`
	} `json:"vital" yaml:"vital"`
	// Ways are the programs for which the shell reader has its own way to find what they run.
	Ways map[string]string `json:"ways" yaml:"ways"`
	// Languages are the interpreters of files, by their extension or their whole name.
	Languages map[string]string `json:"languages" yaml:"languages"`
	Programs  []*Program        `json:"programs" yaml:"programs"`
}

// Table describes programs: the built-in entries, with those of your own files layered over them.
type Table struct {
	entries map[string]*Program
	base    *Table // asked about everything else; nil for the built-in table
	names   []string
}

type builtinTable struct {
	Table
	file
	images map[string]string // by the last part of an image's name
	ways   map[string]string // by the program
}

var builtin = sync.OnceValue(func() *builtinTable {
	t := &builtinTable{images: map[string]string{}, ways: map[string]string{}}
	if err := embedjson.Unmarshal(compiled, &t.file); err != nil {
		panic(fmt.Sprintf("programs.json is not what its test makes: %v", err))
	}
	t.entries = make(map[string]*Program, 2*len(t.Programs))
	for _, p := range t.Programs {
		if err := p.prepare(); err != nil {
			panic(fmt.Sprintf("programs.yaml: %v", err))
		}
		for name := range strings.FieldsSeq(p.Names) {
			t.entries[name] = p
			for _, image := range p.Images {
				t.images[image] = name
			}
		}
	}
	for way, names := range t.Ways {
		for name := range strings.FieldsSeq(names) {
			t.ways[name] = way
		}
	}
	return t
})

// WayOf returns the way in which the shell reader finds what a program runs, "" for that of
// its entry.
func WayOf(name string) string { return builtin().ways[name] }

// Ways returns the names of all ways.
func Ways() []string { return slices.Sorted(maps.Keys(builtin().Ways)) }

// Builtin returns the table of the programs that hookmux knows itself.
func Builtin() *Table { return &builtin().Table }

var unknown = &Program{}

// Of returns what is known about a program, by its base name; never nil. The result must not be
// changed.
func (t *Table) Of(name string) *Program {
	if t != nil {
		if p, ok := t.entries[name]; ok {
			return p
		}
		if t.base != nil {
			return t.base.Of(name)
		}
	}
	if t == nil {
		return Builtin().Of(name)
	}
	return unknown
}

// Of returns what is built in about a program; never nil.
func Of(name string) *Program { return Builtin().Of(name) }

// Has reports whether a program has one of the traits.
func (p *Program) Has(traits Trait) bool { return p.traits&traits != 0 }

// Is reports whether the program of a base name has one of the traits.
func Is(name string, traits Trait) bool { return Of(name).Has(traits) }

// With lists the built-in programs that a condition holds for, sorted.
func With(holds func(p *Program) bool) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(Builtin().entries)) {
		if holds(Builtin().entries[name]) {
			out = append(out, name)
		}
	}
	return out
}

func (p *Program) prepare() error {
	if strings.TrimSpace(p.Names) == "" {
		return fmt.Errorf("an entry has no names")
	}
	for name := range strings.FieldsSeq(p.Is) {
		t, ok := traitNames[name]
		if !ok {
			return fmt.Errorf("%s: there is no trait %q", p.Names, name)
		}
		p.traits |= t
	}
	p.read = new(readOnce)
	if p.Claude != nil {
		p.Claude.prepare()
	}
	if p.Kind != "" && !slices.Contains(kinds, p.Kind) {
		return fmt.Errorf("%s: there is no kind %q; there are %s", p.Names, p.Kind, joinKinds(kinds))
	}
	for effect := range p.Does {
		if !slices.Contains(Effects, effect) {
			return fmt.Errorf("%s: there is no effect %q; there are %s", p.Names, effect, joinEffects())
		}
	}
	if p.Operands != nil && !slices.Contains([]string{"read", "write", "delete", "mode"}, p.Operands.Does) {
		return fmt.Errorf("%s: operands: does is read, write, delete or mode, not %q", p.Names, p.Operands.Does)
	}
	for _, s := range p.Secrets {
		if s.Form != "" && !slices.Contains(SecretForms, s.Form) {
			return fmt.Errorf("%s: secrets: form is %s, not %q", p.Names, strings.Join(SecretForms, ", "), s.Form)
		}
		if len(s.Between) > 1 {
			return fmt.Errorf("%s: secrets: between is one character, not %q", p.Names, s.Between)
		}
	}
	return nil
}
