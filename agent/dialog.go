package agent

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Dialog is how an agent asks in its own terminal whether it may run a command, and which
// keys answer that. It is for agents whose hooks cannot approve, or no longer wait.
type Dialog struct {
	// Lines are regular expressions, one below the other, for the dialog from its first
	// line to the last line of the screen, as [DialogLine] gives them; {command} is the
	// command. One expression may match several lines.
	Lines []string `yaml:"lines"`
	// Approve and Deny are the keys for this one call, as tmux names them.
	Approve []string `yaml:"approve"`
	Deny    []string `yaml:"deny"`
	Proof   string   `yaml:"proof"`

	once    sync.Once
	pattern *regexp.Regexp
}

// DialogRule is the rule that [DialogLine] turns a drawn line without text into.
const DialogRule = "---"

// DialogLine returns a line of a screen without the frame around it.
func DialogLine(line string) string {
	inner := strings.TrimFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '│' || r == '┃' || r == '║' })
	if inner != "" && strings.Trim(inner, "─━═╌╍┄┅╭╮╰╯┌┐└┘├┤╷╵╹╻ ") == "" {
		return DialogRule
	}
	return inner
}

func (d *Dialog) expression() string {
	return `(?:^|\n)` + strings.ReplaceAll(strings.Join(d.Lines, `\n`), "{command}", `(?P<command>(?s:.+?))`) + `\n*$`
}

// Find looks for the dialog at the end of a screen, whose lines are given as [DialogLine]
// makes them. command are the lines that show the command, and first is where the dialog
// begins.
func (d *Dialog) Find(lines []string) (command []string, first int, ok bool) {
	d.once.Do(func() { d.pattern = regexp.MustCompile(d.expression()) })
	text := strings.Join(lines, "\n")
	at := d.pattern.FindStringSubmatchIndex(text)
	if at == nil {
		return nil, 0, false
	}
	group := 2 * d.pattern.SubexpIndex("command")
	first = strings.Count(text[:at[0]], "\n")
	if strings.HasPrefix(text[at[0]:], "\n") {
		first++
	}
	return strings.Split(text[at[group]:at[group+1]], "\n"), first, true
}

// problems lists what is wrong with the entry of a dialog.
func (d *Dialog) problems() []string {
	var out []string
	if strings.Count(strings.Join(d.Lines, "\n"), "{command}") != 1 {
		out = append(out, "lines have {command} exactly once")
	} else if _, err := regexp.Compile(d.expression()); err != nil {
		out = append(out, fmt.Sprintf("lines: %v", err))
	}
	if len(d.Approve) == 0 || len(d.Deny) == 0 {
		out = append(out, "say which keys approve and deny")
	}
	if ProofKindOf(d.Proof) != Tested {
		out = append(out, "keys are typed only where a test with the real agent proves what they do")
	}
	return out
}
