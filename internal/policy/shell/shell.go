// Package shell answers one question: what does this command line really run?
//
// It parses shell text with mvdan.cc/sh and then looks through everything that hides a program
// from a text match: sudo, env, sh -c, eval, xargs, find -exec, ssh, command substitutions,
// heredocs fed to a shell, quoting tricks, literal variables, function calls. The answer is a
// flat list of runs, one for every simple command that can be reached.
//
// Contract: Parse is pure, never panics and is bounded. Text that is too long isn't parsed at
// all (TooLong); text that no shell dialect accepts has Err set; if a budget ran out, Truncated
// is set and Runs holds what was found so far. A caller that guards something must treat these
// three as "not fully read".
package shell

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"

	"mvdan.cc/sh/v3/syntax"
)

// Limits. They are far above anything a user or an agent types, and low enough that the worst
// input still costs a fraction of a second.
const (
	MaxSource  = 256 << 10     // bytes of command text that are always parsed
	MaxLong    = 4 << 20       // the same for text with few words in it
	maxRuns    = 350           // runs reported
	maxSteps   = 10000         // words and statements visited, nested text included
	maxDepth   = 24            // sh -c inside eval inside ssh …, and function calls
	maxNesting = 400           // open brackets in the text; guards the parser's stack
	maxNested  = 3 * MaxSource // bytes of text inside the text, all levels together
	maxValue   = 4096          // bytes of a variable's value worth remembering
	maxBraces  = 64            // words one brace expansion may become
	maxLoop    = 16            // literal items of a for loop tried one by one
	maxVia     = 64            // wrappers remembered
	maxRedirs  = 256           // redirections of one statement
	maxOpen    = 8             // brace groups in one word; more would mean 2^n words
	maxDirs    = 64            // directories entered one after another
)

// Redirect is one redirection of a run.
type Redirect struct {
	Op     string // ">", ">>", "<", ">|", "&>", "<<<" …
	Target Word
}

// Writes reports whether the redirection opens its target for writing.
func (r Redirect) Writes() bool {
	switch r.Op {
	case ">", ">>", ">|", "&>", "&>>", "<>", "&>|", ">>|", "&>>|":
		return true
	case ">&":
		// ">&2" duplicates a descriptor, ">& file" writes a file.
		return strings.Trim(r.Target.Text, "0123456789-") != ""
	}
	return false
}

// Reads reports whether the redirection opens its target for reading.
func (r Redirect) Reads() bool { return r.Op == "<" || r.Op == "<>" }

// Assign is a NAME=value before a command, or by itself.
type Assign struct {
	Name  string
	Value Word
}

// Run is one simple command that the line can execute, without its wrappers.
type Run struct {
	Argv      []Word // program and arguments; empty for a bare assignment or redirect
	Via       []string
	Redirects []Redirect
	Assigns   []Assign
	From, To  Span // runs piped into this one, and those it is piped into
	Input     Word // heredoc or herestring on stdin
	HasInput  bool
	Dirs      []Word // directories entered by cd before this run, in order
	Func      string // enclosing function
	Local     bool   // the program is a function of this script, whose body has its own runs
	// Remote is set below ssh and the like, Contained below docker exec and the
	// like: paths there are not this machine's paths.
	Remote, Contained bool
	Mounts            []Mount // this machine's directories that the container sees
	Background        bool
	Endless           bool // in a loop that neither ends nor waits
	// Output is the text that the run prints, if it writes that to a file and the text is known.
	Output    string
	HasOutput bool
	// File is the program that an interpreter is given as a file, if this very command wrote that
	// file.
	File    string
	HasFile bool
	// Sink names the command whose arguments are this run's output, if that is an environment
	// ("export", "env", "eval"): loading rather than reading.
	Sink string
}

// Name returns the program's base name in lower case, "" if there is none. The case is folded
// because macOS file systems run RM as rm.
func (r *Run) Name() string {
	if len(r.Argv) == 0 {
		return ""
	}
	return baseName(r.Argv[0].Text)
}

// OnlyChecks reports whether a shell reads its program without running it: bash -n. An
// interactive one runs it anyway; without a script, in its own terminal, it may be interactive.
func (r *Run) OnlyChecks() bool {
	checks := false
	for _, a := range r.Args() {
		options, ok := strings.CutPrefix(a.Text, "-")
		switch {
		case a.Dynamic || a.Glob || strings.HasPrefix(a.Text, "+") || strings.HasPrefix(options, "-"):
			return false
		case !ok || options == "":
			return checks
		case strings.ContainsAny(options, "oOi"):
			return false
		}
		checks = checks || strings.Contains(options, "n")
	}
	return checks && !slices.ContainsFunc(r.Via, func(via string) bool {
		name, _, _ := strings.Cut(via, " ")
		return name == "script" || programs.Of(name).Starts != nil
	})
}

// Args returns Argv without the program.
func (r *Run) Args() []Word {
	if len(r.Argv) == 0 {
		return nil
	}
	return r.Argv[1:]
}

// String formats the run as one readable line; it isn't meant to be run.
func (r *Run) String() string { return r.text(math.MaxInt) }

