package cmdutil

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/selection/config"
)

// SubcommandArgs is for a command that does its work through subcommands.
func SubcommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(cmd, args)
	}
	return nil
}

// SomeArgs is for a command that takes one argument or several of a kind.
func SomeArgs(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return ExactArgs(name)(cmd, args)
		}
		return nil
	}
}

// ExactArgs makes a wrong number of arguments a usage error that names them.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return missingArgs(cmd, args, names[len(args):])
		}
		if len(args) > len(names) {
			return TooManyArgs(cmd, args, len(names))
		}
		return nil
	}
}

// missingArgs names the arguments that are missing, and the command that lists what could be
// the first of them.
func missingArgs(cmd *cobra.Command, args, names []string) error {
	if len(args) == 1 && names[0] == "TEXT" {
		if strings.HasPrefix(args[0], "%") || looksLikeSession(args[0]) {
			return UsageError("what should it say? As in `%s %s \"now run the tests\"`", cmd.CommandPath(), args[0])
		}
		return UsageError("which session? As in `%s SESSION %q`; `hookmux ps` lists them", cmd.CommandPath(), args[0])
	}
	if kind, list := whatIs(cmd, names[0]); list != "" && len(names) < 3 {
		text := "which " + kind + "? `" + list + "` lists them"
		if f := cmd.Flags().Lookup("all"); f != nil && strings.Contains(cmd.Use, "["+names[0]) {
			text += "; --all means all of them"
		}
		return UsageError("%s", text)
	}
	if names[0] == "MODE" {
		return UsageError("which mode? Choose from off, log, ask, block")
	}
	text := strings.Join(names, " and ") + " " + map[bool]string{true: "are", false: "is"}[len(names) > 1] + " missing"
	if example := firstExample(cmd); example != "" {
		return UsageError("%s, as in `%s`", text, example)
	}
	return UsageError("%s; see `%s --help`", text, cmd.CommandPath())
}

// looksLikeSession distinguishes the beginning of a session's ID from a text.
func looksLikeSession(word string) bool {
	return len(word) >= 4 && strings.ContainsAny(word, "0123456789") && PlainName(word)
}

// firstExample returns the first of a command's examples that is a single line.
func firstExample(cmd *cobra.Command) string {
	for line := range strings.Lines(cmd.Example) {
		line, _, _ = strings.Cut(line, "  #")
		if line = strings.TrimSpace(line); strings.HasPrefix(line, cmd.CommandPath()+" ") && !strings.HasSuffix(line, "\\") {
			return line
		}
	}
	return ""
}

// whatIs returns what kind of thing an argument is, and which command lists its values.
func whatIs(cmd *cobra.Command, name string) (kind, list string) {
	parent := ""
	if cmd.Parent() != nil {
		parent = cmd.Parent().Name()
	}
	switch name {
	case "SESSION":
		return "session", "hookmux ps"
	case "REQUEST":
		return "request", "hookmux inbox"
	case "AGENT":
		return "agent", "hookmux agents"
	case "KEY":
		return "setting", "hookmux config list --all"
	}
	switch parent + " " + name {
	case "guard NAME":
		return "guard", "hookmux guard list"
	case "rules NAME":
		if cmd.Name() == "remove" {
			return "pack", "hookmux rules list"
		}
		return "rule or pack", "hookmux rules list"
	case "agents NAME":
		return "agent", "hookmux agents"
	case "permissions ID":
		return "permission", "hookmux permissions"
	case "exception RULE":
		if cmd.Name() == "remove" {
			return "exception", "hookmux guard exception list"
		}
		return "rule", "hookmux guard list --rules"
	}
	return "", ""
}

