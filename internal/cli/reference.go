package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// CommandPage is the reference of one command and its subcommands, in Markdown.
type CommandPage struct{ Name, Markdown string }

// CommandPages returns a page for each command that help lists. The site shows them.
func CommandPages() []CommandPage {
	var pages []CommandPage
	for _, cmd := range listedCommands(referenceRoot()) {
		var b strings.Builder
		describeCommand(&b, cmd, 1)
		pages = append(pages, CommandPage{cmd.CommandPath(), b.String()})
	}
	return pages
}

// scriptCommands are those that help leaves out and other pages use.
var scriptCommands = []string{"feed", "forget", "mcp", "schema", "shell-init"}

func writeIndexRow(b *strings.Builder, cmd *cobra.Command) {
	about := cmd.Short
	var verbs []string
	for _, sub := range listedCommands(cmd) {
		verbs = append(verbs, "`"+sub.Name()+"`")
	}
	if len(verbs) > 0 {
		about += " (" + strings.Join(verbs, ", ") + ")"
	}
	fmt.Fprintf(b, "| `%s` | %s |\n", cmd.CommandPath(), strings.ReplaceAll(about, "|", `\|`))
}

// CommandIndex returns docs/commands.md: every command in a line, in the groups of help.
func CommandIndex() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from the program's help; run: HOOKMUX_UPDATE=1 go test ./internal/cli -run TestReference -->\n" +
		"# Commands\n\n" +
		"`hookmux` alone opens the live view. `hookmux help COMMAND` or `man hookmux-COMMAND` shows a command's flags and " +
		"examples; the documentation site has a page for each.\n\n" +
		"Exit codes: 0 fine, 1 it failed or (`status`) something is wrong, 64 wrong arguments, 69 no daemon, 77 refused because " +
		"of who asked. Never 2: agents read it as \"block\". `hookmux run` and `hookmux hooks AGENT handle` exit as the agent or " +
		"the answer does.\n")
	root := referenceRoot()
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| Command | |\n|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range listedCommands(root) {
			if cmd.GroupID != group.ID {
				continue
			}
			writeIndexRow(&b, cmd)
		}
	}
	b.WriteString("\n## For scripts and programs\n\n`hookmux help` leaves these out.\n\n| Command | |\n|---|---|\n")
	for _, cmd := range root.Commands() {
		if slices.Contains(scriptCommands, cmd.Name()) {
			writeIndexRow(&b, cmd)
		}
	}
	return b.String()
}

func referenceRoot() *cobra.Command {
	return newRoot(&cmdutil.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
}

func listedCommands(cmd *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" {
			list = append(list, c)
		}
	}
	return list
}

func describeCommand(b *strings.Builder, cmd *cobra.Command, level int) {
	fmt.Fprintf(b, "%s %s\n\n%s.\n", strings.Repeat("#", level), cmd.CommandPath(), strings.TrimSuffix(cmd.Short, "."))
	fmt.Fprintf(b, "\n```\n%s\n```\n", cmd.UseLine())
	if cmd.Long != "" {
		fmt.Fprintf(b, "\n%s\n", cmd.Long)
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.TrimRight(unindent(cmd.Example), "\n"))
	}
	var rows []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && !f.Hidden {
			rows = append(rows, fmt.Sprintf("| `--%s` | %s |", f.Name, strings.ReplaceAll(f.Usage, "|", `\|`)))
		}
	})
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n| Flag | |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
	}
	for _, sub := range listedCommands(cmd) {
		b.WriteByte('\n')
		describeCommand(b, sub, level+1)
	}
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