// Head is String, cut to what a message shows: a command of many words is found many times.
func (r *Run) Head() string { return r.text(1 << 10) }

// text stops at the first word after limit bytes.
func (r *Run) text(limit int) string {
	var b strings.Builder
	for _, a := range r.Assigns {
		fmt.Fprintf(&b, "%s=%s ", a.Name, a.Value.Text)
	}
	for i, a := range r.Argv {
		if b.Len() > limit {
			return b.String()
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.Text)
	}
	for _, rd := range r.Redirects {
		b.WriteString(" " + rd.Op + rd.Target.Text)
	}
	return strings.TrimSpace(b.String())
}

// Script is the result of Parse.
type Script struct {
	Runs      []Run
	Err       error // the text is not shell in any dialect tried
	TooLong   bool  // the text was not parsed, see IsTooLong
	Truncated bool  // a budget ran out; Runs is only the first part
	Steps     int   // words and statements visited, for tests of the limits
	// Programs is the table the script was read with; nil is the built-in one.
	Programs *programs.Table
}

// Readable reports whether Runs covers the whole text.
func (s *Script) Readable() bool { return s.Err == nil && !s.TooLong && !s.Truncated }

// IsShell reports whether a program of this base name runs shell text.
func IsShell(name string) bool { return programs.IsShell(name) }

// TooDeep reports whether brackets in the text are nested too deeply.
func (s *Script) TooDeep() bool { return errors.Is(s.Err, errNesting) }

var errNesting = errors.New("brackets are nested too deeply")

// IsTooLong reports whether a text is too long to be parsed. The cost depends on the number
// of words, not bytes, so that one long word or a long here-document is fine.
func IsTooLong(src string) bool {
	if len(src) <= MaxSource {
		return false
	}
	if len(src) > MaxLong {
		return true
	}
	ends := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case ' ', '\t', '\n', ';', '|', '&', '(', ')', '{', '}', '$', '`', '"', '\'', '<', '>', '\\':
			if ends++; ends > maxSteps {
				return true
			}
		}
	}
	return false
}

// Parse reads src as bash, then as zsh if bash does not accept it.
func Parse(src string) Script { return ParseWith(nil, src) }

// ParseWith is Parse with a table's knowledge about programs; nil is the built-in one.
func ParseWith(table *programs.Table, src string) (out Script) {
	out.Programs = table
	if IsTooLong(src) {
		out.TooLong = true
		return out
	}
	w := &walker{out: &out, known: outputs{script: &out}}
	defer func() {
		// The parser is third-party; a guard must survive its bugs.
		if p := recover(); p != nil {
			out.Err = fmt.Errorf("shell parser failed: %v", p)
		}
		out.Steps = w.steps
		w.linkPipes()
	}()
	f, err := parseText(src)
	out.Err = err
	if f != nil {
		w.walkFile(f, src, inherited{})
	}
	return out
}

var (
	bashParsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}
	zshParsers  = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangZsh)) }}
)

// parseText parses src as bash, then as zsh. Even with an error it returns the statements before
// it: a shell runs them before it gets to the mistake.
func parseText(src string) (*syntax.File, error) {
	if foreign.NestedBeyond(src, maxNesting) {
		return nil, errNesting
	}
	f, err := parseWith(&bashParsers, src)
	if err == nil {
		return f, nil
	}
	// A here-document that is never closed ends with the text; bash only warns.
	for range maxOpen {
		delimiter, open := foreign.OpenHeredoc(err)
		if !open {
			break
		}
		src += "\n" + delimiter
		if f, err = parseWith(&bashParsers, src); err == nil {
			return f, nil
		}
	}
	if f, zerr := parseWith(&zshParsers, src); zerr == nil {
		return f, nil
	}
	return parseStart(src), err
}

func parseWith(pool *sync.Pool, src string) (*syntax.File, error) {
	p := pool.Get().(*syntax.Parser)
	f, err := p.Parse(strings.NewReader(src), "")
	// Not deferred: a parser that panicked is not worth keeping.
	pool.Put(p)
	return f, err
}

// parseStart returns the statements of src before the line with the first mistake: a shell
// reads and runs line by line.
func parseStart(src string) *syntax.File {
	file := &syntax.File{}
	var mistake error
	p := syntax.NewParser(syntax.Variant(syntax.LangBash))
	// The loop never ends early: the parser continues after its own error.
	for stmt, err := range p.StmtsSeq(strings.NewReader(src)) {
		switch {
		case mistake != nil:
		case err != nil:
			mistake = err
		default:
			file.Stmts = append(file.Stmts, stmt)
		}
	}
	line := uint(0)
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(mistake, &parse):
		line = parse.Pos.Line()
	case errors.As(mistake, &lang):
		line = lang.Pos.Line()
	}
	file.Stmts = slices.DeleteFunc(file.Stmts, func(s *syntax.Stmt) bool { return s.End().Line() >= line })
	return file
}

func baseName(s string) string {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = path.Base(s)
	}
	return strings.ToLower(s)
}
