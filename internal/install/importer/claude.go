package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// claudeEvent is hookmux's name for one of Claude Code's events.
type claudeEvent struct {
	kind  event.Kind
	tools bool // its matcher names tools
	block bool // a hook may stop it there although it is no tool call
}

var claudeEvents = map[string]claudeEvent{
	"SessionStart":      {kind: event.SessionStart},
	"SessionEnd":        {kind: event.SessionEnd},
	"UserPromptSubmit":  {kind: event.TurnStart, block: true},
	"Stop":              {kind: event.TurnEnd},
	"PreToolUse":        {kind: event.ToolBefore, tools: true},
	"PostToolUse":       {kind: event.ToolAfter, tools: true},
	"PermissionRequest": {kind: event.PermissionRequest, tools: true},
	"PermissionDenied":  {kind: event.PermissionResolved, tools: true},
	"SubagentStart":     {kind: event.SubagentStart},
	"SubagentStop":      {kind: event.SubagentEnd},
	"PreCompact":        {kind: event.CompactBefore, block: true},
	"PostCompact":       {kind: event.CompactAfter},
	"Notification":      {kind: event.UserAttention},
	"FileChanged":       {kind: event.FileChanged},
}

// claudeHandler is one hook as Claude Code writes it.
type claudeHandler struct {
	Type        string
	Command     string
	Args        []string
	Shell       string
	Timeout     *float64
	OnFailure   string
	Async       bool
	AsyncRewake bool
	If          string
	Once        bool
}

// ClaudeOptions describes the files that are imported from.
type ClaudeOptions struct {
	// Global says that the registrations will apply in every project.
	Global bool
	// Agents are asked which of them read Claude Code's files themselves; nil
	// for the built-in catalogue.
	Agents []*agent.Agent
}

// ImportClaudeFiles reads hooks from Claude Code's settings files, so that they run on every
// agent except those that run them anyway: Claude Code itself and agents that read its files.
// Files that don't exist are skipped. A hook that is in several files is imported once, from
// the last.
func ImportClaudeFiles(files []string, opt ClaudeOptions, check Check) (Result, error) {
	if opt.Agents == nil {
		opt.Agents = agent.Builtin().Agents()
	}
	var r Result
	off := false
	for _, file := range files {
		doc, err := openFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return r, err
		}
		if string(doc.Raw("disableAllHooks")) == "true" {
			pos, _ := doc.Where("disableAllHooks")
			r.Notes = append(r.Notes, Note{file, pos.Line,
				"disableAllHooks is set: its hooks do not run on Claude Code either", true})
			off = true
			continue
		}
		r.complete = true
		skipped := readingAgents(opt.Agents, scopeOf(file), file)
		told := false
		own := 0
		for _, name := range doc.Keys("hooks") {
			for g := range max(doc.Len("hooks", name), 0) {
				group := []string{"hooks", name, strconv.Itoa(g)}
				for h := range max(doc.Len(append(group, "hooks")...), 0) {
					at := append(append([]string{}, group...), "hooks", strconv.Itoa(h))
					c := claudeImport{r: &r, doc: doc, file: file, event: name, check: check, skipped: skipped,
						global: opt.Global, own: &own}
					if pos, ok := doc.Where(at...); ok {
						c.line = pos.Line
					}
					before := len(r.Hooks)
					c.importOne(group, at)
					if len(skipped) > 1 && len(r.Hooks) > before && !told {
						told = true
						r.Notes = append(r.Notes, Note{File: file,
							Text: sprintf("its hooks pass by %s, which run them from this file anyway",
								agentNames(skipped[1:]))})
					}
				}
			}
		}
		if own > 0 {
			r.Notes = append(r.Notes, Note{file, 0, sprintf("%d of its hooks are hookmux's own", own), true})
		}
	}
	r.complete = r.complete && !off
	return r, nil
}

// claudeImport is one hook on its way.
type claudeImport struct {
	r           *Result
	doc         *edit.Document
	file, event string
	line        int
	check       Check
	skipped     []string // agents that run it anyway
	global      bool
	own         *int // hooks of hookmux's own in the file
}

func (c *claudeImport) skipEntry(format string, args ...any) {
	c.r.Notes = append(c.r.Notes, Note{c.file, c.line, c.event + ": " + sprintf(format, args...), true})
}

func (c *claudeImport) warnAbout(format string, args ...any) {
	c.r.Notes = append(c.r.Notes, Note{c.file, c.line, c.event + ": " + sprintf(format, args...), false})
}

