package programs

import "strings"

// GitRunsSetting reports whether git runs the value of a setting as a command.
func GitRunsSetting(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.gitproxy", "core.askpass",
		"core.alternaterefscommand",
		"sequence.editor", "diff.external", "interactive.difffilter", "credential.helper", "gpg.program",
		"sendemail.smtpserver",
		"sendemail.tocmd", "sendemail.cccmd", "uploadpack.packobjectshook", "web.browser", "browser.cmd",
		"instaweb.httpd",
		"init.templatedir":
		return true
	}
	section, rest, _ := strings.Cut(key, ".")
	last := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "alias", "pager":
		return rest != ""
	case "filter":
		return last == "clean" || last == "smudge" || last == "process"
	case "diff":
		return last == "textconv" || last == "command"
	case "merge":
		return last == "driver"
	case "difftool", "mergetool", "man", "browser", "guitool":
		return last == "cmd" || last == "path"
	case "credential":
		return last == "helper"
	case "remote":
		return last == "uploadpack" || last == "receivepack"
	case "trailer":
		return last == "command" || last == "cmd"
	case "gpg":
		return last == "program" || last == "defaultkeycommand"
	case "submodule":
		return last == "update"
	}
	return false
}
