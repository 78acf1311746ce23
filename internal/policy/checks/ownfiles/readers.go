package ownfiles

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// checkOperands checks the words of a program by what is known about it.
func (c *writer) checkOperands(name string) {
	t := c.t
	if writers()[c.kind] != nil && name != "tar" {
		return
	}
	args := c.r.Args()
	spec, reads := c.x.Script.Programs.ReaderOf(name)
	if !reads && agentByProgram()[name] != nil {
		spec, reads = programs.Reader{}, true
	}
	switch {
	case reads:
		c.writeOutput(facts.OptionValues(args, spec.Output...))
		if facts.ChangesInPlace(c.flags, c.rest, spec.InPlace) {
			c.write(c.rest)
		}
		if spec.First {
			own := facts.OwnOperands(c.x.Script.Programs.Of(name), args)
			c.write(own[:min(len(own), 1)])
		}
		if spec.Second && len(c.rest) > 1 {
			c.write(c.rest[1:2])
		}
		if name == "tar" && !facts.HasWord(args, "-x", "--extract") {
			c.write(archiveFile(args))
		}
		if name == "zip" || name == "7z" {
			c.write(c.rest[:min(len(c.rest), 2)])
		}
	case programs.IsShell(name), programs.IsInterpreter(name):
		c.checkScriptArguments(name)
	default:
		c.writeOutput(facts.OptionValues(args, "-o", "--output", "--out", "-out", "--outfile", "--out-file"))
		for _, w := range args {
			if p, ok := pathInWord(w); ok && t.wordIsOwned(c.x, p, c.r, false) {
				c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s may change %s", c.r.Name(), p.Text))
				return
			}
		}
	}
}

// writeOutput checks files that an option names. Building hookmux in its own project is not this
// guard's concern.
func (c *writer) writeOutput(words []shell.Word) {
	c.write(words)
	for _, w := range words {
		if p := c.x.ResolveWord(w, c.r); ownBinary(w) && p.Known && !c.r.Remote && c.x.IsOutside(p) {
			c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s replaces %s", c.r.Name(), w.Text))
			return
		}
	}
}

// checkScriptArguments checks the operands of an interpreter: the first is what it runs; the
// rest is given to an unknown program.
func (c *writer) checkScriptArguments(name string) {
	if _, hasCode := c.r.Code(); hasCode || len(c.rest) == 0 {
		return
	}
	module := ""
	for i, a := range c.r.Args() {
		if a.Text == "-m" && i+1 < len(c.r.Args()) {
			module = c.r.Args()[i+1].Text
		}
	}
	words := behindOperand(c.r.Args(), 1)
	switch module {
	case "json.tool":
		words = behindOperand(c.r.Args(), 2)
	case "tomllib", "yaml", "ast", "tokenize", "py_compile", "unittest", "pytest":
		return
	}
	for _, w := range words {
		if p, ok := pathInWord(w); ok && c.t.wordIsOwned(c.x, p, c.r, false) {
			c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("a program that %s runs may change %s", name, p.Text))
			return
		}
	}
}

// behindOperand returns the words after the first n operands, options included.
func behindOperand(args []shell.Word, n int) []shell.Word {
	for i, a := range args {
		if !strings.HasPrefix(a.Text, "-") {
			if n--; n == 0 {
				return args[i+1:]
			}
		}
	}
	return nil
}

// pathInWord returns the path that a word may contain: the word itself, or the value of
// key=value and -oVALUE. Text with blanks in it isn't a path.
func pathInWord(w shell.Word) (shell.Word, bool) {
	t := w.Text
	if strings.ContainsAny(t, " \t\n") {
		return w, false
	}
	if i := strings.IndexByte(t, '='); i > 0 {
		return facts.CutWord(w, i+1), true
	}
	if len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[2:3], "/~.$") {
		return facts.CutWord(w, 2), true
	}
	return w, !strings.HasPrefix(t, "-")
}

// archiveFile returns the archive that tar makes: -f's value, also after a cluster such as czf.
func archiveFile(args []shell.Word) []shell.Word {
	for i, a := range args {
		t := strings.TrimPrefix(a.Text, "-")
		if strings.HasPrefix(a.Text, "--") || !strings.HasSuffix(t, "f") || i > 0 && t == a.Text ||
			!strings.ContainsAny(t,
				"cru") {
			continue
		}
		return args[min(i+1, len(args)):min(i+2, len(args))]
	}
	return facts.OptionValues(args, "-f", "--file")
}
