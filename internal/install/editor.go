package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/plugins"
)

// Op is what a step does.
type Op string

// The kinds of steps.
const (
	OpWrite    Op = "write"    // Old becomes New; nil Old: there is no file
	OpDelete   Op = "delete"   // a file that holds Old goes
	OpMakeDir  Op = "mkdir"    // a folder
	OpDropDir  Op = "rmdir"    // a folder, if it is empty
	OpLink     Op = "link"     // Path becomes a link to New
	OpDropLink Op = "unlink"   // a link goes
	OpManifest Op = "manifest" // our own record of all this
	OpTrust    Op = "trust"    // Old becomes New, by the agent itself if it can
	OpSweep    Op = "sweep"    // what a killed installation left goes
	OpKeep     Op = "keep"     // New is kept at Path, with our own things: somebody changed a file that is ours and goes
)

// Step is one change of the disk that happens whole or not at all.
type Step struct {
	Op    Op     `json:"op"`
	Path  string `json:"path"`
	Agent string `json:"agent,omitempty"`
	Old   []byte `json:"-"`
	New   []byte `json:"-"`
	Why   string `json:"why,omitempty"` // what a file is for that nobody would guess
	// Grant is what the agent is to be told, at a trust step.
	Grant *Grant `json:"-"`
}

// Editor carries steps out.
type Editor interface{ Do(Step) error }

// Run gives an editor the steps in order and stops at the first that fails.
func Run(steps []Step, e Editor) error {
	for _, s := range steps {
		if edit.AtStep != nil {
			edit.AtStep()
		}
		if err := e.Do(s); err != nil {
			return err
		}
	}
	return nil
}

// Diff shows what would become of other people's files, and does nothing. Our
// own are passed over.
type Diff struct {
	Out   io.Writer
	Color bool
	Home  string // written as ~
	// Full shows every line; else long runs of lines that are added or taken
	// out are cut, and it is said how many there are.
	Full bool
}

// shownRun is how many lines of a long run are shown: an entry or two.
const shownRun = 24

// shownLine is how much of a long line is shown, unless all is.
const shownLine = 2000

// Do shows a step.
func (d *Diff) Do(s Step) error {
	name := Short(d.Home, s.Path)
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

// describePlugin stands for a file that is ours altogether: nobody reads such a diff.
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
			what = "go"
		}
		return d.printLine("  … %d more lines like these %s; --full shows them", cut-shownRun, what)
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
			shown = fmt.Sprintf("%s … %d more characters; --full shows them", string(runes[:shownLine]), len(runes)-shownLine)
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

// Short writes the home as ~.
func Short(home, path string) string {
	if rel, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

// Disk does the steps.
type Disk struct {
	// Show, where it is set, shows each step before it is done.
	Show *Diff
	// Trust asks the agent itself to trust hooks; nil, or an error of it,
	// makes the step write the file.
	Trust func(*Grant) error
}

// Do does a step.
func (d *Disk) Do(s Step) error {
	if d.Show != nil {
		if err := d.Show.Do(s); err != nil {
			return err
		}
	}
	switch s.Op {
	case OpKeep:
		return edit.Store(s.Path, s.New)
	case OpManifest:
		if s.New == nil {
			return deleteFile(s.Path, s.Old)
		}
		return replaceFile(s.Path, s.Old, s.New)
	case OpTrust:
		if d.Trust == nil || s.Grant == nil {
			return replaceFile(s.Path, s.Old, s.New)
		}
		if d.Trust(s.Grant) == nil {
			return nil
		}
		return trustOurselves(s)
	case OpWrite:
		return replaceFile(s.Path, s.Old, s.New)
	case OpDelete:
		return deleteFile(s.Path, s.Old)
	case OpMakeDir:
		return os.MkdirAll(s.Path, 0o700)
	case OpDropDir:
		// Not empty, or gone: both are fine.
		_ = os.Remove(s.Path)
		return nil
	case OpSweep:
		return nil // done under the lock, before the first step
	case OpLink:
		return replaceLink(s.Path, string(s.New))
	case OpDropLink:
		return dropFile(s.Path)
	}
	return fmt.Errorf("%s: there is no step %q", s.Path, s.Op)
}

func dropFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile writes a file, unless somebody changed it since it was planned.
func replaceFile(path string, old, now []byte) error {
	return edit.WriteFile(path, func(is []byte) ([]byte, error) {
		if (is == nil) != (old == nil) || !bytes.Equal(is, old) {
			return nil, fmt.Errorf("%s: was changed by somebody else just now; run the command again", path)
		}
		return now, nil
	})
}

// trustOurselves writes trust where the agent could not be asked, or did not say
// in time that it was done: it may have written some or all of it by then.
func trustOurselves(s Step) error {
	return edit.WriteFile(s.Path, func(is []byte) ([]byte, error) {
		if sameText(is, s.Old) {
			return s.New, nil
		}
		now, _, err := writeTrust(is, s.Grant.Keys, nil)
		if err != nil {
			return nil, brokenFile(s.Path, err)
		}
		return now, nil
	})
}

// deleteFile removes a file where its links lead to, unless somebody changed
// it since it was planned.
func deleteFile(path string, old []byte) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	is, err := edit.ReadFile(real, edit.MaxFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(is, old) {
		return fmt.Errorf("%s: was changed by somebody else just now; run the command again", path)
	}
	return os.Remove(real)
}
