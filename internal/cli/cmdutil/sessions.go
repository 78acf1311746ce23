package cmdutil

import (
	"github.com/hookmux/hookmux/internal/shell/quote"
	"github.com/hookmux/hookmux/internal/wire"
)

// SessionNames is said by every command that takes a session.
const SessionNames = `SESSION is an id, the beginning of one, a title or a tmux pane (%3).`

// QuotedResume is a record as a line that can be pasted into a shell.
func QuotedResume(r *wire.ResumeRecord) string {
	words := r.Argv
	if r.Run {
		words = append([]string{"hookmux", "run"}, words...)
	}
	if len(r.Env) > 0 {
		words = append(append([]string{"env"}, r.Env...), words...)
	}
	line := quote.Line(words)
	if r.Dir != "" {
		line = "cd " + quote.Word(r.Dir) + " && " + line
	}
	return line
}
