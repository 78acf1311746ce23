package cli

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file writes manual pages in roff from a tree of commands, one page per command, and
// one for the hook client, which has no such tree.
//
// Contract: the same tree and version produce the same bytes; there is no date in them. Text
// of the commands can't become a roff request: a line that starts with a dot or an
// apostrophe is protected, backslashes and hyphens are escaped.
//
// cobra has a generator too. It reads texts as Markdown, so that <FILE> is taken for a tag
// and left out, writes hyphens that a shell doesn't read when copied, dates its pages, and
// links three more modules.

// Page is one manual page, as a file of section 1.
type Page struct {
	Name string // hookmux-guard-allow.1
	Text []byte
}

// Pages returns those of root, of everything visible below it, and of the hook
// client, in the order of their names.
func Pages(root *cobra.Command, version string) []Page {
	var pages []Page
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		pages = append(pages, Page{Name: fileName(cmd), Text: command(cmd, version)})
		for _, c := range visible(cmd) {
			walk(c)
		}
	}
	walk(root)
	pages = append(pages, Page{Name: "hookmux-hook.1", Text: hookClient(version)})
	sort.Slice(pages, func(i, j int) bool { return pages[i].Name < pages[j].Name })
	return pages
}

func visible(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			out = append(out, c)
		}
	}
	return out
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }
func fileName(cmd *cobra.Command) string { return pageName(cmd) + ".1" }

func command(cmd *cobra.Command, version string) []byte {
	var b bytes.Buffer
	heading(&b, pageName(cmd), version)
	section(&b, "NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", escape(pageName(cmd)), escape(strings.TrimSuffix(cmd.Short, ".")))
	section(&b, "SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", quoted(cmd.UseLine()))
	if cmd.Long != "" {
		section(&b, "DESCRIPTION")
		paragraphs(&b, cmd.Long)
	}
	var flags []*pflag.Flag
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && f.Name != "version" {
			flags = append(flags, f)
		}
	})
	if len(flags) > 0 {
		section(&b, "OPTIONS")
		for _, f := range flags {
			option(&b, f)
		}
	}
	if below := visible(cmd); len(below) > 0 {
		section(&b, "COMMANDS")
		for _, c := range below {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", quoted(c.CommandPath()), roffLine(c.Short))
		}
	}
	if cmd.Example != "" {
		section(&b, "EXAMPLES")
		example(&b, cmd.Example)
	}
	section(&b, "SEE ALSO")
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent()))
	} else {
		also = append(also, "hookmux-hook")
	}
	for _, c := range visible(cmd) {
		also = append(also, pageName(c))
	}
	references(&b, also)
	return b.Bytes()
}

func option(b *bytes.Buffer, f *pflag.Flag) {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	kind, usage := pflag.UnquoteUsage(f)
	if kind != "" {
		name += " " + kind
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
		usage += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", quoted(name), roffLine(usage))
}

func hookClient(version string) []byte {
	var b bytes.Buffer
	heading(&b, "hookmux-hook", version)
	section(&b, "NAME")
	b.WriteString("hookmux\\-hook \\- what agents call at each of their hooks\n")
	section(&b, "SYNOPSIS")
	fmt.Fprintf(&b, ".B %s\n", quoted("hookmux-hook AGENT EVENT [DEADLINE]"))
	section(&b, "DESCRIPTION")
	paragraphs(&b, `Agents run this program; people have no reason to. hookmux install and hookmux run
write it into agents' settings. It reads the agent's payload from standard input,
hands it to the daemon, starting that where none runs, prints the answer and exits as
the agent expects. DEADLINE is the agent's own time limit in seconds.

While the daemon cannot be reached an event that only observes is kept on disk, and one
that decides gets the answer that changes nothing for that agent and event.`)
	section(&b, "SEE ALSO")
	references(&b, []string{"hookmux", "hookmux-install", "hookmux-run"})
	return b.Bytes()
}

func heading(b *bytes.Buffer, name, version string) {
	b.WriteString(".\\\" Written from the program's own help.\n")
	fmt.Fprintf(b, ".TH %s 1 \"\" %s %s\n", quoted(strings.ToUpper(name)), quoted("hookmux "+version),
		quoted("hookmux"))
	b.WriteString(".nh\n.ad l\n")
}

func section(b *bytes.Buffer, name string) { fmt.Fprintf(b, ".SH %s\n", quoted(name)) }

func references(b *bytes.Buffer, names []string) {
	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		fmt.Fprintf(b, ".BR %s (1)%s\n", escape(name), end)
	}
}

// paragraphs keeps indented blocks as they are and flows the rest.
func paragraphs(b *bytes.Buffer, text string) {
	for _, block := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(block, " ") {
			example(b, block)
			continue
		}
		b.WriteString(".PP\n")
		for _, one := range strings.Split(block, "\n") {
			b.WriteString(roffLine(one) + "\n")
		}
	}
}

func example(b *bytes.Buffer, text string) {
	b.WriteString(".PP\n.RS 4\n.nf\n")
	for _, one := range strings.Split(strings.Trim(text, "\n"), "\n") {
		b.WriteString(roffLine(strings.TrimPrefix(one, "  ")) + "\n")
	}
	b.WriteString(".fi\n.RE\n")
}

// roffLine returns one line of text: never a request, whatever it starts with.
func roffLine(s string) string {
	s = escape(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}

// escape leaves nothing for roff to interpret, and keeps hyphens hyphens: users copy them
// from the page into a shell.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch to := special[r]; {
		case to != "":
			b.WriteString(to)
		case r > 0x7e: // not every roff reads UTF-8
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

var special = map[rune]string{'\\': `\e`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`}

// quoted returns an argument of a request.
func quoted(s string) string { return `"` + strings.ReplaceAll(escape(s), `"`, `\(dq`) + `"` }
