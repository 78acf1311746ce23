package agent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/platform/yamlerror"
)

// Problem is something wrong in a catalogue file. The file it names is left
// out as a whole; everything else stays in force.
type Problem struct {
	File string
	Line int // 0 when no line is to blame
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Load returns the built-in catalogue with the *.yaml files of dirs laid over it,
// in the order given and by name within one. A file either describes a new
// agent, speaking one of the known dialects, or adds to one that is there:
// its events and tools replace those of the same name, its lists add. A
// directory that does not exist has no files.
func Load(dirs ...string) (*Catalogue, []Problem) {
	var files []File
	var problems []Problem
	for _, dir := range dirs {
		found, wrong := ReadFiles(dir)
		files, problems = append(files, found...), append(problems, wrong...)
	}
	c, wrong := LoadFiles(files)
	return c, append(problems, wrong...)
}

// File is a description of an agent before it is read.
type File struct {
	Name  string // its path
	Data  []byte
	Guest bool // it is a project's
}

// ReadFiles reads the *.yaml files right in a directory, by name.
func ReadFiles(dir string) ([]File, []Problem) {
	found, err := filepath.Glob(filepath.Join(paths.EscapeGlob(dir), "*.yaml"))
	if err != nil {
		return nil, []Problem{{File: dir, Text: err.Error()}}
	}
	sort.Strings(found)
	var files []File
	var problems []Problem
	for _, name := range found {
		data, err := os.ReadFile(name)
		if err != nil {
			problems = append(problems, Problem{File: name, Text: "could not be read: " + err.Error()})
			continue
		}
		files = append(files, File{Name: name, Data: data})
	}
	return files, problems
}

// LoadFiles is Load for files that were read already.
func LoadFiles(files []File) (*Catalogue, []Problem) {
	if len(files) == 0 {
		return Builtin(), nil
	}
	return layFiles(Builtin().entries(), files)
}

// layFiles lays files over entries, which stay as they are.
func layFiles(base []*Agent, files []File) (*Catalogue, []Problem) {
	entries := map[string]*Agent{}
	var order []string
	for _, a := range base {
		entries[a.Name] = a
		order = append(order, a.Name)
	}
	var problems []Problem
	later := map[int]*Agent{} // those that are like another, which may come after them
	for i, file := range files {
		own, problem := parse(file)
		switch {
		case problem != nil:
			problems = append(problems, *problem)
			continue
		case own.Protocol && len(base) > 0:
			problems = append(problems, ownProtocol(file, own)...)
			continue
		case entries[own.Name] == nil && !slices.Contains(order, own.Name):
			order = append(order, own.Name)
		}
		if own.Like != "" {
			later[i] = own
			continue
		}
		problems = append(problems, enter(file, own, entries)...)
	}
	for i, file := range files {
		if later[i] != nil {
			problems = append(problems, enter(file, later[i], entries)...)
		}
	}
	list := make([]*Agent, 0, len(order))
	for _, name := range order {
		if entries[name] != nil {
			list = append(list, entries[name])
		}
	}
	return assemble(list), problems
}

// ownProtocol rejects a user's file that calls itself a protocol: its events would pass for
// what a proxy reports in an agent's place.
func ownProtocol(file File, own *Agent) []Problem {
	c := &checker{file: file}
	c.at("$.protocol", "%s: protocol is for hookmux's own entries; take the line out", own.Name)
	return c.problems
}

// enter puts what a file makes of an entry among the others, unless something is
// wrong with it.
func enter(file File, own *Agent, entries map[string]*Agent) []Problem {
	whole, problems := layOver(file, own, entries)
	if len(problems) == 0 {
		whole.Guest = file.Guest
		entries[whole.Name] = whole
	}
	return problems
}

// layOver lays what a file says over the entry of its name, if there is one, or
// over what it takes from the agent that it is like.
func layOver(file File, own *Agent, entries map[string]*Agent) (*Agent, []Problem) {
	whole := own
	if there := entries[own.Name]; there != nil {
		whole = overlay(there, own)
	} else if model := entries[own.Like]; model != nil {
		whole = overlay(model.inherited(), own)
		whole.Name, whole.Like, whole.HooksOff = own.Name, own.Like, own.HooksOff
	}
	return whole, check(file, own, whole, entries)
}

// inherited returns what an agent that is like this one takes from it.
func (a *Agent) inherited() *Agent {
	return &Agent{Dialect: a.Dialect, Pane: a.Pane, IgnoresOutputAfterExit: a.IgnoresOutputAfterExit,
		RawBreaks:      a.RawBreaks,
		OffersTogether: a.OffersTogether, Events: a.Events, Inner: a.Inner, Tools: a.Tools, Fields: a.Fields,
		Ignored: a.Ignored, Status: a.Status, Inbox: a.Inbox}
}

// parse reads one file; a key it does not know is an error, because a typo
// must not silently switch something off.
func parse(file File) (*Agent, *Problem) {
	var a Agent
	decoder := yaml.NewDecoder(bytes.NewReader(file.Data), yaml.Strict())
	if err := decoder.Decode(&a); err != nil {
		at := yamlerror.Explain(err)
		problem := &Problem{File: file.Name, Line: at.Line, Text: at.Text}
		if unknown := (*yaml.UnknownFieldError)(nil); errors.As(err, &unknown) {
			if near := similar.Nearest(quotedName(at.Text), entryKeys()); near != "" {
				problem.Text += fmt.Sprintf("; did you mean %q?", near)
				return nil, problem
			}
		}
		problem.Text += "; fix the file or remove it"
		return nil, problem
	}
	return &a, nil
}

// quotedName returns the first name in quotes of a message.
func quotedName(message string) string {
	_, rest, _ := strings.Cut(message, `"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// entryKeys returns the keys of an entry of the catalogue.
func entryKeys() (keys []string) {
	t := reflect.TypeFor[Agent]()
	for i := range t.NumField() {
		if key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); key != "" && key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

// mergedTexts merges both maps; the second wins if both have a key.
func mergedTexts(base, add map[string]string) map[string]string {
	whole := map[string]string{}
	maps.Copy(whole, base)
	maps.Copy(whole, add)
	return whole
}

// overlay lays a user's file over an entry and leaves both alone.
func overlay(base, add *Agent) *Agent {
	whole := *base
	whole.compiled = nil
	for _, pair := range []struct{ into, from *string }{
		{&whole.Title, &add.Title}, {&whole.Dialect, &add.Dialect}, {&whole.Tried, &add.Tried},
		{&whole.Since, &add.Since},
	} {
		if *pair.from != "" {
			*pair.into = *pair.from
		}
	}
	if add.HookFormat != "" {
		whole.HookFormat = add.HookFormat
	}
	if add.Permissions != nil {
		whole.Permissions = add.Permissions
	}
	if add.ACP != nil {
		whole.ACP = add.ACP
	}
	whole.Aliases = joined(base.Aliases, add.Aliases)
	whole.Notes = joined(base.Notes, add.Notes)
	if add.Version.Env != "" {
		whole.Version = add.Version
	}
	if add.Attended.Env != "" {
		whole.Attended = add.Attended
	}
	if add.Pane.Env != "" {
		whole.Pane = add.Pane
	}
	whole.Events = replaced(base.Events, add.Events, func(e *EventSpec) string { return e.Name })
	whole.Inner = joined(base.Inner, add.Inner)
	whole.Tools = replaced(base.Tools, add.Tools, func(t *ToolSpec) string { return t.Name })
	whole.Fields = overlayFields(base.Fields, add.Fields)
	whole.Ignored = mergedTexts(base.Ignored, add.Ignored)
	whole.Unheard = mergedTexts(base.Unheard, add.Unheard)
	whole.Marks.Programs = joined(base.Marks.Programs, add.Marks.Programs)
	whole.Marks.Paths = joined(base.Marks.Paths, add.Marks.Paths)
	whole.Marks.Environment = joined(base.Marks.Environment, add.Marks.Environment)
	whole.Marks.AlsoCarries = joined(base.Marks.AlsoCarries, add.Marks.AlsoCarries)
	whole.Marks.Caller = joined(base.Marks.Caller, add.Marks.Caller)
	whole.Files = joined(base.Files, add.Files)
	if add.Install != nil {
		whole.Install = add.Install
	}
	if add.Inbox != nil {
		whole.Inbox = add.Inbox
	}
	if add.Usage != nil {
		whole.Usage = add.Usage
	}
	if add.Launch.Program != "" {
		whole.Launch = add.Launch
	}
	whole.Status = overlayStatus(base.Status, add.Status)
	if add.Resume != nil {
		whole.Resume = add.Resume
	}
	return &whole
}

func joined[T any](a, b []T) []T { return append(a[:len(a):len(a)], b...) }

func replaced[T any](base, add []*T, name func(*T) string) []*T {
	out := append([]*T(nil), base...)
next:
	for _, item := range add {
		for i := range out {
			if name(out[i]) == name(item) {
				out[i] = item
				continue next
			}
		}
		out = append(out, item)
	}
	return out
}

// overlayFields puts a user's keys before the ones that are there.
func overlayFields(base, add FieldSpec) FieldSpec {
	for _, pair := range fieldPairs(&base, &add) {
		*pair.base = joined(*pair.add, *pair.base)
	}
	return base
}

type fieldPair struct{ base, add *[]string }

func fieldPairs(base, add *FieldSpec) []fieldPair {
	b, a := fieldLists(base), fieldLists(add)
	pairs := make([]fieldPair, len(b))
	for i := range b {
		pairs[i] = fieldPair{b[i], a[i]}
	}
	return pairs
}

func fieldLists(s *FieldSpec) []*[]string {
	return []*[]string{
		&s.Event, &s.Session, &s.Turn, &s.Cwd, &s.Mode, &s.Model, &s.Title, &s.Transcript, &s.Prompt,
		&s.Message, &s.Detail, &s.Error, &s.SubagentID, &s.SubagentType, &s.Parent,
		&s.Version, &s.Attended, &s.Failed, &s.Interrupted, &s.ToolName, &s.ToolInput,
		&s.ToolOutput, &s.ToolCall, &s.MCPServer, &s.DurationMS, &s.GoingOn, &s.Background, &s.Truncated,
		&s.Questions, &s.Suggestions,
	}
}
