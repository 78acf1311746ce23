package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// body is the text of a request, wrapped. It is kept: a request may have megabytes.
// Its lines get their colours only once they are on the screen.
type body struct {
	id, shown, note, status string // of the request
	width                   int
	lines                   []bodyLine
	tooNarrow               bool // a character is wider than the screen
}

// bodyLine is one line on the screen.
type bodyLine struct {
	text   string
	style  *lipgloss.Style
	inks   []ink // of each byte of text, if it is a command
	goesOn bool  // it is the rest of the line before
	broken bool  // a word goes on in the next
}

// render returns the line with its colours and marks.
func (l *bodyLine) render() string {
	var b strings.Builder
	if l.goesOn {
		b.WriteString(styleFaint.Render(text.GoesOnMark))
	}
	if l.inks == nil {
		b.WriteString(l.style.Render(l.text))
	} else {
		writeInked(&b, l.text, l.inks)
	}
	if l.broken {
		b.WriteString(styleFaint.Render(text.BrokenMark))
	}
	return b.String()
}

// bodyOf returns the text of a request, at this width.
func (m *Model) bodyOf(item *wire.InboxRequest, width int) *body {
	b := m.body
	if b == nil || b.id != item.ID || b.shown != item.Shown || b.note != item.Note || b.status != item.Status ||
		b.width != width {
		m.body = newBody(m, item, width)
	}
	return m.body
}

func newBody(m *Model, item *wire.InboxRequest, width int) *body {
	b := &body{id: item.ID, shown: item.Shown, note: item.Note, status: item.Status, width: width}
	b.addCard(m.readable(item.Shown, item.Agent), item.Kind)
	if item.Note != "" {
		b.addLine("", &stylePlain)
		b.addLine(text.EscapeMarks(termsafe.Line(item.Note, 0)), &styleWaiting)
	}
	if isWindow(item) {
		b.addLine("", &stylePlain)
		agent := upperFirst(termsafe.Line(item.Agent, 20))
		if item.Answerable() {
			b.addLine(agent+" asks this in its own terminal. hookmux types your answer there, once, if the dialog is on screen.",
				&styleBold)
		} else {
			b.addLine(agent+" asks this in its own terminal. Press g to go there.", &styleBold)
		}
	}
	return b
}

// readable returns a card in a form that reads more naturally: the folder after what is wanted
// there, and the agent's own description of a call in quotes. It says everything that the card
// says.
func (m *Model) readable(card, agent string) string {
	head, rest, _ := strings.Cut(card, "\n")
	if folder, ok := strings.CutPrefix(rest, "in "); ok {
		folder, rest, _ = strings.Cut(folder, "\n")
		head += " in " + m.shortFolder(folder)
	}
	lines := strings.Split(rest, "\n")
	for i := range lines {
		if file, ok := strings.CutPrefix(lines[i], "file: "); ok {
			lines[i] = "file: " + shortPath(m.shortFolder(file), head) + changedLines(lines[i+1:])
		}
		if rule, ok := strings.CutPrefix(lines[i], alwaysLine); ok {
			lines[i] = alwaysShown + strings.Replace(rule, "run exactly: ", "exactly ", 1)
		}
		if said, ok := strings.CutPrefix(lines[i], wire.CardIndent+"· description: "); ok {
			lines[i] = wire.CardIndent + "· " + termsafe.Line(agent, 20) + ": “" + said + "”"
		}
	}
	return head + "\n" + strings.Join(lines, "\n")
}

// A card says what an approval for good would allow; the view names the key.
const (
	alwaysLine  = "always would allow: "
	alwaysShown = "A would always allow: "
)

// shortPath returns a path below the folder that a card's head ends with.
func shortPath(file, head string) string {
	_, folder, _ := strings.Cut(head, " in ")
	if rest, ok := strings.CutPrefix(file, folder+"/"); ok && folder != "" {
		return rest
	}
	return file
}

