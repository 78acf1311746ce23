package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

const referenceFile = "../../docs/commands.md"

// TestReference holds docs/commands.md to what the program says about itself.
// HOOKMUX_UPDATE=1 writes it anew.
func TestReference(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# Commands\n\nWritten from the program's own help (`HOOKMUX_UPDATE=1 go test ./internal/cli -run " +
		"TestReference`).\n\n" +
		"Exit codes: 0 fine, 1 it failed or (`status`) something is wrong, 64 wrong arguments, 69 no daemon, 77 " +
		"refused because of who asked. " +
		"Never 2: agents read it as \"block\". `hookmux run` and `hooks … handle` exit as the agent or the answer " +
		"does.\n")
	root := newRoot(&cmdutil.App{Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b})
	describe(&b, root)
	golden.Match(t, referenceFile, b.String())
}

func describe(b *bytes.Buffer, cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n%s.\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."))
		fmt.Fprintf(b, "\n```\n%s\n```\n", c.UseLine())
		if c.Long != "" {
			fmt.Fprintf(b, "\n%s\n", c.Long)
		}
		if c.Example != "" {
			fmt.Fprintf(b, "\n```\n%s\n```\n", strings.TrimRight(unindent(c.Example), "\n"))
		}
		var rows []string
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !f.Hidden {
				rows = append(rows, fmt.Sprintf("| `--%s` | %s |", f.Name, strings.ReplaceAll(f.Usage, "|", `\|`)))
			}
		})
		if len(rows) > 0 {
			fmt.Fprintf(b, "\n| flag | |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
		}
		describe(b, c)
	}
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
