package facts

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// toolFiles are files that tools ask their users to source.
var toolFiles = []string{
	"/.nvm/nvm.sh", "/.nvm/bash_completion", "/.cargo/env", "/.fzf.bash", "/.fzf.zsh", "/.sdkman/bin/sdkman-init.sh",
	"/.asdf/asdf.sh",
	"/.deno/env", "/.bun/_bun", "/.ghcup/env", "/.local/bin/env", "/oh-my-zsh.sh", "/path.bash.inc", "/path.zsh.inc",
	"/completion.bash.inc", "/completion.zsh.inc", "/.bashrc", "/.zshrc", "/.bash_aliases", "/.profile",
	"/bash_completion", "$NVM_DIR/nvm.sh",
	"$ZSH/oh-my-zsh.sh", "$NVM_DIR/bash_completion",
}

// OnlySets reports whether text of a shell's start file only sets variables, aliases and
// options, or starts what tools usually ask to be put there. What an alias expands to isn't
// checked here.
func OnlySets(script *shell.Script) bool {
	if !script.Readable() {
		return false
	}
	for i := range script.Runs {
		if !isSetting(&script.Runs[i]) {
			return false
		}
	}
	return true
}

// isSetting reports whether a run of a start file only sets something.
func isSetting(r *shell.Run) bool {
	for _, a := range r.Assigns {
		if programs.RunsCommand(a.Name) && strings.ContainsAny(a.Value.Text, " ;|&$`/") || programs.LoadsCode(a.Name) {
			return false
		}
		if a.Name == "PATH" && strings.Contains(a.Value.Text, "/tmp") {
			return false
		}
	}
	loaded := r.Sink == "eval"
	for _, v := range r.Via {
		if v == "alias" {
			return true // checked like any other command
		}
		loaded = loaded || v == "eval"
	}
	if loaded && len(r.Argv) > 0 && r.Argv[0].Dynamic && !r.Argv[0].From.Empty() {
		return true // what a program prints; that program is a run of its own
	}
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Target.Text != "/dev/null" {
			return false
		}
	}
	switch name := r.Name(); name {
	case "", "export", "declare", "typeset", "readonly", "local", "alias", "unalias", "unset", "set", "setopt",
		"unsetopt", "shopt", "bindkey",
		"bind", "autoload", "compinit", "bashcompinit", "compdef", "complete", "zstyle", "umask", "ulimit", "test", "[",
		"true", ":", "command", "type",
		"hash", "plugins", "fpath", "echo", "printf", "stty", "eval":
		return true
	case "source", ".":
		if len(r.Argv) > 1 && !r.Argv[1].From.Empty() {
			return true // what a program prints; that program is a run of its own
		}
		for _, f := range toolFiles {
			if len(r.Argv) > 1 && strings.HasSuffix(r.Argv[1].Text, f) {
				return true
			}
		}
		return false
	default:
		return programs.Is(name, programs.ShellHook) && (loaded ||
			HasWord(r.Args(), "completion", "completions", "init", "hook", "activate"))
	}
}
