package cmdutil

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/similar"
)

// meant maps words that users bring from other tools to hookmux's own, the likeliest first.
// None leads to a command that protects less than the word that was typed.
var meant = map[string][]string{
	"ls": {"ps", "list"}, "list": {"ps"}, "sessions": {"ps"}, "session": {"show", "ps"}, "processes": {"ps"}, "agent": {"agents"},
	"enable": {"on"}, "disable": {"off"}, "activate": {"on"}, "deactivate": {"off"}, "mask": {"guard off"},
	"requests": {"inbox"}, "feed": {"inbox"}, "queue": {"inbox"}, "pending": {"inbox"}, "questions": {"inbox"},
	"yes": {"approve"}, "accept": {"approve"}, "allow": {"permissions", "exception"}, "answer": {"approve"},
	"plan": {"approve"}, "no": {"deny"}, "reject": {"deny"}, "release": {"skip"}, "dismiss": {"skip"},
	"allowlist": {"permissions"}, "whitelist": {"permissions"}, "grants": {"permissions"}, "permission": {"permissions"},
	"pause": {"guard pause"}, "snooze": {"guard pause"}, "nap": {"guard pause", "pause"}, "mute": {"notify off"},
	"start": {"daemon start", "run"}, "stop": {"daemon stop", "off"}, "restart": {"daemon restart"}, "hub": {"daemon"},
	"demo": {"up --demo"}, "machines": {"remote", "fleet list"}, "hosts": {"remote"}, "servers": {"remote"}, "ssh": {"remote"},
	"exceptions": {"guard exception"}, "exception": {"guard exception"}, "trail": {"audit"}, "phone": {"web"}, "token": {"usage"},
	"doc": {"help"}, "docs": {"help"}, "man": {"help"}, "commands": {"help"}, "prompt": {"send"}, "say": {"send"}, "message": {"send"},
	"continue": {"resume"}, "back": {"away --end"}, "return": {"away --end"}, "setting": {"config"}, "fix": {"doctor --fix"},
	"repair": {"doctor --fix"}, "validate": {"verify", "check"}, "lint": {"rules check", "check"}, "unset": {"config unset"},
	"reload": {"daemon restart"}, "serve": {"daemon run"}, "server": {"daemon"},
	"watch": {"log -f"}, "tail": {"log -f"}, "events": {"log"}, "history": {"log"}, "journal": {"log"}, "journalctl": {"log"},
	"search": {"log --text"}, "find": {"log --text"}, "grep": {"log --text"},
	"explain": {"why"}, "test": {"why"}, "confirm": {"config accept"}, "settings": {"config"}, "set": {"config set"},
	"dashboard": {"up"}, "view": {"show", "up"}, "tui": {"up"}, "top": {"up"}, "monitor": {"up", "log"},
	"browse": {"web on"}, "browser": {"web on"}, "devices": {"web devices"}, "pair": {"web pair"},
	"seat": {"whoami"}, "untrust": {"trust remove"}, "attach": {"jump"}, "open": {"jump"}, "goto": {"jump"}, "go": {"jump"},
	"cd": {"jump"}, "describe": {"show"}, "inspect": {"show"}, "info": {"status", "show"}, "exec": {"run"}, "launch": {"run"},
	"pack": {"rules"}, "packs": {"rules"}, "module": {"typescript", "hooks"}, "modules": {"hooks"}, "hook": {"hooks"}, "rule": {"rules"},
	"guards": {"guard"}, "stats": {"status --hooks"}, "check": {"doctor"}, "health": {"doctor"},
	"diagnose": {"doctor"}, "init": {"setup"}, "is-active": {"status"}, "is-enabled": {"status"},
	"cost": {"usage"}, "costs": {"usage"}, "tokens": {"usage"}, "spend": {"usage"}, "budget": {"usage budget"},
	"budgets": {"usage budget"}, "limits": {"usage limits"},
	"del": {"remove"}, "delete": {"remove"}, "rm": {"remove"}, "revoke": {"remove"},
	"create": {"new", "add"}, "get": {"show", "list"}, "print": {"show", "list"}, "block": {"on"}, "logs": {"log"},
	"notifications": {"notify"}, "verbose": {"all"},
	"denied": {"deny"}, "blocked": {"deny"}, "refused": {"deny"}, "allowed": {"allow"}, "approved": {"allow"}, "asked": {"ask"}, "changed": {"modify"},
	"shell": {"command"}, "ts": {"typescript"}, "js": {"typescript"}, "javascript": {"typescript"},
}

