package cmdutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/platform/similar"
)

// meant maps words that people bring from other tools to hookmux's own.
var meant = map[string][]string{
	"ls": {"ps", "list"}, "list": {"ps"}, "sessions": {"ps"}, "agent": {"agents"},
	"enable": {"on"}, "disable": {"off"}, "activate": {"on"}, "deactivate": {"off"},
	"requests": {"inbox"}, "feed": {"inbox"}, "queue": {"inbox"}, "pending": {"inbox"},
	"yes": {"approve"}, "accept": {"approve"}, "allow": {"approve", "exception"}, "answer": {"approve"}, "plan": {"approve"},
	"no": {"deny"}, "reject": {"deny"}, "release": {"skip"}, "dismiss": {"skip"},
	"allowlist": {"permissions"}, "whitelist": {"permissions"}, "grants": {"permissions"},
	"pause": {"guard pause", "off"}, "snooze": {"guard pause"}, "nap": {"guard pause", "pause"}, "mute": {"notify off"},
	"start": {"daemon start", "run"}, "stop": {"daemon stop"}, "restart": {"daemon restart"}, "hub": {"daemon"},
	"watch": {"log -f"}, "tail": {"log -f"}, "events": {"log"}, "history": {"log"}, "journal": {"log"},
	"explain": {"why"}, "test": {"why"}, "confirm": {"config accept"}, "settings": {"config"}, "set": {"config set"},
	"dashboard": {"up"}, "view": {"up"}, "tui": {"up"}, "top": {"up"}, "seat": {"whoami"}, "untrust": {"trust remove"},
	"pack": {"rules"}, "packs": {"rules"}, "module": {"hooks"}, "modules": {"hooks"}, "hook": {"hooks"}, "rule": {"rules"},
	"guards": {"guard"}, "stats": {"status --hooks"}, "back": {"away --end"}, "check": {"doctor"}, "init": {"setup"},
	"del": {"remove"}, "delete": {"remove"}, "rm": {"remove"}, "revoke": {"remove"}, "create": {"new", "add"}, "get": {"show"},
	"monitor": {"log"}, "block": {"on"}, "logs": {"log"}, "upgrade": {"update"}, "notifications": {"notify"},
}

// UnknownName says that there's no such thing as name, which one of known was probably meant, and which command
// lists them all.
func UnknownName(kind, name string, known []string, list string) error {
	for _, word := range meant[strings.ToLower(name)] {
		if slices.Contains(known, word) {
			return didYouMean(kind, name, word)
		}
	}
	if near := similar.Nearest(name, known); near != "" {
		return didYouMean(kind, name, near)
	}
	text := fmt.Sprintf("there's no %s %q", kind, name)
	switch {
	case list != "":
		text += "; `" + list + "` lists them"
	case len(known) > 0 && len(known) <= 15:
		text += "; choose from " + strings.Join(known, ", ")
	}
	return UsageError("%s", text)
}

func didYouMean(kind, name, word string) error {
	return UsageError("there's no %s %q; did you mean %q?", kind, name, word)
}

// UnknownCommand says which subcommand of parent was probably meant.
func UnknownCommand(parent *cobra.Command, name string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	for _, words := range meant[strings.ToLower(name)] {
		first, _, _ := strings.Cut(words, " ")
		if cmd, _, err := parent.Find(strings.Fields(words)); err == nil && cmd != parent && slices.Contains(known, first) {
			return UsageError("there's no command \"%s %s\"; did you mean `%s %s`?", parent.CommandPath(), name, parent.CommandPath(), words)
		}
	}
	if near := similar.Nearest(name, known); near != "" {
		return UsageError("there's no command \"%s %s\"; did you mean `%s %s`?", parent.CommandPath(), name, parent.CommandPath(), near)
	}
	return UsageError("there's no command \"%s %s\"; `%s --help` lists the commands", parent.CommandPath(), name, parent.CommandPath())
}

// FlagError turns cobra's complaint about a flag into one that names the flag that was probably meant.
func FlagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		name, _, _ = strings.Cut(name, "=")
		if near := similar.Nearest(name, known); near != "" {
			return UsageError("there's no flag --%s; did you mean --%s?", name, near)
		}
		return UsageError("there's no flag --%s; `%s --help` lists the flags", name, cmd.CommandPath())
	}
	return UsageError("%s; see `%s --help`", text, cmd.CommandPath())
}