// TooManyArgs is about args[n], the first argument that cmd doesn't take: what was probably
// meant by it, or else what cmd takes.
func TooManyArgs(cmd *cobra.Command, args []string, n int) error {
	arg, path := args[n], strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	no := fmt.Sprintf("unexpected argument %q", arg)
	suggest := func(words ...string) error {
		return UsageError("%s; did you mean `%s`?", no, strings.TrimSpace(strings.Join(words, " ")))
	}
	_, takes, _ := strings.Cut(cmd.Use, " ")
	takes = strings.TrimSpace(strings.TrimPrefix(takes, "[flags]"))
	first, _, _ := strings.Cut(takes, " | ")
	last := first[strings.LastIndexByte(first, ' ')+1:]
	if n > 0 && last == "[DURATION]" {
		span := config.SpanMeant(args[n-1] + " " + arg) // 10 minutes, or 1h 30m
		if _, err := config.ParseSpan(args[n-1] + arg); span == "" && err == nil {
			span = args[n-1] + arg
		}
		if span != "" {
			return suggest(cmd.CommandPath(), QuoteWords(append(slices.Clone(args[:n-1]), span)))
		}
	}
	if n == len(strings.Fields(first)) && slices.Contains([]string{"TEXT", "TITLE", "NAME"}, last) && len(strings.Fields(takes)) > 1 {
		return UsageError("quote the %s: %s %s %q", strings.ToLower(last), cmd.CommandPath(), QuoteWords(args[:n-1]),
			strings.Join(args[n-1:], " "))
	}
	if f := cmd.Flags().Lookup("since"); f != nil && f.Changed && n == 0 {
		if span := config.SpanMeant(f.Value.String() + " " + arg); span != "" { // --since 3 days
			return suggest(cmd.CommandPath(), "--since", span, QuoteWords(args[n+1:]))
		}
	}
	if f := cmd.Flags().Lookup("agent"); f != nil && isAgent(arg) {
		return suggest(cmd.CommandPath(), shortFlag(f), arg)
	}
	if command := meantBelow[path][strings.ToLower(arg)]; command != "" {
		return suggest(cmd.Root().Name(), command)
	}
	if path == "ps" && slices.Contains([]string{"running", "done", "failed", "idle", "unknown"}, strings.ToLower(arg)) {
		return suggest("hookmux ps --status", strings.ToLower(arg))
	}
	if f := FlagNamed(cmd, arg); f != nil {
		return suggest(cmd.CommandPath(), shortFlag(f), QuoteWords(args[n+1:]))
	}
	if n == 0 && slices.Contains(listing, strings.ToLower(arg)) {
		return suggest(cmd.CommandPath())
	}
	if path == "status" && isAgent(arg) {
		return suggest("hookmux agents show", arg)
	}
	if say := inWords[path][strings.ToLower(arg)]; say != "" {
		return UsageError("%s; %s", no, say)
	}
	if cmd.Flags().Lookup("since") != nil {
		_, isDay := Day(arg, time.Now())
		if _, err := config.ParseSpan(arg); err == nil && !isNumber(arg) || isDay {
			return suggest(cmd.CommandPath(), "--since", arg)
		}
	}
	if say := argsInWords[path]; say != "" {
		return UsageError("%s; %s", no, say)
	}
	if command, ok := otherCommand[path]; ok {
		return UsageError("%s takes no %s; did you mean `hookmux %s %s`?", path, command.takes, command.name,
			QuoteWords([]string{arg}))
	}
	if isNumber(arg) && cmd.Flags().ShorthandLookup("n") != nil {
		return suggest(cmd.CommandPath(), "-n", arg)
	}
	if path == "audit export" && strings.Contains(arg, ".") {
		return suggest(cmd.CommandPath(), ">", QuoteWords(args[n:]))
	}
	if path == "setup" && isAgent(arg) {
		return suggest("hookmux install", arg)
	}
	if path == "usage budget add" {
		return suggest(cmd.CommandPath(), "--day", arg)
	}
	if path == "log" {
		return suggest(cmd.CommandPath(), "--text", QuoteWords(args[n:]))
	}
	if takes == "" {
		return UsageError("%s; `%s` takes none", no, cmd.CommandPath())
	}
	return UsageError("%s; write `%s %s`", no, cmd.CommandPath(), takes)
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// listing has words for what a command that lists does anyway.
var listing = []string{"list", "ls", "show", "all", "status", "get", "print", "view", "info", "now"}

// FlagNamed returns the flag of cmd that was written without its dashes, or nil.
func FlagNamed(cmd *cobra.Command, word string) *pflag.Flag {
	word = strings.ToLower(word)
	if f := cmd.Flags().Lookup(word); f != nil && !f.Hidden {
		return f
	}
	return meantFlag(cmd, word)
}

// otherCommand is the command that takes the name that a list takes none of.
var otherCommand = map[string]struct{ takes, name string }{
	"ps": {"session", "show"}, "inbox": {"request", "approve"}, "agents list": {"name", "agents show"},
	"guard list": {"name", "guard show"}, "rules list": {"name", "rules show"}, "config list": {"name", "config get"},
}

// argsInWords explains arguments of commands that take none, although you might expect one.
var argsInWords = map[string]string{
	"away":         awayInWords,
	"web pair":     "name the device with `hookmux web pair --name NAME`",
	"fleet invite": "the code is for any one machine, which gives its own name when it joins",
	"fleet status": "it's about this machine; `hookmux fleet list` shows the others",
	"audit verify": "it checks the whole trail",
	"usage limits": "it shows every plan",
	"off":          "`hookmux off` turns everything off; for one guard, use `hookmux guard off NAME`",
	"on":           "`hookmux on` turns everything on; for one guard, use `hookmux guard on NAME`",
	"notify on":    channelsInWords,
	"notify off":   channelsInWords,
	"notify test":  "it tests every channel that `hookmux notify` shows, and `hookmux config set notify.channels …` chooses them",
	"trust show":   "it shows the project in this folder; change to the other one first",
	"status":       "`hookmux show SESSION` shows one session, `hookmux agents show NAME` one agent",
}

// OptionalArg allows one argument, or none.
func OptionalArg() cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return TooManyArgs(cmd, args, 1)
		}
		return nil
	}
}

// PlainName reports whether s can be the name of a function in every shell.
func PlainName(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return s != "" && s[0] != '-'
}
