package state

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// TitleSeen records a title that was found elsewhere than in an event: in
// the transcript, in the agent's own list of sessions. A better source beats
// a worse one, the same source follows, a blank never replaces anything.
func (b *Sessions) TitleSeen(key Key, source, title string, rules Rules) Change {
	return b.updateSession(key, func(s *Session, _ *Change) { s.Title.offerTitle(source, title, rules.Spec) })
}

// Rename gives a session a title that it keeps until [Sessions.AutoTitle]; a blank one
// changes nothing.
func (b *Sessions) Rename(key Key, title string) Change {
	return b.updateSession(key, func(s *Session, _ *Change) {
		if title = Fold(title, maxSummary); title != "" {
			s.Title.Given = title
		}
	})
}

// AutoTitle removes the title that you gave: the best one the agent has is shown.
func (b *Sessions) AutoTitle(key Key) Change {
	return b.updateSession(key, func(s *Session, _ *Change) { s.Title.Given = "" })
}

// recordTitles records what an event says about the title.
func (s *Session) recordTitles(n *input) {
	ev, spec := n.ev, n.rules.Spec
	if ev.Title != "" && !n.at.Before(s.Machine.TitleAt) {
		s.Machine.TitleAt = n.at
		s.Title.offerTitle(agent.TitlePayload, ev.Title, spec)
	}
	if ev.Kind == event.TurnStart {
		s.Title.offerTitle(agent.TitlePrompt, PromptTitle(ev.Prompt), spec)
	}
	// Some agents have a tool that says what they are about.
	if ev.Kind == event.ToolBefore && ev.Tool != nil && isTopicTool(spec, ev.Tool.Name) {
		if title, ok := jsontext.String(jsontext.Get(ev.Tool.Input, "title")); ok {
			s.Title.offerTitle(agent.TitleTopic, title, spec)
		}
	}
}

// offerTitle takes a title if its source is at least as good as that of the one
// there is. The first prompt stays the first.
func (t *Title) offerTitle(source, title string, spec *agent.StatusSpec) {
	if title = Fold(title, maxSummary); title == "" {
		return
	}
	rank := titleRank(source, spec)
	if rank < 0 || isPlaceholder(title, spec) {
		return
	}
	if t.Own != "" {
		has := titleRank(t.Source, spec)
		if has >= 0 && (rank > has || rank == has && source == agent.TitlePrompt) {
			return
		}
	}
	t.Own, t.Source = title, source
}

// isTopicTool reports whether a tool is the one with which the agent says what a
// session is about.
func isTopicTool(spec *agent.StatusSpec, tool string) bool {
	return spec != nil && spec.TopicTool != "" && spec.TopicTool == tool &&
		slices.Contains(spec.Titles, agent.TitleTopic)
}

// titleRank returns how good a source is, 0 the best; -1 when it is not used.
func titleRank(source string, spec *agent.StatusSpec) int {
	order := agent.TitleSources()
	if spec != nil && len(spec.Titles) > 0 {
		order = spec.Titles
	}
	return slices.Index(order, source)
}

func isPlaceholder(title string, spec *agent.StatusSpec) bool {
	if spec == nil {
		return false
	}
	for _, begin := range spec.Placeholders {
		if strings.HasPrefix(title, begin) {
			return true
		}
	}
	return false
}

// wrapperTags are elements in which agents pass their own text, or your commands, to the
// model as if they were prompts.
var wrapperTags = []string{
	"<task-notification", "<command-", "<local-command-", "<system-reminder", "<system_reminder",
	"<system_notification",
	"<user_info", "<rules", "<hook_prompt", "<bash-", "<environment_context", "<user_instructions",
	"<permissions", "<turn_aborted", "<collaboration_mode", "<agents_md", "<skill",
}

// PromptTitle returns the title that a prompt gives; empty if it gives none: slash commands
// and the agent's own text don't.
func PromptTitle(prompt string) string {
	if len(prompt) > 64<<10 {
		prompt = prompt[:64<<10]
	}
	prompt = strings.TrimSpace(prompt)
	if _, rest, ok := strings.Cut(prompt, "<user_query>"); ok {
		prompt, _, _ = strings.Cut(rest, "</user_query>")
		prompt = strings.TrimSpace(prompt)
	}
	for strings.HasPrefix(prompt, "<hook_context>") { // what a hook added, put in front
		_, rest, ok := strings.Cut(prompt, "</hook_context>")
		if !ok {
			break
		}
		prompt = strings.TrimSpace(rest)
	}
	lower := strings.ToLower(prompt[:min(len(prompt), 40)])
	for _, begin := range wrapperTags {
		if strings.HasPrefix(lower, begin) {
			return ""
		}
	}
	if strings.HasPrefix(prompt, "[Request interrupted by user") || IsSlashCommand(prompt) {
		return ""
	}
	return Fold(prompt, maxSummary)
}
