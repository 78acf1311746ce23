package rules

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/claude"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// ClaudeRules are permission rules in the syntax of Claude Code's settings. They are decided
// as Claude Code decides them, for the calls of every agent.
type ClaudeRules struct {
	// Strict also looks at what a command really runs, which Claude Code doesn't.
	Strict bool `yaml:"strict" json:"strict,omitempty"`
	// Deny, Ask and Allow are those of the user's own settings.
	Deny  []string `yaml:"deny" json:"deny,omitempty"`
	Ask   []string `yaml:"ask" json:"ask,omitempty"`
	Allow []string `yaml:"allow" json:"allow,omitempty"`
	// Settings are those of projects. All of them are one set, as in Claude Code.
	Settings []ClaudeSettings `yaml:"settings" json:"settings,omitempty"`

	// made are the sets of the settings that apply in a place.
	made sync.Map
}

// ClaudeSettings are the permission rules of one project's settings file.
type ClaudeSettings struct {
	Project string   `yaml:"project" json:"project"` // absolute, or below ~/: they only apply there
	Local   bool     `yaml:"local" json:"local,omitempty"`
	Deny    []string `yaml:"deny" json:"deny,omitempty"`
	Ask     []string `yaml:"ask" json:"ask,omitempty"`
	Allow   []string `yaml:"allow" json:"allow,omitempty"`
}

// claudeKey identifies what a set of settings depends on: the home, and which of the projects'
// settings apply.
type claudeKey struct {
	home     string
	projects uint64
}

// maxClaudeSettings is how many settings files of projects one rule accepts.
const maxClaudeSettings = 64

// checkClaude returns what is wrong with a rule in Claude Code's syntax, and fills in the
// strongest verdict it can have.
func (r *Rule) checkClaude() error {
	c := r.Claude
	switch {
	case r.Decide != "":
		return errors.New("a rule with claude cannot have decide: its lists deny, ask and allow decide")
	case !r.Match.empty() || r.When != "":
		return errors.New("a rule with claude cannot have match or when; agents and projects narrow it")
	case len(c.Settings) > maxClaudeSettings:
		return fmt.Errorf("claude.settings has %d entries; at most %d are read", len(c.Settings), maxClaudeSettings)
	case r.MayAllow() && r.Layer == Project:
		return errors.New("a project's rules cannot allow: they only make things tighter")
	}
	used := 0
	for _, f := range c.files(exampleHome, ^uint64(0)) {
		for i := range f.Rules {
			rule := &f.Rules[i]
			if !rule.IsUsed() {
				return errors.New(claude.DescribeIgnored(rule))
			}
			used++
			r.Decide = strongerOf(r.Decide, Verdict(rule.List))
		}
	}
	for _, s := range c.Settings {
		if !strings.HasPrefix(s.Project, "/") && !strings.HasPrefix(s.Project, "~/") {
			return fmt.Errorf("claude.settings: project is %q; write a whole path", s.Project)
		}
	}
	if used == 0 {
		return errors.New("claude has no rules: give deny, ask or allow")
	}
	return nil
}

// MayAllow reports whether the rule can let a call pass that would be asked about.
func (r *Rule) MayAllow() bool {
	if r.Claude == nil {
		return r.Decide == Allow
	}
	return len(r.Claude.Allow) > 0 ||
		slices.ContainsFunc(r.Claude.Settings, func(s ClaudeSettings) bool { return len(s.Allow) > 0 })
}

func strongerOf(a, b Verdict) Verdict {
	if b.Strength() > a.Strength() {
		return b
	}
	return a
}

// files returns the settings that apply: the user's, and those of projects by their bit.
func (c *ClaudeRules) files(home string, projects uint64) []claude.File {
	list := []claude.File{claudeFile(claude.UserSource(home), c.Deny, c.Ask, c.Allow)}
	for i, s := range c.Settings {
		if projects&(1<<i) == 0 {
			continue
		}
		source := claude.ProjectSource(expandHome(s.Project, home), home)
		if s.Local {
			source.Scope = claude.LocalScope
		}
		list = append(list, claudeFile(source, s.Deny, s.Ask, s.Allow))
	}
	return list
}

func claudeFile(source claude.Source, deny, ask, allow []string) claude.File {
	file := claude.File{Source: source}
	for _, list := range []struct {
		name  claude.List
		rules []string
	}{{claude.DenyList, deny}, {claude.AskList, ask}, {claude.AllowList, allow}} {
		for _, text := range list.rules {
			file.Rules = append(file.Rules, claude.ParseRule(list.name, source, text))
		}
	}
	return file
}

func expandHome(name, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return path.Join(home, rest)
	}
	return path.Clean(name)
}

// setFor returns the set of rules that apply where a call happens, and the folder that
// Claude Code would have been started in.
func (c *ClaudeRules) setFor(f *facts.Facts, home string) (*claude.Set, string) {
	key, project := claudeKey{home: home}, f.Project
	folder := cmp.Or(facts.SourceOf(f).Folder, f.Cwd)
	for i, s := range c.Settings {
		if root := expandHome(s.Project, home); paths.IsWithin(root, folder) || paths.IsWithin(root, f.Project) {
			key.projects |= 1 << i
			project = root
		}
	}
	if made, ok := c.made.Load(key); ok {
		return made.(*claude.Set), project
	}
	set := claude.NewSet(c.files(home, key.projects)...)
	c.made.Store(key, set)
	return set, project
}

// matchClaude returns the verdict on a call of a rule in Claude Code's syntax.
func (r *Rule) matchClaude(f *facts.Facts, home string) (verdict Verdict, where string, holds certainty) {
	source := facts.SourceOf(f)
	if source.Event == nil || source.Event.Tool == nil {
		return NoVerdict, "", no
	}
	if source.Event.Unreadable() != "" || source.Event.Truncated {
		if r.Decide == Allow {
			return NoVerdict, "", no
		}
		return r.Decide, "a call that cannot be read whole", maybe
	}
	set, project := r.Claude.setFor(f, home)
	place := claude.Place{Home: home, Project: project, Cwd: f.Cwd, Trusted: true, Resolve: source.Resolve}
	decide := set.Decide
	if r.Claude.Strict {
		decide = set.DecideStrict
	}
	said := claude.DecideAll(claude.CallsOfTool(source.Event.Tool), place, decide)
	if said.Rule == nil {
		return NoVerdict, "", no
	}
	return Verdict(said.Verdict), said.Describe(), yes
}
