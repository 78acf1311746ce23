package cmdutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/similar"
)

// meant maps words that people bring from other tools to hookmux's own. None leads to a command that protects less
// than the word that was typed.
var meant = map[string][]string{
	"ls": {"ps", "list"}, "list": {"ps"}, "sessions": {"ps"}, "agent": {"agents"},
	"enable": {"on"}, "disable": {"off"}, "activate": {"on"}, "deactivate": {"off"},
	"requests": {"inbox"}, "feed": {"inbox"}, "queue": {"inbox"}, "pending": {"inbox"},
	"yes": {"approve"}, "accept": {"approve"}, "allow": {"approve", "exception"}, "answer": {"approve"}, "plan": {"approve"},
	"no": {"deny"}, "reject": {"deny"}, "release": {"skip"}, "dismiss": {"skip"},
	"allowlist": {"permissions"}, "whitelist": {"permissions"}, "grants": {"permissions"},
	"pause": {"guard pause"}, "snooze": {"guard pause"}, "nap": {"guard pause", "pause"}, "mute": {"notify off"},
	"start": {"daemon start", "run"}, "stop": {"daemon stop"}, "restart": {"daemon restart"}, "hub": {"daemon"},
	"watch": {"log -f"}, "tail": {"log -f"}, "events": {"log"}, "history": {"log"}, "journal": {"log"},
	"explain": {"why"}, "test": {"why"}, "confirm": {"config accept"}, "settings": {"config"}, "set": {"config set"},
	"dashboard": {"up"}, "view": {"up"}, "tui": {"up"}, "top": {"up"}, "monitor": {"up", "log"}, "seat": {"whoami"},
	"untrust": {"trust remove"}, "attach": {"jump"}, "open": {"jump"}, "goto": {"jump"}, "go": {"jump"}, "cd": {"jump"},
	"describe": {"show"}, "inspect": {"show"}, "info": {"status", "show"}, "exec": {"run"}, "launch": {"run"},
	"pack": {"rules"}, "packs": {"rules"}, "module": {"hooks"}, "modules": {"hooks"}, "hook": {"hooks"}, "rule": {"rules"},
	"guards": {"guard"}, "stats": {"status --hooks"}, "back": {"away --end"}, "check": {"doctor"}, "init": {"setup"},
	"del": {"remove"}, "delete": {"remove"}, "rm": {"remove", "uninstall"}, "revoke": {"remove"},
	"create": {"new", "add"}, "get": {"show"}, "block": {"on"}, "logs": {"log"}, "notifications": {"notify"},
	"verbose": {"all"},
}

// meantBelow are the words whose meaning depends on the command they follow: what to write instead, from "hookmux" on.
var meantBelow = map[string]map[string]string{
	"daemon": {"status": "status", "info": "status", "log": "log", "logs": "log", "run": "daemon"},
	"config": {"delete": "config unset", "remove": "config unset", "rm": "config unset", "del": "config unset",
		"reset": "config unset", "show": "config get", "confirm": "config accept", "schema": "schema"},
	"agents": {"enable": "install", "add": "install", "install": "install", "on": "install", "hook": "install",
		"disable": "uninstall", "remove": "uninstall", "rm": "uninstall", "uninstall": "uninstall", "off": "uninstall",
		"test": "verify", "verify": "verify"},
	"guard": {"rm": "guard off", "remove": "guard off", "delete": "guard off", "add": "guard on",
		"exceptions": "guard exception list", "test": "why", "explain": "why"},
	"tmux": {"on": "tmux install", "off": "tmux uninstall", "add": "tmux install", "remove": "tmux uninstall",
		"enable": "tmux install", "disable": "tmux uninstall", "setup": "tmux install"},
	"rules":       {"test": "why", "explain": "why", "lint": "rules check", "validate": "rules check", "upgrade": "rules update"},
	"whoami":      {"trust": "whoami add", "enrol": "whoami add"},
	"permissions": {"add": "approve --always"},
	"inbox":       {"approve": "approve", "deny": "deny", "skip": "skip"},
	"trust":       {"yes": "trust"},
}

// inWords answers what no command does, by the command it was typed after ("" for hookmux itself).
var inWords = map[string]map[string]string{
	"": {
		"update":  "install the new version, then run `hookmux install`",
		"upgrade": "install the new version, then run `hookmux install`",
		"kill":    "hookmux doesn't end agents (`hookmux jump` takes you to one); `hookmux daemon stop` stops the daemon",
	},
	"config": {"edit": "edit ~/.config/hookmux/config.json, then run `hookmux config accept`"},
	"trust":  {"add": "run `hookmux trust` in the project's folder"},
}

// UnknownName says that there's no such thing as name, which one of known was probably meant, and which command
// lists them all.
func UnknownName(kind, name string, known []string, list string) error {
	if word := probably(name, known); word != "" {
		return UsageError("there's no %s %q; did you mean %q?", kind, name, word)
	}
	text := fmt.Sprintf("there's no %s %q", kind, name)
	switch {
	case list != "":
		text += "; `" + list + "` lists them"
	case len(known) > 0 && len(known) <= 20:
		text += "; choose from " + strings.Join(known, ", ")
	}
	return UsageError("%s", text)
}

// UnknownAgent says that there's no agent of this name, and which one was probably meant.
func UnknownAgent(c *agent.Catalogue, name string) error {
	var known []string
	for _, a := range c.Agents() {
		known = append(known, a.Name)
	}
	if names := strings.Split(name, ","); len(names) > 1 {
		return UsageError("separate agents with spaces: %s", strings.Join(names, " "))
	}
	return UnknownName("agent", name, known, "hookmux agents --all")
}

