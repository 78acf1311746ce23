package programs

import "strings"

// TmuxRuns is what a tmux command does with its operands.
type TmuxRuns int

// Ways in which tmux commands run something.
const (
	TmuxNothing  TmuxRuns = iota
	TmuxShell             // the operands are a shell command
	TmuxIf                // the first operand is a shell command, the others are tmux commands
	TmuxCommands          // the operands are a tmux command
	TmuxBinding           // the same after one operand: a key, or the name of a hook
	TmuxKeys              // the operands are typed
	TmuxMenu              // name, key, tmux command, and again
	TmuxOption            // an option's name and its value
	TmuxFiles             // files of tmux commands
	TmuxBuffer            // the operands, or a file's text, are pasted later
)

// TmuxCommand is one command of tmux. Values lists its options that take a
// value.
type TmuxCommand struct {
	Name, Alias, Values string
	Runs                TmuxRuns
}

var tmuxCommands = []TmuxCommand{
	{"new-session", "new", "cefFnstxy", TmuxShell},
	{"new-window", "neww", "ceFnt", TmuxShell},
	{"split-window", "splitw", "ceFlpt", TmuxShell},
	{"respawn-pane", "respawnp", "cet", TmuxShell},
	{"respawn-window", "respawnw", "cet", TmuxShell},
	{"display-popup", "popup", "bcdehsStTwxy", TmuxShell},
	{"run-shell", "run", "cdt", TmuxShell},
	{"pipe-pane", "pipep", "t", TmuxShell},
	{"if-shell", "if", "t", TmuxIf},
	{"send-keys", "send", "Nct", TmuxKeys},
	{"bind-key", "bind", "NT", TmuxBinding},
	{"set-hook", "", "t", TmuxBinding},
	{"confirm-before", "confirm", "cpt", TmuxCommands},
	{"command-prompt", "", "IptT", TmuxCommands},
	{"choose-tree", "", "FfKOt", TmuxCommands},
	{"choose-buffer", "", "FfKOt", TmuxCommands},
	{"choose-client", "", "FfKOt", TmuxCommands},
	{"display-menu", "menu", "bcCHsStTxy", TmuxMenu},
	{"set-option", "set", "t", TmuxOption},
	{"set-window-option", "setw", "t", TmuxOption},
	{"source-file", "source", "t", TmuxFiles},
	{"display-message", "display", "cdt", TmuxNothing},
	{"attach-session", "attach", "cft", TmuxNothing},
	{"list-sessions", "ls", "Ff", TmuxNothing},
	{"list-windows", "lsw", "Fft", TmuxNothing},
	{"list-panes", "lsp", "Fft", TmuxNothing},
	{"capture-pane", "capturep", "bEStJ", TmuxNothing},
	{"kill-session", "", "t", TmuxNothing},
	{"kill-pane", "killp", "t", TmuxNothing},
	{"kill-window", "killw", "t", TmuxNothing},
	{"select-pane", "selectp", "tTP", TmuxNothing},
	{"select-window", "selectw", "t", TmuxNothing},
	{"rename-window", "renamew", "t", TmuxNothing},
	{"rename-session", "rename", "t", TmuxNothing},
	{"set-buffer", "setb", "bnt", TmuxBuffer},
	{"load-buffer", "loadb", "bt", TmuxBuffer},
	{"set-environment", "setenv", "t", TmuxNothing},
	{"show-options", "show", "t", TmuxNothing},
	{"switch-client", "switchc", "cTt", TmuxNothing},
	{"wait-for", "wait", "", TmuxNothing},
}

// TmuxGlobalValues are tmux's own options that take a value.
const TmuxGlobalValues = "cfLST"

// TmuxCommandOf finds the command that word means: its name, its alias, or the
// beginning of its name.
func TmuxCommandOf(word string) (TmuxCommand, bool) {
	if word == "" {
		return TmuxCommand{}, false
	}
	for _, c := range tmuxCommands {
		if word == c.Name || word == c.Alias {
			return c, true
		}
	}
	for _, c := range tmuxCommands {
		if strings.HasPrefix(c.Name, word) {
			return c, true
		}
	}
	return TmuxCommand{}, false
}

// TmuxRunsOption reports whether the value of a tmux option is run in a shell.
func TmuxRunsOption(name string) bool {
	switch name {
	case "default-command", "default-shell", "lock-command", "copy-command", "editor", "get-clipboard":
		return true
	}
	return strings.HasPrefix(name, "command-alias")
}

// TmuxOptionTakesOver reports whether an option of tmux, also a shortened one, makes every new
// pane run something, gives commands another meaning, or lets programs query the terminal
// behind tmux, whose answers are read as keys.
func TmuxOptionTakesOver(name string) bool {
	if strings.Contains(name, "#") { // a format, which may be any name
		return true
	}
	name, _, _ = strings.Cut(name, "[")
	for _, option := range [...]string{"allow-passthrough", "default-command", "default-shell", "command-alias"} {
		if len(name) >= len("allow-p") && strings.HasPrefix(option, name) {
			return true
		}
	}
	return false
}

var tmuxKeyNames = map[string]string{
	"Enter": "\n", "C-m": "\n", "C-M": "\n", "KPEnter": "\n", "C-j": "\n", "C-J": "\n", "Space": " ", "Tab": "\t",
	"C-i":    "\t",
	"Escape": "", "BSpace": "", "C-c": "", "C-u": "", "C-l": "", "C-a": "", "C-e": "", "C-k": "", "C-d": "",
	"Up": "", "Down": "", "Left": "", "Right": "", "Home": "", "End": "",
}

// TmuxTyped returns the text that one operand of send-keys types.
func TmuxTyped(key string, literal bool) string {
	if text, ok := tmuxKeyNames[key]; ok && !literal {
		return text
	}
	return key
}