// changedLines counts the lines that are added and removed.
func changedLines(lines []string) string {
	added, removed := 0, 0
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, wire.CardIndent+wire.CardAdded):
			added++
		case strings.HasPrefix(line, wire.CardIndent+wire.CardRemoved):
			removed++
		}
	}
	if added+removed == 0 {
		return ""
	}
	return fmt.Sprintf("  +%d −%d", added, removed)
}

// addCard adds what you see of a request. Lines of a plan are Markdown, except hookmux's own.
func (b *body) addCard(card, kind string) {
	isPlan, isQuestion := kind == "plan", kind == "question"
	var plan markdown
	var command []string // the lines of one, with their marks
	addCommand := func() {
		inks := inkCommand(command)
		for n, line := range command {
			if inks == nil {
				b.addLine(line, &styleBold)
			} else {
				b.addInked(line, &stylePlain, inks[n])
			}
		}
		command = nil
	}
	for line := range wire.CardLines(text.EscapeMarks(termsafe.Text(card))) {
		if line.Kind == wire.CommandLine && !isPlan {
			command = append(command, strings.ReplaceAll(line.Text, "\t", "    "))
			continue
		}
		addCommand()
		if isQuestion && len(b.lines) > 0 {
			b.addQuestionLine(line)
			continue
		}
		if isPlan && line.Kind != wire.OwnLine {
			shown := strings.ReplaceAll(line.Text, "\t", "    ")
			b.addInked(shown, &stylePlain, plan.ink(shown))
			continue
		}
		b.addLine(line.Text, b.ownStyle(line, kind))
	}
	addCommand()
}

// addQuestionLine adds a line of a question: a digit is a key.
func (b *body) addQuestionLine(line wire.CardLine) {
	if line.Kind == wire.OwnLine {
		b.addLine("", &stylePlain)
		b.addLine(line.Text, &styleBold)
		return
	}
	inks := make([]ink, len(line.Text))
	if end := strings.Index(line.Text, ") "); end > 0 && end <= len(wire.CardIndent)+2 {
		for i := range end {
			inks[i] = inkKey
		}
	}
	b.addInked(line.Text, &stylePlain, inks)
}

// ownStyle chooses how to draw a line: what matters about a permission is what it would do, not
// who asks for it.
func (b *body) ownStyle(line wire.CardLine, kind string) *lipgloss.Style {
	switch {
	case line.Kind != wire.OwnLine:
		return lineStyle(line.Kind)
	case strings.HasPrefix(line.Text, "file: "):
		return &styleBold
	case strings.HasPrefix(line.Text, alwaysShown), len(b.lines) == 0 && kind == "permission":
		return &styleFaint
	}
	return &stylePlain
}

func (b *body) addLine(line string, style *lipgloss.Style) { b.addInked(line, style, nil) }

// addInked adds a line; inks are one for each byte, or none.
func (b *body) addInked(line string, style *lipgloss.Style, inks []ink) {
	first, rest, marked := text.MarkedWidths(b.width)
	at := 0
	for i, part := range text.WrapParts(line, first, rest) {
		one := bodyLine{text: part.Visible(), style: style, goesOn: marked && i > 0, broken: marked && part.Broken}
		if inks != nil {
			one.inks = inks[at : at+len(one.text)]
		}
		at += len(part.Text)
		room := first
		if one.goesOn {
			room = rest
		}
		// What is wider than its line would be cut off at the edge.
		b.tooNarrow = b.tooNarrow || ansi.StringWidth(one.text) > room
		b.lines = append(b.lines, one)
	}
}

// lineStyle colours a line of a request. The text itself stays as it is.
func lineStyle(kind wire.CardLineKind) *lipgloss.Style {
	switch kind {
	case wire.AddedLine:
		return &styleAdded
	case wire.RemovedLine:
		return &styleGone
	case wire.HeadingLine:
		return &styleBold
	}
	return &stylePlain
}
