package programs

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// IsShell reports whether a program of this base name runs shell text.
func IsShell(name string) bool { return Is(name, Shell) }

// StartsShell reports whether a program of this base name starts a shell if no command is
// given.
func StartsShell(name string) bool { return Is(name, StartsAShell) }

// Renames reports whether other programs get another name by a program of this name.
func Renames(name string) bool { return Is(name, GivesNames) }

// TakesStatements reports whether a program of this base name reads statements.
func TakesStatements(name string) bool { return Is(name, Statements) }

// Loader returns the prefix of a program that runs the program named after its options, as the
// dynamic linker of Linux does when it is called like a program.
func Loader() Prefix { return builtin().Loader }

// IsLoader reports whether a program of this base name is a dynamic linker:
// ld-linux-x86-64.so.2, ld-musl-aarch64.so.1, ld-2.31.so, ld.so.
func IsLoader(name string) bool {
	return name == "ld.so" || strings.Contains(name, ".so") &&
		(strings.HasPrefix(name, "ld-") || strings.HasPrefix(name, "ld64.so"))
}

// EntrypointOf returns the program that a container image starts, "" if it isn't known.
func EntrypointOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = image[strings.LastIndexByte(image, '/')+1:]
	image, _, _ = strings.Cut(image, ":")
	return builtin().images[image]
}

// OperandsFrom returns where the command of a launcher starts: after the options, which are
// known to take up the first known words, and after l.Skip operands.
func OperandsFrom(args []string, l *Launcher, known int) int {
	if len(l.Pairs) == 0 {
		return known + l.Skip
	}
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(l.Pairs, args[i]):
			i += 2
		case slices.Contains(l.Long, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i + l.Skip
		}
	}
	return len(args)
}

// CodeOptions returns the short options with which an interpreter is given program text, for any
// version of it.
func CodeOptions(name string) (options string, interpreter bool) {
	code := Of(TrimVersion(name)).Code
	if code == nil {
		return "", false
	}
	return *code, true
}

// IsInterpreter reports whether a program, of any version, runs program text of another language.
func IsInterpreter(name string) bool {
	_, ok := CodeOptions(name)
	return ok
}

// LanguageOf returns the interpreter of a file of this base name, in lower case; "" for none.
func LanguageOf(file string) string {
	list := builtin().Languages
	if language, ok := list[file]; ok {
		return language
	}
	return list[strings.TrimPrefix(path.Ext(file), ".")]
}

// RunsScripts reports whether an interpreter, of any version, runs the first file that it is
// given. The files of awk, m4 and dc are mostly data, and compilers are given folders and what
// they make.
func RunsScripts(name string) bool {
	p := Of(TrimVersion(name))
	return p.Code != nil && !p.Has(NoScripts)
}

// TrimVersion turns python3.12 into python3, and php8.2 into php.
func TrimVersion(name string) string {
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if Of(name).Code != nil {
		return name
	}
	if bare := strings.TrimRight(name, "-0123456789"); Of(bare).Code != nil {
		return bare
	}
	return name
}

// ReaderOf returns what is known about a program that changes no file it is given. A program
// that isn't listed as one is assumed to change files.
func (t *Table) ReaderOf(name string) (Reader, bool) {
	if r := t.Of(name).Reader; r != nil {
		return *r, true
	}
	return Reader{}, false
}

// OperandsOf returns which words of a program are files whose contents it puts somewhere; ok
// is false for programs that put none anywhere, or aren't known.
func (t *Table) OperandsOf(name string) (o Operands, ok bool) {
	p := t.Of(name)
	if p.Prints != nil {
		o, ok = *p.Prints, true
	}
	o.Values += p.Values
	return o, ok
}

// FileOptionsOf returns the options of a program whose value is a file, including those that mean
// one for every program that has them.
func (t *Table) FileOptionsOf(name string) FileOptions {
	var o FileOptions
	if f := t.Of(name).Files; f != nil {
		o = *f
	}
	all := &builtin().Any
	return FileOptions{Shows: o.Shows, Loads: slices.Concat(all.Loads, o.Loads),
		Writes: slices.Concat(all.Writes, o.Writes)}
}

// ShownBy returns the options of a program that show the content of a file.
func (t *Table) ShownBy(name string) []string {
	if f := t.Of(name).Files; f != nil {
		return f.Shows
	}
	return nil
}

// OperandsOf is [Table.OperandsOf] of the built-in table.
func OperandsOf(name string) (Operands, bool) { return Builtin().OperandsOf(name) }

