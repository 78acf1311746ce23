package facts

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/event"
)

// FolderOf returns the folder that a call happens in, with the home directory written out if
// the call names it by a tilde or a variable.
func FolderOf(ev *event.Event, home string) string {
	named := ev.Folder()
	if home == "" {
		return named
	}
	for _, spelled := range [...]string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(named, spelled); ok && (rest == "" || rest[0] == '/') {
			return path.Join(home, rest)
		}
	}
	if ev.Cwd != "" && named != "" && !path.IsAbs(named) {
		return path.Join(ev.Cwd, named)
	}
	return named
}

// CallOf returns the tool call of an event in the form that guards and rules use. project is the
// folder it belongs to, "" for the one that the agent works in.
func CallOf(ev *event.Event, project, home string) Call {
	if project == "" {
		project = ev.Cwd
	}
	t := ev.Tool
	return Call{Agent: ev.Agent, ToolKind: string(t.Kind), ToolName: t.Name, Commands: t.Commands, Reads: t.Reads,
		Writes: t.Writes, URL: t.URL, Input: t.CurrentInput(), Cwd: FolderOf(ev, home), Project: project, Home: home}
}
