package hookentry

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// HookName is the base name of the program that agents run; with it a command
// is recognised wherever the data folder is.
const HookName = "hookmux-hook"

const DenyFlag = "--on-unavailable=deny"

// Command is a hook command of ours.
type Command struct {
	Program string // the shim
	Agent   string
	Event   string // native name
	Seconds int    // the limit written with it; 0 leaves the agent's own
	Deny    bool   // deny while hookmux can't be reached
}

// Args returns the arguments that follow the program, for agents that take a list.
func (c Command) Args() []string {
	var args []string
	if c.Deny {
		args = append(args, DenyFlag)
	}
	args = append(args, c.Agent, c.Event)
	if c.Seconds > 0 {
		args = append(args, strconv.Itoa(c.Seconds))
	}
	return args
}

// Words returns the command as one line for agents that split it into words themselves: no
// shell runs it, so nothing can check first whether the program exists.
func (c Command) Words() string {
	words := make([]string, 0, 5)
	for _, w := range append([]string{c.Program}, c.Args()...) {
		words = append(words, shellquote.Portable(w))
	}
	return strings.Join(words, " ")
}

// Line returns the command as one line that sh, bash, zsh and fish read alike. If the program is
// gone it prints the answer that changes nothing: some agents deny every call, or can't be used at
// all, because of a hook that fails.
func (c Command) Line() string {
	words := make([]string, 0, 6)
	for _, w := range append([]string{"exec", c.Program}, c.Args()...) {
		words = append(words, shellquote.Portable(w))
	}
	row, _ := neutral.Lookup(c.Agent, c.Event)
	gone := row.Neutral
	if c.RefusesGone() {
		gone = row.Deny
	}
	return "test -x " + shellquote.Portable(c.Program) + " || " + answerCommand(gone) + "; " + strings.Join(words, " ")
}

// RefusesGone reports whether the line denies calls if the program is gone.
func (c Command) RefusesGone() bool {
	row, _ := neutral.Lookup(c.Agent, c.Event)
	return c.Deny && row.Decides && row.Deny != (neutral.Answer{})
}

// answerCommand returns a command that prints an answer and ends the shell.
func answerCommand(a neutral.Answer) string {
	switch {
	case a.Stdout == "" && a.Stderr == "":
		return "exit " + strconv.Itoa(a.Exit)
	case a.Stderr == "" && a.Exit == 0:
		return "exec printf %s " + shellquote.Portable(a.Stdout)
	}
	return "exec sh -c " + shellquote.Portable(fmt.Sprintf("printf %%s %s; printf %%s %s >&2; exit %d",
		shellquote.Portable(a.Stdout), shellquote.Portable(a.Stderr), a.Exit))
}

// MentionsHookmux reports whether a text has to do with us, even if it isn't as we
// write it.
func MentionsHookmux(text string) bool { return strings.Contains(text, HookName) }

// CouldMention reports whether a text may name us. Only one that could, with a
// letter of the name escaped as well, is worth parsing for it.
func CouldMention(src []byte) bool {
	return bytes.Contains(src, []byte(HookName)) || bytes.IndexByte(src, '\\') >= 0
}

// ReadLine recognises a line of ours: the guarded form of any version, and the
// bare command. A line that only contains such a command is its writer's.
func ReadLine(line string) (Command, bool) {
	if !MentionsHookmux(line) {
		return Command{}, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return Command{}, false
	}
	switch len(file.Stmts) {
	case 1:
		words, ok := plainWords(file.Stmts[0])
		if !ok || len(words) == 0 {
			return Command{}, false
		}
		return ReadWords(words[0], words[1:])
	case 2:
		both, ok := file.Stmts[0].Cmd.(*syntax.BinaryCmd)
		if !ok || both.Op != syntax.OrStmt {
			return Command{}, false
		}
		test, ok := plainWords(both.X)
		words, ok2 := plainWords(file.Stmts[1])
		if !ok || !ok2 || len(test) != 3 || len(words) < 2 || words[0] != "exec" ||
			!slices.Equal(test, []string{"test", "-x", words[1]}) {
			return Command{}, false
		}
		return ReadWords(words[1], words[2:])
	}
	return Command{}, false
}

// ReadWords recognises a program and its arguments.
func ReadWords(program string, args []string) (c Command, ok bool) {
	if filepath.Base(program) != HookName {
		return c, false
	}
	c.Program = program
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] != DenyFlag {
			return c, false
		}
		c.Deny, args = true, args[1:]
	}
	if len(args) < 2 || len(args) > 3 || args[0] == "" || args[1] == "" {
		return c, false
	}
	c.Agent, c.Event = args[0], args[1]
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		if err != nil || n <= 0 {
			return c, false
		}
		c.Seconds = n
	}
	return c, true
}

// plainWords returns the words of a simple command in which nothing is expanded,
// redirected or put into the background.
func plainWords(s *syntax.Stmt) ([]string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(s.Redirs) > 0 || s.Background || s.Negated || s.Coprocess {
		return nil, false
	}
	var words []string
	for _, w := range call.Args {
		text := ""
		for _, part := range w.Parts {
			switch p := part.(type) {
			case *syntax.Lit:
				text += unescapeWord(p.Value)
			case *syntax.SglQuoted:
				text += p.Value
			default:
				return nil, false
			}
		}
		words = append(words, text)
	}
	return words, true
}

func unescapeWord(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
