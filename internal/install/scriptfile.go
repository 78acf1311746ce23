package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// This file is about agents that run programs named after an event: the bare name, and the
// same with an extension. Each file is either entirely hookmux's or not at all, and the agent
// runs all of them: if a name is taken, ours gets another extension.

// head begins every program of ours.
const head = "#!/bin/sh\n# Written by hookmux; `hookmux uninstall` takes it away again.\n"

// ScriptText returns the program for a command.
func ScriptText(c hookentry.Command) []byte { return []byte(head + c.Line() + "\n") }

// ReadScript recognises a program of ours: one line, and comments.
func ReadScript(src []byte) (c hookentry.Command, ours bool) {
	line := ""
	for text := range strings.Lines(string(src)) {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if line != "" {
			return c, false
		}
		line = text
	}
	return hookentry.ReadLine(line)
}

// ScriptPath returns the file of an event, for the path of a place.
func ScriptPath(place, event string) string { return strings.ReplaceAll(place, agent.EventMark, event) }

// Script is a slot for a script: a program for an event, or a free file name.
type Script struct {
	Path    string
	Event   *agent.EventSpec
	Text    []byte // nil: there is none
	Command hookentry.Command
	Ours    bool
	named   bool // it has a name that ours could have
}

// MentionsUs reports whether it names hookmux and isn't as hookmux writes it.
func (s Script) MentionsUs() bool { return !s.Ours && hookentry.MentionsHookmux(string(s.Text)) }

// ScriptFinder looks for the programs of an agent.
type ScriptFinder struct {
	Agent   *agent.Agent
	Resolve func(agent.HookFile) string
	Read    func(path string) ([]byte, error) // nil: there is none
	Glob    func(pattern string) []string
}

// InPlace returns the programs of an event in a place: first the names that ours could
// have, then what else is called so.
func (f ScriptFinder) InPlace(p agent.InstallPlace, e *agent.EventSpec) ([]Script, error) {
	path := f.Resolve(p.HookFile)
	if path == "" {
		return nil, nil
	}
	path = ScriptPath(path, e.Name)
	files := []string{path}
	for _, end := range p.Ends {
		files = append(files, path+end)
	}
	names := len(files)
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
	for _, other := range f.Glob(escaped + ".*") {
		if !slices.Contains(files, other) {
			files = append(files, other)
		}
	}
	var out []Script
	for i, file := range files {
		s := Script{Path: file, Event: e, named: i < names}
		var err error
		if s.Text, err = f.Read(file); err != nil {
			return nil, BrokenFile(file, err)
		}
		s.Command, s.Ours = ReadScript(s.Text)
		s.Ours = s.Ours && s.named &&
			(s.Command.Agent == f.Agent.Name || slices.Contains(f.Agent.Aliases, s.Command.Agent))
		out = append(out, s)
	}
	return out, nil
}

// InScope returns the programs of an event in all places of a scope.
func (f ScriptFinder) InScope(scope string, e *agent.EventSpec) ([]Script, error) {
	var out []Script
	for _, p := range f.Agent.Install.Places {
		if p.Scope != scope {
			continue
		}
		found, err := f.InPlace(p, e)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// Unused returns the first name of an event in a scope that isn't taken; empty if there is
// none.
func (f ScriptFinder) Unused(scope string, e *agent.EventSpec) (string, error) {
	found, err := f.InScope(scope, e)
	for _, s := range found {
		if s.named && s.Text == nil {
			return s.Path, nil
		}
	}
	return "", err
}

// Own returns the file for an event in a scope: the one that is ours, or an unused name.
func (f ScriptFinder) Own(scope string, e *agent.EventSpec) (string, error) {
	found, err := f.InScope(scope, e)
	if err != nil {
		return "", err
	}
	for _, s := range found {
		if s.Ours {
			return s.Path, nil
		}
	}
	return f.Unused(scope, e)
}

// Add writes a program under a name that isn't taken.
func (f ScriptFinder) Add(scope string, c hookentry.Command) error {
	e, ok := f.Agent.Event(c.Event)
	if !ok {
		return fmt.Errorf("%s: has no event %s; `hookmux hooks discover` lists them", f.Agent.Name, c.Event)
	}
	path, err := f.Unused(scope, e)
	if err == nil && path == "" {
		err = fmt.Errorf("%s: every name that a program of %s could have is taken; take one away", f.Agent.Name, e.Name)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return userfile.WriteProgram(path, func([]byte) ([]byte, error) { return ScriptText(c), nil })
}