// CheckChoice refuses a value that isn't among the choices.
func CheckChoice(kind, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return UnknownName(kind, value, choices, "")
}

// probably is the entry of known that somebody meant by name, or "".
func probably(name string, known []string) string {
	for _, word := range meant[strings.ToLower(name)] {
		if slices.Contains(known, word) {
			return word
		}
	}
	return similar.Nearest(name, known)
}

// Noun is a subject that has names and subcommands for them, such as guards.
type Noun struct {
	Command string // below hookmux
	Names   func() []string
}

// UnknownCommand says which subcommand of parent was probably meant by the first of words. The others are what came
// behind it: the suggestion repeats them. nouns tell what a name is the name of.
func UnknownCommand(parent *cobra.Command, words []string, nouns ...Noun) error {
	name, rest := words[0], words[1:]
	below := strings.TrimPrefix(strings.TrimPrefix(parent.CommandPath(), parent.Root().Name()), " ")
	no := fmt.Sprintf("there's no command \"%s %s\"", parent.CommandPath(), name)
	if parent.Name() == "completion" {
		return UnknownName("shell", name, []string{"bash", "zsh", "fish", "powershell"}, "")
	}
	if say := inWords[below][strings.ToLower(name)]; say != "" {
		return UsageError("%s; %s", no, say)
	}
	suggest := func(command string) error {
		return UsageError("%s; did you mean `%s`?", no, quoteWords(append([]string{parent.Root().Name(), command}, rest...)))
	}
	if command := meantBelow[below][strings.ToLower(name)]; command != "" {
		return suggest(command)
	}
	if below == "trust" && strings.ContainsAny(name, "/.~") {
		return UsageError("trust takes no folder; did you mean `cd %s && hookmux trust`?", name)
	}
	if command := swappedNoun(parent, below, words, nouns); command != "" {
		return UsageError("%s; did you mean `%s %s`?", no, parent.Root().Name(), command)
	}
	if below == "" && slices.Contains(switches, strings.ToLower(name)) {
		return unknownSwitch(no, name, rest, nouns)
	}
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	for _, command := range meant[strings.ToLower(name)] {
		first, _, _ := strings.Cut(command, " ")
		if cmd, _, err := parent.Find(strings.Fields(command)); err == nil && cmd != parent && slices.Contains(known, first) {
			return suggest(strings.TrimSpace(below + " " + command))
		}
	}
	if near := similar.Nearest(name, known); near != "" {
		return suggest(strings.TrimSpace(below + " " + near))
	}
	return UsageError("%s; `%s --help` lists the commands", no, parent.CommandPath())
}

// switches are words that, without a noun, would turn everything off or on.
var switches = []string{"enable", "disable", "activate", "deactivate", "block", "turn"}

// unknownSwitch answers `hookmux disable NAME`: about what NAME is, never about everything.
func unknownSwitch(no, word string, rest []string, nouns []Noun) error {
	to := "on"
	if meant[strings.ToLower(word)] != nil {
		to = meant[strings.ToLower(word)][0]
	}
	if len(rest) > 0 && slices.Contains([]string{"on", "off"}, rest[0]) {
		to, rest = rest[0], rest[1:]
	}
	if len(rest) == 0 {
		return UsageError("%s; write `hookmux guard %s NAME`, or `hookmux %s` for everything", no, to, to)
	}
	for _, exact := range []bool{true, false} { // a name that exists before one that is only similar
		for _, noun := range nouns {
			names := noun.Names()
			name := rest[0]
			if !slices.Contains(names, name) {
				if name = similar.Nearest(rest[0], names); exact || name == "" {
					continue
				}
			}
			command := noun.Command + " " + to
			if noun.Command == "agents" {
				command = map[string]string{"on": "install", "off": "uninstall"}[to]
			}
			return UsageError("%s; did you mean `hookmux %s %s`?", no, command, name)
		}
	}
	return UsageError("%s; write `hookmux guard %s NAME`, `hookmux rules %s NAME` or `hookmux hooks %s NAME`", no, to, to, to)
}

// swappedNoun is the command of somebody who wrote the name before the verb, or left the verb out.
func swappedNoun(parent *cobra.Command, below string, words []string, nouns []Noun) string {
	for _, noun := range nouns {
		if noun.Command != below || !slices.Contains(noun.Names(), words[0]) {
			continue
		}
		verb, rest := "show", words[1:]
		if len(rest) > 0 {
			if cmd, _, err := parent.Find(rest[:1]); err == nil && cmd != parent {
				verb, rest = cmd.Name(), rest[1:]
			}
		}
		return quoteWords(append([]string{below, verb, words[0]}, rest...))
	}
	return ""
}

// quoteWords joins words so that a shell reads them back. The first ones may be several words of ours.
func quoteWords(words []string) string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, "'\"\\$;|&<>()*?[]{}!#\n\t") || w == "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// UnknownSubcommand is [UnknownCommand] for words that a command reads itself.
func UnknownSubcommand(path, word string, known []string) error {
	if near := probably(word, known); near != "" {
		return UsageError("there's no command \"%s %s\"; did you mean `%s %s`?", path, word, path, near)
	}
	return UsageError("there's no command \"%s %s\"; `%s --help` lists the commands", path, word, path)
}
