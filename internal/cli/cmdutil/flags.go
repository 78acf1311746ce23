package cmdutil

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/platform/similar"
)

// meantFlags are flags of other tools, and the ones that mean the same here.
var meantFlags = map[string][]string{
	"watch": {"follow"}, "tail": {"limit", "follow"}, "head": {"limit"}, "last": {"since"}, "from": {"since"}, "to": {"until"}, "verbose": {"all"},
	"debug": {"all"}, "limit": {"count"}, "lines": {"limit"}, "number": {"limit"}, "force": {"yes"}, "noconfirm": {"yes"},
	"format": {"json"}, "output": {"json"}, "print": {"dry-run"}, "preview": {"dry-run"}, "type": {"kind"}, "project": {"global"},
	"repair": {"fix"}, "apply": {"fix"}, "stop": {"end"}, "back": {"end"}, "A": {"all"}, "V": {"version"}, "w": {"follow"}, "v": {"all"}, "grep": {"text"}, "search": {"text"}, "j": {"json"}, "o": {"json"}, "l": {"all"},
}

// flagsInWords answer flags that a command has for no one: by the command, then the flag.
var flagsInWords = map[string]map[string]string{
	"hookmux uninstall": {"all": "without names it unhooks every agent", "agent": agentInWords("uninstall"), "a": agentInWords("uninstall")},
	"hookmux verify":    {"all": "without names it tests every agent on PATH", "agent": agentInWords("verify"), "a": agentInWords("verify")},
	"hookmux doctor":    {"all": "without names it checks every agent", "agent": agentInWords("doctor"), "a": agentInWords("doctor")},
	"hookmux run":       {"agent": agentInWords("run"), "a": agentInWords("run")},
	"hookmux approve":   {"all": allInWords, "a": allInWords, "deny": "`hookmux deny REQUEST` denies", "no": "`hookmux deny REQUEST` denies"},
	"hookmux resume":    {"last": "name a session, or use --all"},
	"hookmux trust":     {"dry-run": "`hookmux trust show` shows what the project would run"},
	"hookmux guard on":  {"mode": "use `hookmux guard mode NAME MODE`"},
	"hookmux rules on":  {"mode": "use `hookmux rules mode NAME MODE`"},
	"hookmux hooks on":  {"mode": "use `hookmux hooks mode ID MODE`"},
	"hookmux status":    {"watch": followInWords, "follow": followInWords, "f": followInWords, "w": followInWords},
	"hookmux ps": {"q": idsInWords("ps"), "quiet": idsInWords("ps"), "sort": "waiting sessions come first, those that have waited longest " +
		"on top; `hookmux ps --json | jq 'sort_by(.startedAt)'` sorts by another field"},
	"hookmux log":         {"status": "`hookmux ps --all --status failed` filters sessions by status; log has --decision and --kind"},
	"hookmux show":        {"all": "`hookmux ps --all` lists every session"},
	"hookmux hooks add":   {"run": runInWords, "command": runInWords, "cmd": runInWords, "exec": runInWords, "script": runInWords},
	"hookmux guard pause": {"for": spanInWords("guard pause destructive"), "duration": spanInWords("guard pause destructive")},
	"hookmux rules pause": {"for": spanInWords("rules pause NAME"), "duration": spanInWords("rules pause NAME")},
	"hookmux off":         {"end": "`hookmux on` turns everything on again", "for": spanInWords("off"), "duration": spanInWords("off")},
	"hookmux deny":        {"all": allInWords, "a": allInWords, "reason": reasonInWords, "message": reasonInWords, "m": reasonInWords, "msg": reasonInWords, "text": reasonInWords, "note": reasonInWords},
	"hookmux daemon":      {"restart": "did you mean `hookmux daemon restart`?", "stop": "did you mean `hookmux daemon stop`?", "start": "did you mean `hookmux daemon start`?", "foreground": daemonFlagInWords, "d": daemonFlagInWords, "detach": daemonFlagInWords, "background": daemonFlagInWords},
	"hookmux setup":       {"only": "`hookmux setup --skip STEP` leaves steps out", "agent": "`hookmux install NAME` hooks one agent"},
	"hookmux install":     {"global": "it installs for all your projects, unless you say --project", "all": "without names it hooks every agent on this machine", "agent": agentInWords("install"), "a": agentInWords("install")},
	"hookmux web": {"stop": "`hookmux web off` stops serving the page", "off": "`hookmux web off` stops serving the page",
		"port": webOnInWords, "p": webOnInWords, "host": webOnInWords, "address": webOnInWords, "listen": webOnInWords,
		"tailscale": "use it with `hookmux web on`", "public-url": "use it with `hookmux web on`", "cert": "use it with `hookmux web on`",
		"key": "use it with `hookmux web on`", "insecure": "use it with `hookmux web on`", "no-open": "use it with `hookmux web on`"},
	"hookmux web on":     {"port": portInWords("4665"), "p": portInWords("4665"), "host": portInWords("4665"), "address": portInWords("4665")},
	"hookmux fleet init": {"port": portInWords("4670"), "p": portInWords("4670"), "host": portInWords("4670")},
	"hookmux inbox": {"q": idsInWords("inbox"), "quiet": idsInWords("inbox"), "agent": byAgentInWords, "a": byAgentInWords,
		"wait": "`hookmux inbox -f` waits for new requests", "w": "`hookmux inbox -f` waits for new requests"},
	"hookmux skip":      {"all": allInWords, "a": allInWords},
	"hookmux away":      {"until": awayInWords, "for": awayInWords},
	"hookmux guard off": {"for": "`hookmux guard pause NAME 30m` is for a while"},
	"hookmux hooks set": {"mode": "use `hookmux hooks mode ID MODE`", "event": "remove the hook, and add it for the other event"},
}

