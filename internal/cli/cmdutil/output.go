package cmdutil

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// PlainValue shows a value as you would type it.
func PlainValue(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return termsafe.Line(s, 120)
	}
	var list []string
	if json.Unmarshal(v, &list) == nil {
		if len(list) == 0 {
			return "(none)"
		}
		return termsafe.Line(strings.Join(list, ","), 200)
	}
	return termsafe.Line(string(v), 120)
}

// Columns returns how wide the terminal is; 0 without one.
func (app *App) Columns() int {
	width, _ := app.screenSize()
	return width
}

// Rows returns how high the terminal is; 0 without one.
func (app *App) Rows() int {
	_, height := app.screenSize()
	return height
}

func (app *App) screenSize() (width, height int) {
	f, ok := app.Stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// WrapError breaks a message for stderr between words, if that is a terminal.
func (app *App) WrapError(msg string) string {
	f, ok := app.Stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || strings.Contains(msg, "\n") {
		return msg
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return msg
	}
	return text.Wrap(msg, width, 0)
}

// fitLine breaks a line that is wider than the terminal between words. What follows is
// indented like the text after the line's label, which two spaces end.
func fitLine(line string, width int) string {
	if width <= 0 {
		return line
	}
	if first, rest, ok := strings.Cut(line, "\n"); ok {
		return fitLine(first, width) + "\n" + fitLine(rest, width)
	}
	if text.VisibleWidth(line) <= width {
		return line
	}
	label := len(line) - len(strings.TrimLeft(line, " "))
	if at := strings.Index(line[label:], "  "); at >= 0 && label+at < width/3 {
		label += at
		label += len(line[label:]) - len(strings.TrimLeft(line[label:], " "))
	}
	return line[:label] + text.Wrap(line[label:], width, text.VisibleWidth(line[:label]))
}

// PrintNotes writes notes to stderr.
func (app *App) PrintNotes(notes []string) {
	for _, note := range notes {
		fmt.Fprintln(app.Stderr, app.WrapError("hookmux: "+termsafe.Text(app.Shorten(note))))
	}
}

// PrintJSONLine writes a value on one line.
func (app *App) PrintJSONLine(v any) {
	_ = termsafe.WriteJSON(app.Stdout, v, false)
}
