package wire

import (
	"iter"
	"strings"
)

// The marks of a card ([InboxRequest.Shown]). hookmux's own lines begin at the margin; every line
// of other people's text is indented, and a mark says what it is.
const (
	CardIndent  = "  "
	CardCommand = "$ "
	CardAdded   = "+ "
	CardRemoved = "- "
)

// CardLineKind is what a line of a card is.
type CardLineKind int

// The kinds of lines.
const (
	OwnLine   CardLineKind = iota // hookmux's own text
	OtherLine                     // other people's text
	CommandLine
	AddedLine
	RemovedLine
	HeadingLine // of a plan
)

// CardLine is one line of a card.
type CardLine struct {
	Kind CardLineKind
	Text string // the whole line, as it is shown
}

// Command returns a [CommandLine] without its mark.
func (l CardLine) Command() string { return strings.TrimPrefix(l.Text, CardIndent+CardCommand) }

// CardLines reads a card. A card is nothing but its text: the hash is of the text, and records of
// decisions hold nothing else. Kinds are for colours and summaries; nothing is decided by them.
func CardLines(card string) iter.Seq[CardLine] {
	return func(yield func(CardLine) bool) {
		for line := range strings.SplitSeq(strings.TrimSuffix(card, "\n"), "\n") {
			if !yield(CardLine{cardLineKind(line), line}) {
				return
			}
		}
	}
}

func cardLineKind(line string) CardLineKind {
	line, indented := strings.CutPrefix(line, CardIndent)
	switch {
	case !indented:
		return OwnLine
	case strings.HasPrefix(line, CardCommand):
		return CommandLine
	case strings.HasPrefix(line, CardAdded):
		return AddedLine
	case strings.HasPrefix(line, CardRemoved):
		return RemovedLine
	case strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "), strings.HasPrefix(line, "### "):
		return HeadingLine
	}
	return OtherLine
}

// Answerable reports whether you can answer it from here: it is in the inbox, or keys can answer
// the agent's own dialog.
func (item *InboxRequest) Answerable() bool {
	return item.Status == InboxPending || item.Status == InboxPrompt && len(item.Choices) > 0
}

// About summarises a request, from its card; nothing may be decided from it.
func (item *InboxRequest) About() string {
	head, rest, _ := strings.Cut(item.Shown, "\n")
	for line := range CardLines(rest) {
		if line.Kind != OwnLine {
			return head + ": " + strings.TrimSpace(line.Text)
		}
	}
	return head
}
