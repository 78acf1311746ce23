package install

import (
	"bytes"
	"fmt"
	"io"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/plugins"
)

// Diff shows how other people's files would change, without changing them. Our own files are
// left out.
type Diff struct {
	Out   io.Writer
	Color bool
	Home  string // written as ~
	// Full shows every line; otherwise long runs of added or removed lines are cut, with a note of how
	// many there are.
	Full bool
}

// shownRun is how many lines of a long run are shown: an entry or two.
const shownRun = 24

// shownLine is how much of a long line is shown, unless all is.
const shownLine = 2000

// Do shows a step.
func (d *Diff) Do(s Step) error {
	name := paths.Shorten(d.Home, s.Path)
	switch s.Op {
	case OpWrite, OpDelete, OpTrust:
		was, is := name, name
		if of, version, ours := plugins.Recognise(append(s.New[:len(s.New):len(s.New)], s.Old...)); ours {
			return d.describePlugin(s, name, of, version)
		}
		if s.Old == nil {
			was = "/dev/null"
		}
		if s.Op == OpDelete {
			is = "/dev/null"
		}
		return d.printUnified(was, s.Old, is, s.New)
	case OpMakeDir:
		return d.printLine("new folder %s", name)
	case OpDropDir:
		if s.Agent != "" {
			return d.printLine("remove folder %s if it is empty", name)
		}
	}
	return nil
}

// describePlugin prints one line instead of a diff for a file that is entirely ours: no one
// would read such a diff.
func (d *Diff) describePlugin(s Step, name, of, version string) error {
	switch {
	case s.Old == nil:
		return d.printLine("new file %s: hookmux's plugin %s for %s", name, version, of)
	case s.New == nil:
		return d.printLine("remove file %s: hookmux's plugin for %s", name, of)
	}
	return d.printLine("replace file %s by hookmux's plugin %s for %s", name, version, of)
}

func (d *Diff) printLine(format string, args ...any) error {
	_, err := fmt.Fprintf(d.Out, format+"\n", args...)
	return err
}

func (d *Diff) printUnified(was string, old []byte, is string, now []byte) error {
	text := diff.Diff(was, old, is, now)
	// Its first line names the program that would make such a diff.
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(text, []byte("diff ")) {
		text = rest
	}
	run, cut := byte(' '), 0
	rest := func() error {
		if cut <= shownRun || d.Full || run != '+' && run != '-' {
			return nil
		}
		what := "are added"
		if run == '-' {
			what = "are removed"
		}
		return d.printLine("  … %d similar lines %s; --full shows all", cut-shownRun, what)
	}
	for line := range bytes.Lines(text) {
		head := bytes.HasPrefix(line, []byte("+++")) || bytes.HasPrefix(line, []byte("---"))
		if now := line[0]; now != run || head {
			if err := rest(); err != nil {
				return err
			}
			run, cut = now, 0
		}
		if cut++; cut > shownRun && (run == '+' || run == '-') && !d.Full && !head {
			continue
		}
		shown := termsafe.Text(string(bytes.TrimRight(line, "\r\n")))
		if runes := []rune(shown); !d.Full && len(runes) > shownLine { // a text without line ends
			shown = fmt.Sprintf("%s … %d more characters; --full shows them", string(runes[:shownLine]),
				len(runes)-shownLine)
		}
		if d.Color {
			switch {
			case bytes.HasPrefix(line, []byte("+++")), bytes.HasPrefix(line, []byte("---")):
				shown = "\x1b[1m" + shown + "\x1b[0m"
			case line[0] == '+':
				shown = "\x1b[32m" + shown + "\x1b[0m"
			case line[0] == '-':
				shown = "\x1b[31m" + shown + "\x1b[0m"
			case line[0] == '@':
				shown = "\x1b[36m" + shown + "\x1b[0m"
			}
		}
		if err := d.printLine("%s", shown); err != nil {
			return err
		}
	}
	return rest()
}