func (c *claudeImport) importOne(group, at []string) {
	var h claudeHandler
	if err := c.doc.Decode(&h, at...); err != nil {
		c.skipEntry("cannot be read: %v", err)
		return
	}
	var matcher string
	if raw := c.doc.Raw(append(group, "matcher")...); raw != nil && json.Unmarshal(raw, &matcher) != nil {
		c.skipEntry("its matcher is not text")
		return
	}
	known, ok := claudeEvents[c.event]
	switch {
	case h.Type != "command" && h.Type != "":
		c.skipEntry("handlers of type %q cannot run outside of Claude Code", h.Type)
		return
	case h.Command == "":
		c.skipEntry("it has no command")
		return
	case strings.Contains(h.Command, "hookmux-hook"):
		*c.own++ // reported once for the file
		return
	case !ok:
		c.skipEntry("other agents report nothing that is quite this event")
		return
	case h.Shell != "" && h.Shell != "bash" && h.Shell != "sh":
		c.skipEntry("it needs the shell %q", h.Shell)
		return
	case strings.Contains(h.Command+strings.Join(h.Args, " "), "CLAUDE_PLUGIN_ROOT"):
		c.skipEntry("it belongs to a plugin of Claude Code")
		return
	}

	matches := []*hook.Match{nil}
	if known.tools {
		var warning string
		var err error
		if matches, warning, err = translateMatcher(matcher); err != nil {
			c.skipEntry("matcher %q: %v", matcher, err)
			return
		}
		if warning != "" {
			c.warnAbout("matcher %q: %s", matcher, warning)
		}
	} else if matcher != "" && matcher != "*" {
		c.warnAbout("it runs at every %s, not only at %q", known.kind, matcher)
	}
	if h.If != "" {
		conditions, err := translateIf(h.If)
		if err != nil || !known.tools {
			c.skipEntry("its condition %q has no counterpart", h.If)
			return
		}
		if matches = narrowMatches(matches, conditions); len(matches) == 0 {
			c.skipEntry("matcher %q and condition %q never hold together", matcher, h.If)
			return
		}
	}
	if c.global && ofTheProject(strings.Join(append([]string{h.Command}, h.Args...), " ")) {
		c.warnAbout("it runs a file of whatever project an agent is in, which nobody may have looked at: %s; keep "+
			"it in a project's hooks, or name a file of your own", h.Command)
	}
	if h.Once {
		c.warnAbout("it runs every time, not once")
	}

	reg := c.makeRegistration(h, known)
	id := c.hookID(h, matcher)
	for _, m := range matches {
		reg.ID, reg.Match = id, m
		if len(matches) > 1 {
			reg.ID = id + "." + entryLabel(m)
		}
		c.r.addHook(Hook{reg, c.file}, c.check, c.skipEntry)
	}
}

func (c *claudeImport) makeRegistration(h claudeHandler, known claudeEvent) hook.Registration {
	reg := hook.Registration{
		Agent: hook.Any, HookType: string(known.kind), Handler: "command", Target: h.Command,
		Format: hook.Claude, SkipAgents: slices.Clone(c.skipped),
	}
	if h.Args != nil { // run without a shell there, so every word is quoted
		words := []string{shellquote.Word(h.Command)}
		for _, a := range h.Args {
			words = append(words, shellquote.Argument(a))
		}
		reg.Target = strings.Join(words, " ")
	}
	if h.Timeout != nil && *h.Timeout > 0 {
		seconds := math.Min(*h.Timeout, hook.MaxTimeout.Seconds())
		reg.Timeout = hook.Duration(seconds * float64(time.Second))
	}
	if h.OnFailure == "block" {
		reg.OnFailure = hook.FailDeny
	}
	switch {
	case h.Async || h.AsyncRewake:
		reg.Role = hook.Observe
		if h.AsyncRewake {
			c.warnAbout("it cannot wake other agents; it only observes there")
		}
	case known.block:
		reg.Role = hook.Guard
	}
	return reg
}

// hookID names a hook by what it is, so that the same hook gets the same id again.
func (c *claudeImport) hookID(h claudeHandler, matcher string) string {
	raw, _ := json.Marshal([]any{c.event, matcher, h.Command, h.Args, h.If})
	sum := sha256.Sum256(raw)
	return "claude:" + c.event + ":" + hex.EncodeToString(sum[:5])
}

func entryLabel(m *hook.Match) string {
	var parts []string
	for _, part := range []string{m.Tool, m.Name} {
		if part != "" {
			parts = append(parts, strings.Join(strings.Fields(part), "-"))
		}
	}
	return strings.Join(parts, ".")
}