// meantBelow has the words whose meaning depends on the command they follow, and what to write
// instead, from "hookmux" on.
var meantBelow = map[string]map[string]string{
	"audit": {"check": "audit verify", "list": "audit export", "log": "audit export", "print": "audit export", "ls": "audit export"},
	"fleet": {"create": "fleet init", "new": "fleet init", "start": "fleet init", "serve": "fleet init", "add": "fleet invite",
		"accept": "fleet invite", "members": "fleet list", "machines": "fleet list", "ls": "fleet list", "show": "fleet status",
		"info": "fleet status", "exit": "fleet leave", "quit": "fleet leave", "stop": "fleet leave", "off": "fleet leave",
		"end": "fleet leave --delete-fleet", "destroy": "fleet leave --delete-fleet", "kick": "fleet remove", "rules": "fleet policy",
		"connect": "fleet join", "enter": "fleet join", "logs": "fleet log", "events": "fleet log"},
	"fleet policy": {"set": "fleet policy push", "add": "fleet policy push", "upload": "fleet policy push", "apply": "fleet policy push",
		"remove": "fleet policy clear", "delete": "fleet policy clear", "rm": "fleet policy clear", "off": "fleet policy clear",
		"show": "fleet policy status", "list": "fleet policy status", "get": "fleet policy status", "pull": "fleet policy status"},
	"remote": {"show": "remote list", "status": "remote list", "connect": "remote add", "new": "remote add", "create": "remote add",
		"update": "remote add", "ssh": "ps --host", "disconnect": "remote remove", "unlink": "remote remove"},
	"usage budget": {"set": "usage budget add", "new": "usage budget add", "create": "usage budget add", "show": "usage budget list",
		"clear": "usage budget remove", "reset": "usage budget remove", "off": "usage budget remove"},
	"usage": {"all": "usage --since all", "agents": "usage --by agent",
		"models": "usage --by model", "projects": "usage --by project", "sessions": "usage --by session", "days": "usage --by day",
		"daily": "usage --by day", "total": "usage", "list": "usage", "show": "usage", "ls": "usage"},
	"permissions": {"show": "permissions list", "get": "permissions list", "clear": "permissions remove", "revoke": "permissions remove",
		"reset": "permissions remove"},
	"hooks": {"create": "hooks new", "edit": "hooks set", "change": "hooks set", "update": "hooks set", "enable": "hooks on",
		"disable": "hooks off", "events": "hooks discover", "types": "hooks discover", "check": "hooks test", "run": "hooks test", "show": "hooks list",
		"status": "hooks list", "all": "hooks list"},
	"daemon": {"kill": "daemon stop", "stat": "daemon status", "stats": "daemon status", "info": "daemon status", "show": "daemon status", "list": "daemon status", "foreground": "daemon run"},
	"config": {"delete": "config unset", "remove": "config unset", "rm": "config unset", "del": "config unset",
		"reset": "config unset", "show": "config get", "confirm": "config accept", "schema": "schema"},
	"agents": {"enable": "install", "add": "install", "install": "install", "on": "install", "hook": "install",
		"disable": "uninstall", "remove": "uninstall", "rm": "uninstall", "uninstall": "uninstall", "off": "uninstall",
		"sessions": "ps", "ps": "ps", "status": "agents list", "info": "agents show",
		"test": "verify", "verify": "verify"},
	"guard": {"status": "guard list", "all": "guard list", "edit": "guard mode", "set": "guard mode", "change": "guard mode",
		"rm": "guard off", "remove": "guard off", "delete": "guard off", "add": "guard on",
		"exceptions": "guard exception list", "test": "why", "explain": "why"},
	"tmux": {"on": "tmux install", "off": "tmux uninstall", "add": "tmux install", "remove": "tmux uninstall",
		"enable": "tmux install", "disable": "tmux uninstall", "setup": "tmux install"},
	"rules":  {"status": "rules list", "all": "rules list", "test": "why", "explain": "why", "lint": "rules check", "validate": "rules check", "upgrade": "rules update"},
	"whoami": {"trust": "whoami add", "enrol": "whoami add"},
	"inbox":  {"approve": "approve", "deny": "deny", "skip": "skip", "list": "inbox", "ls": "inbox"},
	"notify": {"start": "notify on", "stop": "notify off", "list": "notify status", "show": "notify status", "channels": "notify status"},
	"web": {"start": "web on", "open": "web on", "serve": "web on", "enable": "web on", "stop": "web off", "disable": "web off", "end": "web off",
		"close": "web off", "show": "web status", "list": "web devices", "unpair": "web devices remove",
		"remove": "web devices remove", "rm": "web devices remove"},
	"web devices": {"unpair": "web devices remove", "revoke": "web devices remove", "add": "web pair", "pair": "web pair",
		"new": "web pair", "show": "web devices list"},
	"trust": {"yes": "trust", "status": "trust show", "check": "trust show", "revoke": "trust remove", "off": "trust remove"},
	"away":  {"off": "away --end", "end": "away --end", "stop": "away --end", "back": "away --end", "on": "away", "start": "away"},
}

