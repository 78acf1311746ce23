package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// Programs that run something later.

// atText reads at now <<< text and at -f file now.
func atText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	args := run.Argv[1:]
	for i, a := range args {
		file, ok := strings.CutPrefix(a.Text, "-f")
		if !ok {
			continue
		}
		if file == "" && i+1 < len(args) {
			file = args[i+1].Text
		}
		if text, ok := w.known.files[file]; ok {
			w.walkText(text, in)
		}
		return true
	}
	if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		w.walkText(text, in)
	}
	return true
}

// crontabText reads the commands of a table that is in a file of this script or on standard
// input.
func crontabText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	args := run.Argv[1:]
	if at := skipOptions(args, "u", nil); at < len(args) && args[at].Text != "-" {
		walkTable(w, w.known.files[args[at].Text], in)
		return true
	}
	if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		walkTable(w, text, in)
	}
	return true
}

// walkTable follows the lines of a crontab: five fields or @daily, then a
// command.
func walkTable(w *walker, text string, c inherited) {
	for _, command := range foreign.CrontabCommands(text) {
		if !w.takeStep() {
			return
		}
		w.tryText(command, c)
	}
}
