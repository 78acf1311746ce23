package tmux

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

const (
	titleWidth = 60 // columns of a title in an option
	nameWidth  = 30 // columns of a window's name at most
)

// Data makes text fit for an option, or for an argument that tmux expands: one
// line, nothing invisible, every # doubled. tmux draws ## as #, so it looks as
// it was.
func Data(s string, width int) string {
	return strings.ReplaceAll(termsafe.Line(s, width), "#", "##")
}

// Name makes text fit to be a window's name. A name is stored expanded, and
// session savers pass the stored one to a command that expands it again;
// so doubling does not last. A # that would open something becomes its wide
// twin, and such a name is inert however often it is expanded.
func Name(s string) string {
	return strings.ReplaceAll(storedName(termsafe.Line(s, nameWidth)), "#", "##")
}

// storedName returns how a name is stored.
func storedName(s string) string {
	for _, opener := range []string{"(", "{", "["} {
		s = strings.ReplaceAll(s, "#"+opener, "＃"+opener)
	}
	return s
}

// escapeArgument keeps tmux from reading the end of an argument as the end of a
// command.
func escapeArgument(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return arg[:len(arg)-1] + `\;`
	}
	return arg
}