// inWords answers what no command does, by the command it was typed after ("" for hookmux itself).
var inWords = map[string]map[string]string{
	"": {
		"new":     "`hookmux run AGENT` starts an agent; `hookmux rules new` and `hookmux hooks new` write a file to start from",
		"update":  "install the new version, then run `hookmux install`",
		"upgrade": "install the new version, then run `hookmux install`",
		"kill":    "hookmux doesn't end agents (`hookmux jump` takes you to one); `hookmux daemon stop` stops the daemon",
		"quit":    "`hookmux off` turns hooks off; `hookmux daemon stop` stops the daemon",
		"exit":    "`hookmux off` turns hooks off; `hookmux daemon stop` stops the daemon",
		"allow":   permissionsInWords,
		"ahp":     "hookmux no longer speaks the Agent Hooks Protocol; a command hook can ask a policy server (docs/hooks.md)",
		"delete":  removeInWords, "remove": removeInWords, "rm": removeInWords, "del": removeInWords,
	},
	"guard": {"ask": modeInWords("ask"), "log": modeInWords("log"), "new": guardsInWords, "create": guardsInWords, "resume": unpauseInWords, "unpause": unpauseInWords,
		"unmute": unpauseInWords, "continue": unpauseInWords},
	"daemon":      {"log": daemonLogInWords, "logs": daemonLogInWords, "enable": daemonInWords, "install": daemonInWords, "disable": "`hookmux off` turns all hooks and guards off"},
	"trust":       {"all": "trust one project at a time: run `hookmux trust` in its folder"},
	"setup":       {"only": "`hookmux setup --skip STEP` leaves steps out"},
	"config":      {"edit": "edit ~/.config/hookmux/config.json, then run `hookmux config accept`"},
	"rules":       {"test": rulesTestInWords, "edit": "edit the files in ~/.config/hookmux/rules, then run `hookmux rules check`"},
	"agents":      {"add": describeInWords, "new": describeInWords, "create": describeInWords},
	"permissions": {"add": permissionsInWords, "new": permissionsInWords, "create": permissionsInWords},
	"ps": {"waiting": "`hookmux inbox` shows what is waiting", "ended": "`hookmux ps --all` shows them, too",
		"kill": "hookmux doesn't end agents; `hookmux jump` takes you to one", "stop": "hookmux doesn't end agents; `hookmux jump` takes you to one"},
	"log": {"clear": logInWords, "delete": logInWords, "rm": logInWords, "remove": logInWords, "reset": logInWords},
	"inbox": {"clear": "`hookmux skip` hands one request back to its agent, `hookmux deny` denies it",
		"count": "`hookmux inbox --json | jq length` counts"},
	"show":  {"last": "`hookmux ps` lists the sessions"},
	"fleet": {"update": "install the new version on each machine"},
	"notify": {"add": channelsInWords, "set": channelsInWords, "remove": channelsInWords, "desktop": channelsInWords,
		"terminal": channelsInWords, "bell": channelsInWords, "sound": channelsInWords, "webhook": channelsInWords, "slack": webhookInWords("slack"), "discord": webhookInWords("discord"),
		"telegram": webhookInWords("telegram"), "ntfy": webhookInWords("ntfy")},
}

