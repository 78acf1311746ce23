package programs

import "testing"

func TestTmuxCommandOf(t *testing.T) {
	for word, want := range map[string]string{
		"new-session": "new-session", "new": "new-session", "neww": "new-window", "new-w": "new-window",
		"splitw": "split-window",
		"split":  "split-window", "popup": "display-popup", "run": "run-shell", "if": "if-shell", "send": "send-keys",
		"set":    "set-option",
		"source": "source-file", "bind": "bind-key", "menu": "display-menu", "ls": "list-sessions", "nonsense": "", "": "",
	} {
		c, ok := TmuxCommandOf(word)
		if c.Name != want || ok != (want != "") {
			t.Errorf("TmuxCommandOf(%q) = %q, %v; want %q", word, c.Name, ok, want)
		}
	}
	seen := map[string]bool{}
	for _, c := range tmuxCommands {
		if seen[c.Name] || c.Alias != "" && seen[c.Alias] {
			t.Errorf("%s is in the table twice", c.Name)
		}
		seen[c.Name], seen[c.Alias] = true, true
	}
}

func TestTmuxKeys(t *testing.T) {
	for _, tt := range []struct {
		key     string
		literal bool
		want    string
	}{
		{"Enter", false, "\n"}, {"Enter", true, "Enter"}, {"C-m", false, "\n"}, {"Space", false, " "}, {"a b", false, "a b"},
		{"C-c", false, ""},
	} {
		if got := TmuxTyped(tt.key, tt.literal); got != tt.want {
			t.Errorf("TmuxTyped(%q, %v) = %q, want %q", tt.key, tt.literal, got, tt.want)
		}
	}
	for option, want := range map[string]bool{"default-command": true, "default-shell": true, "command-alias[0]": true,
		"mouse": false, "": false} {
		if got := TmuxRunsOption(option); got != want {
			t.Errorf("TmuxRunsOption(%q) = %v, want %v", option, got, want)
		}
	}
}

func TestGitRunsSetting(t *testing.T) {
	for key, want := range map[string]bool{
		"core.pager": true, "CORE.Pager": true, "core.sshCommand": true, "alias.x": true, "alias": false, "pager.log": true,
		"filter.lfs.clean":    true,
		"filter.lfs.required": false, "diff.x.textconv": true, "diff.x.binary": false, "diff.tool": false,
		"merge.x.driver": true, "merge.tool": false,
		"mergetool.x.cmd": true, "mergetool.x.trustExitCode": false, "credential.helper": true,
		"credential.https://x.io.helper": true,
		"credential.username":            false, "remote.origin.uploadpack": true, "remote.origin.url": false,
		"trailer.x.cmd":   true,
		"trailer.x.key":   false,
		"gpg.ssh.program": true, "gpg.format": false, "submodule.x.update": true, "submodule.x.url": false,
		"user.email": false, "": false, "core.bare": false,
	} {
		if got := GitRunsSetting(key); got != want {
			t.Errorf("GitRunsSetting(%q) = %v, want %v", key, got, want)
		}
	}
}

func TestVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"GIT_SSH_COMMAND": true, "PAGER": true, "EDITOR": true, "GIT_CONFIG_VALUE_0": true, "CARGO_TARGET_X_RUNNER": true,
		"CARGO_TARGET_X_LINKER": true,
		"CARGO_TARGET_DIR":      false, "PATH": false, "GIT_AUTHOR_NAME": false, "": false,
	} {
		if got := RunsCommand(name); got != want {
			t.Errorf("RunsCommand(%q) = %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"BASH_ENV": true, "LD_PRELOAD": true, "HOME": true, "PATH": false,
		"NODE_ENV": false} {
		if got := LoadsCode(name); got != want {
			t.Errorf("LoadsCode(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestInterpreters(t *testing.T) {
	for name, want := range map[string]bool{"python3": true, "python3.12": true, "node": true, "awk": true, "go": true, "cargo": false,
		".x": false} {
		if got := IsInterpreter(name); got != want {
			t.Errorf("IsInterpreter(%q) = %v, want %v", name, got, want)
		}
	}
	if TrimVersion("python3.12") != "python3" || TrimVersion("lua") != "lua" || TrimVersion(".x") != ".x" {
		t.Error("TrimVersion cuts too much or too little")
	}
	if !IsShell("bash") || !IsShell("zsh") || IsShell("python3") {
		t.Error("IsShell is wrong")
	}
}
