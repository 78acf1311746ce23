package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
)

// Scope names one of Claude Code's settings files.
type Scope string

// The scopes.
const (
	UserScope    Scope = "user"
	ProjectScope Scope = "project"
	LocalScope   Scope = "local"
)

// Source is the settings file a rule is in.
type Source struct {
	Scope Scope
	// Root is the folder that a path with one leading slash starts from.
	Root string
	// Home is the user's home, to recognise absolute paths that need two slashes.
	Home string
}

// UserSource is ~/.claude/settings.json of a home.
func UserSource(home string) Source {
	return Source{Scope: UserScope, Root: path.Join(home, ".claude"), Home: home}
}

// ProjectSource is .claude/settings.json of a project.
func ProjectSource(project, home string) Source {
	return Source{Scope: ProjectScope, Root: project, Home: home}
}

// LocalSource is .claude/settings.local.json of a project.
func LocalSource(project, home string) Source {
	return Source{Scope: LocalScope, Root: project, Home: home}
}

// File holds the rules found in one settings file.
type File struct {
	Source Source
	Rules  []Rule // in the order deny, ask, allow, as written
	// Dropped says that Claude Code drops the whole file, including rules that are right.
	Dropped bool
	// Err is what is wrong with a dropped file.
	Err error
}

// ReadSettings reads the permission rules of one settings file.
func ReadSettings(source Source, text []byte) File {
	file := File{Source: source}
	var settings struct {
		Permissions json.RawMessage `json:"permissions"`
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		file.Dropped, file.Err = true, fmt.Errorf("settings are not JSON that Claude Code reads: %w", err)
		return file
	}
	if len(settings.Permissions) == 0 || string(settings.Permissions) == "null" {
		return file
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(settings.Permissions, &lists); err != nil {
		file.Dropped, file.Err = true, fmt.Errorf("permissions is not an object: %w", err)
		return file
	}
	for _, list := range []List{DenyList, AskList, AllowList} {
		file.readList(list, lists[string(list)])
	}
	file.checkOthers(lists)
	if file.Dropped {
		for i := range file.Rules {
			file.Rules[i].Reason, file.Rules[i].Instead = FileDropped, ""
		}
	}
	return file
}

var permissionModes = map[string]bool{"default": true, "manual": true, "acceptEdits": true, "plan": true,
	"bypassPermissions": true, "dontAsk": true, "auto": true, "delegate": true}

// checkOthers looks at the other members of permissions, which must have the right
// types or Claude Code drops the file.
func (f *File) checkOthers(members map[string]json.RawMessage) {
	if text, given := members["defaultMode"]; given {
		var mode string
		if json.Unmarshal(text, &mode) != nil || !permissionModes[mode] {
			f.Dropped = true
			f.Err = fmt.Errorf("permissions.defaultMode %s is not known, so Claude Code drops the whole file", text)
		}
	}
	if text, given := members["additionalDirectories"]; given {
		var folders []string
		if json.Unmarshal(text, &folders) != nil {
			f.Dropped = true
			f.Err = errors.New("permissions.additionalDirectories is not a list: Claude Code drops the file")
		}
	}
}

func (f *File) readList(list List, text json.RawMessage) {
	if len(text) == 0 {
		return
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil || string(text) == "null" {
		f.Dropped = true
		f.Err = fmt.Errorf("permissions.%s is not a list, so Claude Code drops the whole file", list)
		var one string
		if json.Unmarshal(text, &one) == nil {
			f.Rules = append(f.Rules, ParseRule(list, f.Source, one))
		}
		return
	}
	for _, entry := range entries {
		var rule string
		if err := json.Unmarshal(entry, &rule); err != nil || string(entry) == "null" {
			f.Rules = append(f.Rules, Rule{Text: string(entry), List: list, Source: f.Source, Reason: NotText})
			continue
		}
		f.Rules = append(f.Rules, ParseRule(list, f.Source, rule))
	}
}

// Set is the rules of several settings files together.
type Set struct {
	rules []*Rule
}

// NewSet merges files. All files have the same weight: deny wins over ask, ask over allow,
// wherever they are.
func NewSet(files ...File) *Set {
	set := &Set{}
	for _, file := range files {
		for i := range file.Rules {
			rule := file.Rules[i]
			set.rules = append(set.rules, &rule)
		}
	}
	return set
}

// Rules lists every rule, ignored ones included.
func (s *Set) Rules() []*Rule { return s.rules }

// rulesFor returns the rules of a list that count in a place.
func (s *Set) rulesFor(list List, place Place) []*Rule {
	var out []*Rule
	for _, rule := range s.rules {
		if rule.List != list || !rule.IsUsed() {
			continue
		}
		if list == AllowList && !place.Trusted && rule.Source.Scope != UserScope {
			continue // an untrusted project's allow rules are ignored
		}
		out = append(out, rule)
	}
	return out
}
