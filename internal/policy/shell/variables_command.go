package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// walkCommandVariables reads the values of variables that some program will run as a command,
// such as GIT_SSH_COMMAND.
func walkCommandVariables(w *walker, assigns []Assign, c inherited) {
	c = c.startedBy("")
	for _, a := range assigns {
		if programs.NamesStartFile(a.Name) {
			walkKnownFile(w, a.Value, c, a.Name)
		}
		if programs.IsExpanded(a.Name) && strings.ContainsAny(a.Value.Text, "$`") {
			w.tryText(a.Value.Text, c.withVia(a.Name))
		}
		if a.Name == "MAKEFLAGS" || a.Name == "GNUMAKEFLAGS" {
			walkMakeArguments(w, quotedWords(a.Value.Text), c.withVia(a.Name))
		}
		text := strings.TrimSpace(a.Value.Text)
		if text == "" || !programs.RunsCommand(a.Name) {
			continue
		}
		// A bare name is a program that may be installed, not a command line.
		if strings.ContainsAny(text, " \t\n;|&$`(") || strings.Contains(text, "/") {
			w.tryText(strings.TrimLeft(text, "!|"), c.withVia(a.Name))
		}
	}
}
