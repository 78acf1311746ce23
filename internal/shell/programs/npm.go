package programs

import "strings"

// npmCommands are the commands of npm; any beginning that means only one of them
// stands for it.
var npmCommands = []string{"access", "adduser", "audit", "bugs", "cache", "ci", "completion", "config", "dedupe",
	"deprecate", "diff", "dist-tag", "docs", "doctor", "edit", "exec", "explain", "explore", "find-dupes", "fund",
	"get",
	"help", "help-search", "hook", "init", "install", "install-ci-test", "install-test", "link", "login", "logout",
	"ls",
	"org", "outdated", "owner", "pack", "ping", "pkg", "prefix", "profile", "prune", "publish", "query", "rebuild",
	"repo",
	"restart", "root", "run", "sbom", "search", "set", "shrinkwrap", "star", "stars", "start", "stop", "team", "test",
	"token", "undeprecate", "uninstall", "unpublish", "unstar", "update", "version", "view", "whoami"}

// npmAliases are its other names.
var npmAliases = map[string]string{"i": "install", "in": "install", "ins": "install", "inst": "install",
	"insta": "install", "instal": "install", "isnt": "install", "isntall": "install", "add": "install",
	"r":  "uninstall",
	"rm": "uninstall", "un": "uninstall", "remove": "uninstall", "unlink": "uninstall", "up": "update",
	"upgrade": "update",
	"udpate":  "update", "t": "test", "tst": "test", "x": "exec", "rum": "run", "run-script": "run", "urn": "run",
	"c": "config", "s": "search", "se": "search", "find": "search", "la": "ls", "ll": "ls", "list": "ls", "v": "view",
	"info": "view", "show": "view", "ln": "link", "rb": "rebuild", "it": "install-test", "cit": "install-ci-test",
	"ic": "ci", "clean-install": "ci", "install-clean": "ci", "author": "owner", "dist-tags": "dist-tag",
	"create": "init",
	"innit":  "init", "add-user": "adduser", "why": "explain", "issues": "bugs", "home": "docs", "ddp": "dedupe",
	"verison": "version", "hlep": "help"}

// NpmCommand is the command that a word means to npm; a word that means none stays as
// it is.
func NpmCommand(word string) string {
	if full, ok := npmAliases[word]; ok {
		return full
	}
	found := ""
	for _, name := range npmCommands {
		if name == word {
			return word
		}
		if strings.HasPrefix(name, word) {
			if found != "" {
				return word
			}
			found = name
		}
	}
	if found == "" || len(word) < 2 {
		return word
	}
	return found
}