// WithOperands lists the programs for which OperandsOf has an entry, sorted.
func WithOperands() []string { return With(func(p *Program) bool { return p.Prints != nil }) }

// RemoteValues returns the short options of ssh and similar programs that take a value.
func RemoteValues(name string) string {
	values := Of("ssh").Values
	if name == "autossh" {
		values += "M"
	}
	return values
}

// IsFollowed reports whether a program of this base name is looked for after a program that
// isn't known: what it does depends on its words, so that naming it alone blocks nothing.
func IsFollowed(name string) bool {
	return Is(name, Followed|Shell) || IsInterpreter(name)
}

// MayRunWords reports whether the words of a program of this base name may be a
// command, because it isn't known what it does with them.
func (t *Table) MayRunWords(name string) bool {
	p := t.Of(name)
	if p.Has(Plain) || p.Reader != nil || IsInterpreter(name) {
		return false
	}
	return !p.Has(Shell) && (p.Own() || p.Prints == nil)
}

// TextOptions returns options with which programs that aren't known are given a command line.
func TextOptions() []string { return builtin().Any.Runs }

// CommonReach returns options that make any program that has them do more than it does by
// itself; ElsewhereOptions make it talk to another machine than its addresses name.
func CommonReach() []string { return builtin().Any.Reach }

// ElsewhereOptions returns options that make a program talk to another machine than its
// addresses name, or send more than a request.
func ElsewhereOptions() []string { return builtin().Any.Elsewhere }

// GitTakesValue reports whether an option before git's subcommand takes the next word.
func GitTakesValue(option string) bool { return slices.Contains(Of("git").Subcommands.Values, option) }

// TakesValue reports whether an option of awk has the next word as its value.
func TakesValue(option string) bool {
	switch option {
	case "-v", "-F", "-f", "--assign", "--field-separator", "--file":
		return true
	}
	return false
}

// FullCommand returns the subcommand that a word means to a program which accepts any
// unambiguous prefix and other names; a word that means none stays as it is.
func (p *Program) FullCommand(word string) string {
	if full, ok := p.Aliases[word]; ok {
		return full
	}
	found := ""
	for _, name := range p.Commands {
		if name == word {
			return word
		}
		if strings.HasPrefix(name, word) {
			if found != "" {
				return word
			}
			found = name
		}
	}
	if found == "" || len(word) < 2 {
		return word
	}
	return found
}

// variableSets are the lists of variables, for quick lookups.
type variableSets struct {
	commands, code, expanded, startFiles, alwaysSet, claudeHarmless map[string]bool
	patterns                                                        [][2]string // of commands: the texts around *
}

var variables = sync.OnceValue(func() *variableSets {
	set := func(names []string) map[string]bool {
		m := make(map[string]bool, len(names))
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	list := &builtin().Variables
	v := &variableSets{commands: set(list.Commands), code: set(list.Code), expanded: set(list.Expanded),
		startFiles: set(list.StartFiles), alwaysSet: set(list.AlwaysSet), claudeHarmless: set(list.ClaudeHarmless)}
	for _, n := range list.Commands {
		if before, behind, ok := strings.Cut(n, "*"); ok {
			v.patterns = append(v.patterns, [2]string{before, behind})
		}
	}
	return v
})

// RunsCommand reports whether the value of a variable of this name is run as a command
// by some program.
func RunsCommand(name string) bool {
	v := variables()
	return v.commands[name] || slices.ContainsFunc(v.patterns, func(p [2]string) bool {
		return len(name) >= len(p[0])+len(p[1]) && strings.HasPrefix(name, p[0]) && strings.HasSuffix(name, p[1])
	})
}

// IsExpanded reports whether a shell expands the value of a variable of this name and so
// runs the commands that are substituted in it.
func IsExpanded(name string) bool { return variables().expanded[name] }

// NamesStartFile reports whether a shell runs the file that a variable of this name
// names.
func NamesStartFile(name string) bool { return variables().startFiles[name] }

// LoadsCode reports whether a variable of this name has other programs load code or
// start files from elsewhere.
func LoadsCode(name string) bool { return variables().code[name] }

// AlwaysSet reports whether a login session sets a variable, so that it never collapses
// a path to its root by being empty.
func AlwaysSet(name string) bool { return variables().alwaysSet[name] }

// HarmlessForClaude reports whether a variable may come before a command that Claude
// Code's rules allow.
func HarmlessForClaude(name string) bool { return variables().claudeHarmless[name] }
