package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/ui/text"
)

// helpWidth is the width of help, in a terminal or not.
const helpWidth = 80

// setHelp has every command below root print help that fits a terminal of 80 columns.
func setHelp(root *cobra.Command) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		var b bytes.Buffer
		writeUsage(&b, cmd)
		_, err := io.WriteString(cmd.OutOrStderr(), b.String())
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		var b bytes.Buffer
		about := cmd.Long
		if about == "" {
			about = thirdPerson(cmd.Short) + "."
		}
		fmt.Fprintf(&b, "%s\n\n", reflow(about))
		writeUsage(&b, cmd)
		fmt.Fprint(cmd.OutOrStdout(), b.String())
	})
}

// thirdPerson says what a command does as longer descriptions do: "Prints the version" for
// "Print the version".
func thirdPerson(short string) string {
	verb, rest, _ := strings.Cut(short, " ")
	switch {
	case verb == "Entry":
		return short
	case strings.HasSuffix(verb, "ch"), strings.HasSuffix(verb, "sh"), strings.HasSuffix(verb, "o"), strings.HasSuffix(verb, "ss"):
		verb += "es"
	case strings.HasSuffix(verb, "ry"):
		verb = strings.TrimSuffix(verb, "y") + "ies"
	default:
		verb += "s"
	}
	return verb + " " + rest
}

func writeUsage(w io.Writer, cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("version"); f != nil && f.Usage != "" {
		f.Usage = "print the version"
	}
	line := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	if cmd.HasAvailableSubCommands() && !strings.Contains(line, "VERB") {
		line += " [COMMAND]"
	}
	if cmd.HasAvailableLocalFlags() {
		line += " [flags]"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
	writeCommands(w, cmd)
	if cmd.HasAvailableLocalFlags() {
		if f := cmd.Flags().Lookup("help"); f != nil {
			f.Usage = "show this help"
		}
		nameFlagValues(cmd)
		fmt.Fprintf(w, "\nFlags:\n%s\n", strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(helpWidth), " \n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun `%s COMMAND --help` for more about a command.\n", cmd.CommandPath())
	}
	if !cmd.HasParent() {
		fmt.Fprint(w, "\nExit codes: 0 fine, 1 it failed or something is wrong, 64 wrong arguments, 69 no\ndaemon is running, "+
			"77 refused because of who asked. `hookmux run` exits as the\nagent does, and 127 if it isn't there.\n\nFor programs: `hookmux mcp` (an MCP server) and "+
			"`hookmux schema` (JSON Schemas).\n")
	}
}

// nameFlagValues has help say what a flag takes, as in --since TIME, and not which type of Go
// holds it.
func nameFlagValues(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		kind := f.Value.Type()
		name := cmp.Or(flagValues[cmd.Name()+" --"+f.Name], flagValues[f.Name])
		switch {
		case kind == "bool":
			return
		case name != "":
		case kind == "int":
			name = "N"
		case kind == "duration":
			name = "DURATION"
		default:
			name = strings.ToUpper(f.Name[strings.LastIndexByte(f.Name, '-')+1:])
		}
		if f.DefValue == "[]" || f.DefValue == "0s" {
			f.DefValue = ""
		}
		f.Value = namedValue{f.Value, name}
	})
}

// flagValues describe the values of flags whose name doesn't say it.
var flagValues = map[string]string{"for": "DURATION", "timeout": "DURATION", "since": "TIME", "until": "TIME", "after": "CURSOR",
	"payload": "FILE", "rules": "FILE", "cert": "FILE", "key": "FILE", "hook": "FILE", "text": "WORDS", "in": "PLACE",
	"fail-on": "WHAT", "on-unavailable": "ANSWER", "on-failure": "ANSWER", "public-url": "URL", "listen": "ADDRESS", "by": "GROUP",
	"expect-end": "END", "day": "AMOUNT", "ask": "PERCENT", "block": "PERCENT", "priority": "N", "skip": "STEP",
	"match-command": "REGEXP", "match-name": "GLOB", "match-path": "GLOB", "input": "JSON", "note": "TEXT", "prompt": "TEXT",
	"write": "FILE", "advertise": "ADDRESS", "creds": "FILE", "nats": "URLS", "postgres": "FILE", "record": "DIR", "reason": "TEXT", "context": "TEXT", "env": "NAME", "header-env": "HEADER=NAME", "token-env": "NAME", "add --session": "AMOUNT", "add --window": "LENGTH", "warn": "PERCENT", "worktree": "NAME", "project": "DIR", "events": "KINDS", "target": "TARGET"}

// namedValue is a flag's value with a name of its own in help.
type namedValue struct {
	pflag.Value
	name string
}

func (v namedValue) Type() string { return v.name }

// writeCommands lists the subcommands, in groups if there are groups.
func writeCommands(w io.Writer, cmd *cobra.Command) {
	wide := 0
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			wide = max(wide, len(c.Name()))
		}
	}
	list := func(title, group string) {
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() && c.Name() != "help" || c.GroupID != group {
				continue
			}
			if title != "" {
				fmt.Fprintf(w, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(w, "  %-*s  %s\n", wide, c.Name(), text.Wrap(c.Short, helpWidth, wide+4))
		}
	}
	for _, group := range cmd.Groups() {
		list(group.Title, group.ID)
	}
	list("Commands:", "")
}

// reflow fills paragraphs up to the width of help. Indented lines, such as lists, stay as they
// are.
func reflow(s string) string {
	var out []string
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out = append(out, text.Wrap(paragraph, helpWidth, 0))
			paragraph = ""
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, " "):
			flush()
			out = append(out, line)
		case paragraph == "":
			paragraph = line
		default:
			paragraph += " " + line
		}
	}
	flush()
	return strings.Join(out, "\n")
}