const (
	runInWords        = "`--handler command --target ./check.sh` says what the hook runs"
	awayInWords       = "`hookmux away` lasts until `hookmux away --end`"
	byAgentInWords    = "it shows every agent's requests; `hookmux inbox --json | jq '.[] | select(.agent == \"claude\")'` filters"
	reasonInWords     = "the reason needs no flag: `hookmux deny REQUEST 'use pnpm'`"
	daemonFlagInWords = "`hookmux daemon run` runs in the foreground, `hookmux daemon start` in the background"
)

const webOnInWords = "`hookmux web on --listen 127.0.0.1:4665` sets address and port"

func spanInWords(command string) string {
	return "the duration needs no flag: `hookmux " + command + " 30m`"
}

func portInWords(port string) string {
	return "`--listen 127.0.0.1:" + port + "` sets address and port"
}

const followInWords = "`hookmux ps -f` and `hookmux log -f` follow"

const allInWords = "answer one request at a time, or several in the live view: `hookmux`"

func agentInWords(command string) string { return "names need no flag: `hookmux " + command + " NAME`" }

func idsInWords(command string) string {
	return "`hookmux " + command + " --json | jq -r '.[].id'` prints only IDs"
}

// FlagError turns what the flag parser says into one sentence that names the flag that was
// probably meant.
func FlagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var noValue *pflag.ValueRequiredError
	var badValue *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		return unknownFlag(cmd, missing)
	case errors.As(err, &noValue):
		return flagNeedsValue(cmd, noValue)
	case errors.As(err, &badValue):
		return badFlagValue(badValue)
	}
	var syntax *pflag.InvalidSyntaxError
	if errors.As(err, &syntax) {
		return UsageError("%q isn't a flag; `%s --help` lists the flags", syntax.GetSpecifiedFlag(), cmd.CommandPath())
	}
	return UsageError("%s; see `%s --help`", err, cmd.CommandPath())
}

