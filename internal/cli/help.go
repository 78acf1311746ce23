package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

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
			about = cmd.Short + "."
		}
		fmt.Fprintf(&b, "%s\n\n", reflow(about))
		writeUsage(&b, cmd)
		fmt.Fprint(cmd.OutOrStdout(), b.String())
	})
}

func writeUsage(w io.Writer, cmd *cobra.Command) {
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
		fmt.Fprintf(w, "\nFlags:\n%s\n", strings.TrimRight(cmd.LocalFlags().FlagUsagesWrapped(helpWidth), " \n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun `%s COMMAND --help` for more about a command.\n", cmd.CommandPath())
	}
}

// writeCommands lists the subcommands, in groups where there are groups.
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
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("  %-*s  %s", wide, c.Name(), c.Short), helpWidth, wide+4))
		}
	}
	for _, group := range cmd.Groups() {
		list(group.Title, group.ID)
	}
	list("Commands:", "")
}

// reflow fills paragraphs up to the width of help. Indented lines, such as lists, stay as they are.
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