func modeInWords(mode string) string { return "`hookmux guard mode NAME " + mode + "` sets the mode" }

func webhookInWords(format string) string {
	return "it's a webhook: set notify.webhookFormat to " + format + ", notify.webhook to its address, and add webhook to notify.channels " +
		"(`hookmux config set KEY VALUE`)"
}

const (
	channelsInWords    = "channels are a setting: `hookmux config set notify.channels desktop,webhook`"
	describeInWords    = "describe it in a file in ~/.config/hookmux/agents, then run `hookmux agents check FILE`"
	guardsInWords      = "guards are built in; `hookmux rules new` writes rules of your own"
	unpauseInWords     = "`hookmux guard pause NAME --end` ends a pause"
	daemonInWords      = "the daemon starts by itself with the next hook; `hookmux install` sets it up"
	daemonLogInWords   = "`hookmux daemon status` shows where its own log is; `hookmux log` shows what agents did"
	rulesTestInWords   = "`hookmux why 'git push --force'` shows what rules say to a command, `hookmux rules check` runs their examples"
	logInWords         = "events are kept as long as the setting journal.keep says: `hookmux config set journal.keep 7d`"
	permissionsInWords = "`hookmux approve --always` saves a permission while a request is waiting; `hookmux rules new` allows " +
		"commands in advance"
	removeInWords = "`hookmux rules`, `hooks` and `permissions` each have `remove`; `hookmux uninstall` removes hookmux's hooks"
)