func unknownFlag(cmd *cobra.Command, missing *pflag.NotExistError) error {
	name, dashes := missing.GetSpecifiedName(), "--"
	if group := missing.GetSpecifiedShortnames(); group != "" {
		if name[0] >= '0' && name[0] <= '9' {
			return UsageError("%q can't be negative; see `%s --help`", "-"+group, cmd.CommandPath())
		}
		dashes = "-"
		if len(group) > 2 && cmd.Flags().Lookup(group) != nil { // -json
			return UsageError("there's no flag -%s; did you mean --%s?", group, group)
		}
	}
	name, _, _ = strings.Cut(name, "=")
	if say := flagsInWords[cmd.CommandPath()][name]; say != "" {
		return UsageError("there's no flag %s%s; %s", dashes, name, say)
	}
	var known, others []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	for other := range meantFlags {
		if len(other) > 1 && meantFlag(cmd, other) != nil {
			others = append(others, other)
		}
	}
	if f := meantFlag(cmd, name); f != nil {
		return UsageError("there's no flag %s%s; did you mean %s?", dashes, name, showFlag(f))
	}
	if dashes == "--" {
		if near := similar.Nearest(name, known); near != "" {
			return UsageError("there's no flag --%s; did you mean --%s?", name, near)
		}
		if near := similar.Nearest(name, others); near != "" {
			return UsageError("there's no flag --%s; did you mean %s?", name, showFlag(meantFlag(cmd, near)))
		}
	}
	known = slices.DeleteFunc(known, func(name string) bool { return name == "help" })
	if len(known) == 1 && cmd.HasParent() {
		return UsageError("there's no flag %s%s; the only one is --%s", dashes, name, known[0])
	}
	if len(known) > 1 && len(known) <= 6 {
		return UsageError("there's no flag %s%s; choose from --%s", dashes, name, strings.Join(known, ", --"))
	}
	return UsageError("there's no flag %s%s; `%s --help` lists the flags", dashes, name, cmd.CommandPath())
}

// MeantFlag adds to an error about a name that it's a flag of cmd, written without its dashes.
func MeantFlag(cmd *cobra.Command, err error) error {
	if err == nil || cmd.Flags().NArg() != 1 {
		return err
	}
	f := cmd.Flags().Lookup(strings.ToLower(cmd.Flags().Arg(0)))
	no, _, _ := strings.Cut(err.Error(), ";")
	if f == nil || f.Hidden || f.Value.Type() != "bool" || !strings.HasPrefix(no, "there's no ") {
		return err
	}
	return UsageError("%s; did you mean `%s --%s`?", no, cmd.CommandPath(), f.Name)
}

// CheckEmpty rejects a flag with an empty value, such as --agent "$AGENT" without that
// variable.
func CheckEmpty(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := strings.TrimSpace(f.Value.String())
		empty := value == "" || value == "[]" && f.Value.Type() != "string"
		if strings.HasPrefix(f.Value.Type(), "string") && empty && err == nil {
			err = UsageError("--%s is empty; give it a value or leave it out", f.Name)
		}
	})
	return err
}

// meantFlag returns the flag of cmd that means what another tool's flag does. It never answers
// a question for you.
func meantFlag(cmd *cobra.Command, name string) *pflag.Flag {
	for _, word := range meantFlags[name] {
		if f := cmd.Flags().Lookup(word); f != nil && !f.Hidden {
			return f
		}
	}
	return nil
}

// shortFlag writes a flag as you would type it.
func shortFlag(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// showFlag writes a flag as help does.
func showFlag(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + " (--" + f.Name + ")"
	}
	return "--" + f.Name
}

func flagNeedsValue(cmd *cobra.Command, e *pflag.ValueRequiredError) error {
	given := "--" + e.GetSpecifiedName()
	if e.GetSpecifiedShortnames() != "" {
		given = "-" + e.GetSpecifiedName()
	}
	example := map[string]string{"agent": "claude", "kind": "tool.before", "since": "1h", "until": "1h", "limit": "20",
		"count": "20", "for": "10m", "timeout": "30s", "session": "%3", "decision": "deny", "mode": "block"}[e.GetFlag().Name]
	if example == "" {
		return UsageError("%s needs a value; see `%s --help`", given, cmd.CommandPath())
	}
	text := given + " needs a value, such as " + given + " " + example
	if given == "-a" && cmd.Flags().Lookup("all") != nil {
		text += "; to show everything, use --all"
	}
	return UsageError("%s", text)
}

func badFlagValue(e *pflag.InvalidValueError) error {
	f := e.GetFlag()
	given := "--" + f.Name
	if f.Shorthand != "" {
		given = "-" + f.Shorthand
	}
	number := "a whole number; write " + given + " 20"
	what := map[string]string{"int": number, "uint": number, "int64": number,
		"float64": "a number", "duration": "a duration; write 30s, 10m or 1h", "bool": "true or false"}[f.Value.Type()]
	if what == "" {
		return UsageError("%s %q isn't valid: %v", given, e.GetValue(), e.Unwrap())
	}
	return UsageError("%s %q isn't %s", given, e.GetValue(), what)
}
