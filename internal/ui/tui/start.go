package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Work is an agent to start: where, and with which first prompt.
type Work struct {
	Agent    string
	Folder   string
	Worktree string // a new git worktree of the folder's repository; "" works in the folder
	Prompt   string // "" for none
}

// starting is filled in before an agent is started.
type starting struct {
	agents []string
	agent  int
	inputs [3]lineInput // folder, worktree, prompt
	at     int          // 0 is the agent, then the inputs
}

var startFields = []string{"Agent", "Folder", "Worktree", "Prompt"}

const lastStartField = 3

func (m *Model) canStart() bool { return m.opts.Start != nil && len(m.opts.Agents) > 0 }

// openStart asks what to start. The folder is that of the selected session.
func openStart(m *Model) tea.Cmd {
	if !m.canStart() {
		m.status = "No agent can be started here: none is installed, or tmux isn't. `hookmux agents` lists them."
		return nil
	}
	s := starting{agents: m.opts.Agents}
	folder := m.opts.Folder
	if r := m.selectedRow(); r != nil && r.session != nil {
		if r.session.Cwd != "" {
			folder = r.session.Cwd
		}
		s.agent = max(slices.Index(s.agents, r.session.Agent), 0)
	}
	s.inputs[0] = newLineInput(m.shortFolder(folder))
	m.mode, m.starting = modeStart, s
	return nil
}

// handleStartKey returns a key while an agent is about to be started.
func handleStartKey(m *Model, msg tea.KeyPressMsg, key string) tea.Cmd {
	s := &m.starting
	m.status = ""
	switch key {
	case "esc":
		m.mode = modeList
	case "tab", "down":
		s.at = min(s.at+1, lastStartField)
	case "shift+tab", "up":
		s.at = max(s.at-1, 0)
	case "enter":
		if s.at < lastStartField {
			s.at++
			return nil
		}
		return startWork(m)
	default:
		if s.at > 0 {
			s.inputs[s.at-1].handleKey(msg)
			return nil
		}
		s.chooseAgent(key)
	}
	return nil
}

// chooseAgent takes the next agent, or the one whose name begins with a letter.
func (s *starting) chooseAgent(key string) {
	n := len(s.agents)
	switch key {
	case "right", "space":
		s.agent = (s.agent + 1) % n
		return
	case "left":
		s.agent = (s.agent + n - 1) % n
		return
	}
	for i := range n {
		if at := (s.agent + 1 + i) % n; strings.HasPrefix(s.agents[at], key) {
			s.agent = at
			return
		}
	}
}

// startWork starts the agent.
func startWork(m *Model) tea.Cmd {
	s := &m.starting
	value := func(i int) string { return strings.TrimSpace(s.inputs[i].value()) }
	work := Work{Agent: s.agents[s.agent], Folder: m.longFolder(value(0)), Worktree: value(1), Prompt: value(2)}
	m.mode, m.status = modeList, "Starting "+work.Agent+" …"
	return func() tea.Msg {
		said, err := m.opts.Start(m.ctx, work)
		if err != nil {
			return outcomeMsg{text: errorText(err), aside: true}
		}
		return outcomeMsg{text: termsafe.Line(said, 0), aside: true}
	}
}

func (s *starting) keys() []binding {
	var keys []binding
	add := func(name, does string) { keys = append(keys, binding{name: name, does: does}) }
	if s.at == 0 {
		add("←→", "choose")
	}
	add("↑↓", "move")
	if s.at == lastStartField {
		add("Enter", "start it")
	} else {
		add("Enter", "next")
	}
	add("Esc", "cancel")
	return keys
}

// startHints say what belongs into a field.
var startHints = []string{
	"It opens in a tmux window of its own.",
	"Where the agent works.",
	"A name makes a new git worktree and branch, so agents don't get in each other's way. Empty: it works in the folder itself.",
	"What it should do first. Empty: you type it there.",
}

func (s *starting) lines(width int) []string {
	var out []string
	for i, name := range startFields {
		lead, label := "  ", name
		if i == s.at {
			lead, label = styleAccent.Render("▌ "), styleBold.Render(name)
		}
		value := ""
		switch {
		case i == 0:
			value = s.agentChoice(width - 12)
		case i == s.at:
			value = s.inputs[i-1].render(width - 12)
		default:
			if value = termsafe.Line(s.inputs[i-1].value(), max(width-12, 1)); value == "" {
				value = styleFaint.Render("optional")
			}
		}
		out = append(out, lead+padRight(label, 10)+value)
	}
	out = append(out, "")
	for _, line := range indentWrapped("", startHints[s.at], width) {
		out = append(out, styleFaint.Render(line))
	}
	return out
}

// agentChoice names the agents around the chosen one.
func (s *starting) agentChoice(width int) string {
	var parts []string
	used := 0
	for i := range s.agents {
		name := s.agents[(s.agent+i)%len(s.agents)]
		shown := styleFaint.Render(name)
		if i == 0 {
			shown = styleBold.Render("‹ " + name + " ›")
			used += 4
		}
		if used += len(name) + 2; used > width && i > 0 {
			break
		}
		parts = append(parts, shown)
	}
	return strings.Join(parts, "  ")
}