// UnknownName says that there's no such thing as name, which one of known was probably meant,
// and which command lists them all.
func UnknownName(kind, name string, known []string, list string) error {
	if strings.TrimSpace(name) == "" {
		text := "the name of the " + kind + " is empty"
		if list != "" {
			text += "; `" + list + "` lists them"
		}
		return &CodeError{Code: ExitUsage, Message: text}
	}
	if names := strings.Split(name, ","); len(names) > 1 && slices.ContainsFunc(names, func(n string) bool { return slices.Contains(known, n) }) {
		return UsageError("there's no %s %q; separate names with spaces: %s", kind, name, strings.Join(names, " "))
	}
	if word := probably(name, known); word != "" && word != name {
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
	if slices.Contains(everything, strings.ToLower(name)) {
		return UsageError("there's no agent %q; to mean every agent, leave the name out", name)
	}
	return UnknownName("agent", name, known, "hookmux agents --all")
}

// UnknownMode says which mode you probably meant. What protects is never taken for something
// weaker.
func UnknownMode(word string, modes []string) error {
	meant := map[string]string{"on": "block", "deny": "block", "enable": "block", "enabled": "block", "true": "block", "yes": "block",
		"stop": "block", "strict": "block", "monitor": "log", "record": "log", "warn": "log", "watch": "log", "audit": "log",
		"confirm": "ask", "prompt": "ask", "disable": "off", "disabled": "off", "false": "off", "no": "off", "none": "off"}[strings.ToLower(word)]
	if meant != "" {
		return UsageError("there's no mode %q; did you mean %q?", word, meant)
	}
	return UnknownName("mode", word, modes, "")
}

// everything has words for all there is.
var everything = []string{"all", "any", "every", "everything", "*"}

// CheckChoice rejects a value that isn't among the choices.
func CheckChoice(kind, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return UnknownName(kind, value, choices, "")
}

// CheckFlag rejects a flag's value that isn't among the choices.
func CheckFlag(flag, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	text := fmt.Sprintf("--%s can't be %q", flag, value)
	if word := probably(value, choices); word != "" {
		return UsageError("%s; did you mean %q?", text, word)
	}
	return UsageError("%s; choose from %s", text, strings.Join(choices, ", "))
}

// probably returns the entry of known that name was meant to be, or "".
func probably(name string, known []string) string {
	for _, word := range meant[strings.ToLower(name)] {
		if slices.Contains(known, word) {
			return word
		}
	}
	if near := similar.Nearest(name, known); near != "" {
		return near
	}
	var ends []string // rm-broad for destructive.rm-broad
	for _, word := range known {
		if strings.HasSuffix(word, "."+strings.ToLower(name)) {
			ends = append(ends, word)
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return ""
}

// Noun is a subject that has names and subcommands for them, such as guards.
type Noun struct {
	Command string // below hookmux
	Names   func() []string
}

// UnknownCommand says which subcommand of parent was probably meant by the first of words. The
// others are what followed it: the suggestion repeats those that the command takes. nouns says
// what names are names of.
func UnknownCommand(parent *cobra.Command, words []string, nouns ...Noun) error {
	name, rest := strings.ToLower(words[0]), words[1:]
	if strings.TrimSpace(name) == "" {
		return UsageError("the command is empty; `%s --help` lists the commands", parent.CommandPath())
	}
	program := parent.Root().Name()
	if first, more, ok := strings.Cut(words[0], " "); ok {
		if cmd, _, err := parent.Find([]string{first}); err == nil && cmd != parent {
			return UsageError("write it without the quotes: `%s %s %s`", parent.CommandPath(), first, more)
		}
	}
	below := strings.TrimPrefix(strings.TrimPrefix(parent.CommandPath(), program), " ")
	no := fmt.Sprintf("there's no command \"%s %s\"", parent.CommandPath(), words[0])
	if parent.Name() == "completion" {
		return UnknownName("shell", words[0], []string{"bash", "zsh", "fish", "powershell"}, "")
	}
	suggest := func(command string) error {
		return UsageError("%s; did you mean `%s %s`?", no, program, correctName(command, rest, nouns))
	}
	if command := firstThatRuns(parent.Root(), nounFirst(parent, name, rest), nil, len(rest) > 0); command != "" && below == "" {
		return suggest(command)
	}
	if below == "" && name == "ls" && len(rest) > 0 && slices.Contains([]string{"-a", "-al", "-la", "-A", "-Al", "-lA"}, rest[0]) {
		return suggest("ps --all")
	}
	if meant := PeriodMeant(strings.Join(words, " ")); below == "usage" && meant != "" && nearestWord(parent, below, name) != name {
		return suggest("usage --since " + meant)
	}
	if len(rest) > 0 && !slices.Contains(removing, name) && !slices.Contains(switches, name) { // `hookmux allow list`, but not `hookmux allow 'npm test'`
		if command := firstThatRuns(parent.Root(), meantCommands(parent, below, name), rest, true); command != "" &&
			(inWords[below][name] == "" || slices.Contains([]string{"list", "ls"}, rest[0]) || name == "test") {
			return suggest(command)
		}
	}
	if (below == "guard" || below == "rules") && (name == "ask" || name == "log") && len(rest) == 1 {
		return suggest(below + " mode " + rest[0] + " " + name)
	}
	if say := inWords[below][name]; say != "" && !(below == "agents" && len(rest) > 0 && isAgent(rest[0])) {
		return UsageError("%s; %s", no, say)
	}
	if command := meantBelow[below][name]; command != "" {
		if command == "config get" && len(rest) == 0 {
			command = "config list"
		}
		commands := []string{command}
		if noun, ok := strings.CutSuffix(command, " list"); ok && len(rest) == 1 {
			commands = []string{noun + " show", command} // `hookmux guard status secrets`
		}
		return suggest(firstThatRuns(parent.Root(), commands, rest, false))
	}
	if below == "" && isAgent(name) {
		return suggest(strings.TrimSpace("run " + name + " " + QuoteWords(rest)))
	}
	if below == "guard exception" && len(rest) < 2 && !slices.Contains(removing, name) && nearestWord(parent, below, name) == "" {
		return UsageError("%s; `%s guard exception add RULE` lets pass what a rule stops, and `%[2]s guard list --rules` lists the rules", no, program)
	}
	if amount := strings.Trim(name, "0123456789."); below == "usage budget" && amount != name {
		if amount == "" {
			name += "usd"
		}
		return suggest("usage budget add --day " + name + " --block 100%")
	}
	if below == "usage" && isAgent(name) {
		return suggest("usage --by agent")
	}
	if below == "trust" && strings.ContainsAny(name, "/.~") {
		if info, err := os.Stat(words[0]); err != nil || !info.IsDir() {
			return UsageError("there's no folder %s; run `hookmux trust` in the project's folder", words[0])
		}
		if filepath.Clean(words[0]) == "." {
			return UsageError("trust takes no folder; did you mean `hookmux trust`?")
		}
		return UsageError("trust takes no folder; did you mean `cd %s && hookmux trust`?", words[0])
	}
	if command := swappedNoun(parent, below, words, nouns, true); command != "" {
		return suggest(command)
	}
	if guard, _, isRule := strings.Cut(name, "."); below == "guard" && isRule && swappedNoun(parent, below, []string{guard}, nouns, true) != "" {
		return suggest("guard show " + name)
	}
	if below == "" && slices.Contains(switches, name) {
		return unknownSwitch(no, name, rest, nouns)
	}
	if command := firstThatRuns(parent.Root(), meantCommands(parent, below, name), rest, false); command != "" {
		return suggest(command)
	}
	if near := nearestWord(parent, below, name); near != "" {
		commands := meantCommands(parent, below, near)
		if cmd, _, err := parent.Find([]string{near}); err == nil && cmd != parent {
			commands = []string{strings.TrimSpace(below + " " + near)}
		}
		return suggest(firstThatRuns(parent.Root(), commands, rest, false))
	}
	if command := swappedNoun(parent, below, words, nouns, false); command != "" {
		return suggest(command)
	}
	if below == "permissions" {
		return UsageError("unexpected argument %q; `%[2]s permissions` lists every permission and where it applies, `%[2]s permissions "+
			"remove ID` removes one", words[0], program)
	}
	if names := subcommands(parent); below != "" && len(names) <= 12 {
		return UsageError("%s; choose from %s", no, strings.Join(names, ", "))
	}
	return UsageError("%s; `%s --help` lists the commands", no, parent.CommandPath())
}

// correctName corrects the name at the end of a suggested command, if it was taken over from
// rest and is mistyped, too.
func correctName(command string, rest []string, nouns []Noun) string {
	if len(rest) != 1 || !strings.HasSuffix(command, " "+rest[0]) {
		return command
	}
	for _, noun := range nouns {
		if !strings.HasPrefix(command, noun.Command+" ") {
			continue
		}
		if names := noun.Names(); !slices.Contains(names, rest[0]) {
			if near := similar.Nearest(rest[0], names); near != "" {
				return strings.TrimSuffix(command, rest[0]) + near
			}
		}
	}
	return command
}

// subcommands returns the names of what help lists below parent.
func subcommands(parent *cobra.Command) (names []string) {
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// translated writes the first of rest as command calls it: what follows a word from another
// tool may be one, too, as in "permission revoke".
func translated(root *cobra.Command, command string, rest []string) []string {
	cmd, _, err := root.Find(strings.Fields(command))
	if err != nil || len(rest) == 0 || !cmd.HasSubCommands() {
		return rest
	}
	for _, word := range meant[strings.ToLower(rest[0])] {
		if sub, _, err := cmd.Find([]string{word}); err == nil && sub != cmd {
			return append([]string{word}, rest[1:]...)
		}
	}
	return rest
}

func isAgent(name string) bool {
	_, ok := agent.Builtin().Agent(name)
	return ok
}

// removing has words that must not lead to a command that wasn't named.
var removing = []string{"delete", "remove", "rm", "del"}

// meantCommands returns the commands that a word from another tool means below parent, from
// "hookmux" on.
func meantCommands(parent *cobra.Command, below, name string) []string {
	if command := meantBelow[below][name]; command != "" {
		return []string{command}
	}
	var commands []string
	for _, command := range meant[name] {
		if cmd, _, err := parent.Find(strings.Fields(command)); err == nil && cmd != parent && cmd.IsAvailableCommand() {
			commands = append(commands, strings.TrimSpace(below+" "+command))
		}
	}
	return commands
}

// nearestWord returns the subcommand of parent, or else the word of another tool, that was
// probably mistyped.
func nearestWord(parent *cobra.Command, below, name string) string {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	for _, word := range slices.Sorted(maps.Keys(meant)) {
		if len(word) > 3 && !slices.Contains(switches, word) && len(meantCommands(parent, below, word)) > 0 {
			known = append(known, word)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(meantBelow[below])) {
		if len(word) > 3 {
			known = append(known, word)
		}
	}
	return similar.Nearest(name, known)
}

// nounFirst returns the commands for a verb that was written before the noun, as in "list
// agents" or "get sessions".
func nounFirst(root *cobra.Command, verb string, rest []string) []string {
	if len(rest) == 0 || root.HasParent() {
		return nil
	}
	noun := strings.ToLower(rest[0])
	nouns := append([]string{noun, noun + "s"}, meant[noun]...)
	for _, path := range nouns {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd == root || !cmd.IsAvailableCommand() {
			continue
		}
		more := QuoteWords(rest[1:])
		var commands []string
		for _, word := range append([]string{verb}, meant[verb]...) {
			if sub, _, err := cmd.Find([]string{word}); err == nil && sub != cmd {
				commands = append(commands, strings.TrimSpace(cmd.CommandPath()+" "+word+" "+more))
			}
		}
		if slices.Contains([]string{"list", "ls", "get", "view", "print", "see"}, verb) {
			commands = append(commands, strings.TrimSpace(cmd.CommandPath()+" "+more), cmd.CommandPath())
		}
		for i := range commands {
			commands[i] = strings.TrimPrefix(commands[i], root.Name()+" ")
		}
		return commands
	}
	return nil
}

// firstThatRuns returns the first of commands that takes rest; else the first that runs without
// it, unless all of rest has to stay; else the first with the names of the arguments it needs.
// A guess that can't run is no help.
func firstThatRuns(root *cobra.Command, commands, rest []string, whole bool) string {
	for _, command := range commands {
		for _, rest := range [][]string{rest, translated(root, command, rest)} {
			if runs(root, append(strings.Fields(command), rest...)) {
				return strings.TrimSpace(command + " " + QuoteWords(rest))
			}
		}
	}
	if whole || len(commands) == 0 {
		return ""
	}
	for _, command := range commands {
		if runs(root, strings.Fields(command)) {
			return command
		}
	}
	cmd, _, _ := root.Find(strings.Fields(commands[0]))
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	return strings.TrimSpace(commands[0] + " " + strings.TrimSpace(strings.TrimPrefix(arguments, "[flags]")))
}

// runs reports whether a command takes these flags and as many arguments.
func runs(root *cobra.Command, words []string) bool {
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root || !cmd.Runnable() {
		return false
	}
	if cmd.DisableFlagParsing {
		return true
	}
	return cmd.ParseFlags(rest) == nil && cmd.ValidateArgs(cmd.Flags().Args()) == nil
}

// switches has words that, without a noun, would turn everything off or on.
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

// swappedNoun returns the command for a name that was written before the verb, or without a
// verb.
func swappedNoun(parent *cobra.Command, below string, words []string, nouns []Noun, exact bool) string {
	for _, noun := range nouns {
		if noun.Command != below {
			continue
		}
		name := words[0]
		if names := noun.Names(); !slices.Contains(names, name) {
			if name = similar.Nearest(name, names); exact || name == "" {
				continue
			}
		}
		verb, rest := "show", words[1:]
		if below == "config" {
			if verb = "get"; len(rest) > 0 {
				verb = "set"
			}
		}
		if len(rest) > 0 {
			if cmd, _, err := parent.Find(rest[:1]); err == nil && cmd != parent {
				verb, rest = cmd.Name(), rest[1:]
			}
		}
		return firstThatRuns(parent.Root(), []string{below + " " + verb + " " + name}, rest, false)
	}
	return ""
}

// QuoteWords joins words so that a shell reads them back.
func QuoteWords(words []string) string {
	var out []string
	for _, w := range words {
		if strings.ContainsAny(w, " '\"\\$;|&<>()*?[]{}!#\n\t") || w == "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// UnknownSubcommand is [UnknownCommand] for words that a command reads itself.
func UnknownSubcommand(path string, words, known []string) error {
	word, rest := words[0], strings.TrimRight(" "+QuoteWords(words[1:]), " ")
	no := fmt.Sprintf("there's no command \"%s %s\"", path, word)
	program, below, _ := strings.Cut(path, " ")
	if command := meantBelow[below][strings.ToLower(word)]; command != "" {
		if strings.HasSuffix(command, " list") && len(words) > 1 && !isAgent(words[1]) {
			rest = "" // a hook's name
		}
		return UsageError("%s; did you mean `%s %s%s`?", no, program, command, rest)
	}
	if near := probably(word, known); near != "" {
		return UsageError("%s; did you mean `%s %s%s`?", no, path, near, rest)
	}
	return UsageError("%s; choose from %s", no, strings.Join(slices.DeleteFunc(known, func(s string) bool { return s == "handle" }), ", "))
}
