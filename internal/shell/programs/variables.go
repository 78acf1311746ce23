package programs

import "strings"

// commandVariables are variables whose value some program runs as a command.
var commandVariables = map[string]bool{
	"GIT_SSH_COMMAND": true, "GIT_SSH": true, "GIT_EDITOR": true, "GIT_SEQUENCE_EDITOR": true, "GIT_PAGER": true,
	"GIT_ASKPASS": true, "GIT_EXTERNAL_DIFF": true, "GIT_PROXY_COMMAND": true, "SSH_ASKPASS": true,
	"SUDO_ASKPASS": true,
	"PAGER":        true, "MANPAGER": true, "SYSTEMD_PAGER": true, "SYSTEMD_EDITOR": true, "DELTA_PAGER": true,
	"BAT_PAGER": true,
	"GH_PAGER":  true, "GLAB_PAGER": true, "AWS_PAGER": true, "PSQL_PAGER": true, "PSQL_EDITOR": true,
	"KUBE_EDITOR": true,
	"EDITOR":      true, "VISUAL": true, "FCEDIT": true, "HGEDITOR": true, "SVN_EDITOR": true, "CRONTAB_EDITOR": true,
	"LESSOPEN": true, "LESSCLOSE": true, "BROWSER": true, "PROMPT_COMMAND": true, "RSYNC_RSH": true, "SVN_SSH": true,
	"CVS_RSH": true, "HG_SSH": true, "FZF_DEFAULT_COMMAND": true, "FZF_CTRL_T_COMMAND": true, "RUSTC_WRAPPER": true,
	"RUSTC_WORKSPACE_WRAPPER": true, "GOCACHEPROG": true, "TERMINAL": true,
}

// RunsCommand reports whether the value of a variable of this name is run as a
// command by some program.
func RunsCommand(name string) bool {
	switch {
	case commandVariables[name]:
		return true
	case strings.HasPrefix(name, "GIT_CONFIG_VALUE_"):
		return true
	case strings.HasPrefix(name, "CARGO_TARGET_"):
		return strings.HasSuffix(name, "_RUNNER") || strings.HasSuffix(name, "_LINKER")
	}
	return false
}

// IsExpanded reports whether a shell expands the value of a variable of this name
// and so runs the commands that are substituted in it.
func IsExpanded(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT", "RPROMPT", "PROMPT4":
		return true
	}
	return false
}

// NamesStartFile reports whether a shell runs the file that a variable of this
// name names.
func NamesStartFile(name string) bool { return name == "BASH_ENV" || name == "ENV" }

// LoadsCode reports whether a variable of this name has other programs load code
// or start files from elsewhere.
func LoadsCode(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "ZDOTDIR", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES",
		"DYLD_LIBRARY_PATH",
		"PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "HOME", "INPUTRC", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_SYSTEM",
		"GIT_EXEC_PATH",
		"GIT_TEMPLATE_DIR":
		return true
	}
	return false
}
