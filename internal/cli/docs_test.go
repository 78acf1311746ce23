package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
)

// Every command that the pages show is one the program takes: it exists, has
// these flags, and takes that many arguments (a sentence may name a command
// without them). Nothing is run.
func TestCommandsInThePagesAreTaken(t *testing.T) {
	seen := 0
	for _, page := range pages(t) {
		for _, line := range shown(page.text) {
			for _, args := range calls(line.code) {
				seen++
				if err := takes(args, line.inText); err != nil {
					t.Errorf("%s: `hookmux %s`: %v", page.name, strings.Join(args, " "), err)
				}
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d commands were found", seen)
	}
	for _, wrong := range []string{"hookmux no-such-thing", "hookmux ps --no-such-flag", "hookmux skip one two",
		"hookmux jump one two three"} {
		if takes(calls(wrong)[0], false) == nil {
			t.Errorf("%s is taken; want takes(calls(wrong)[0], false) != nil", wrong)
		}
	}
}

// Links between the pages lead to a file that is there and, where they name one, to a
// heading in it.
func TestLinksInThePages(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(textOnly(page.text), -1) {
			target := page.name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page.name), m[1])
			}
			text, err := os.ReadFile(target)
			if _, statErr := os.Stat(target); statErr != nil {
				t.Errorf("%s: error %v, want no error", page.name, statErr)
				continue
			}
			if m[2] != "" && (err != nil || !slices.Contains(anchors(string(text)), m[2])) {
				t.Errorf("%s: %s has no heading #%s", page.name, target, m[2])
			}
		}
	}
}

// textOnly returns a page without its code.
func textOnly(page string) string {
	page = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(page, "`code`")
}

// anchors returns the names of a page's headings, as GitHub makes them.
func anchors(page string) []string {
	var names []string
	page = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

type page struct{ name, text string }

func pages(t *testing.T) []page {
	t.Helper()
	var list []page
	for pattern, least := range map[string]int{"../../docs/*.md": 10, "../../docs/agents/*.md": 10, "../../docs/guide/*.md": 5,
		"../../docs/contributing/*.md": 3, "../../README.md": 1, "../../CHANGELOG.md": 1, "../../examples/hooks/README.md": 1} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < least {
			t.Fatalf("%s: %d pages, %v; want at least %d", pattern, len(files), err, least)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, page{file, string(b)})
		}
	}
	return list
}

type line struct {
	code   string
	inText bool // in a sentence, not in a block
}

// shown returns the code of a page.
func shown(text string) []line {
	var list []line
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			info, block, _ := strings.Cut(part, "\n")
			for code := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
				if strings.HasPrefix(info, "console") && !strings.HasPrefix(code, "$ ") {
					continue // what a command printed
				}
				list = append(list, line{code: code})
			}
			continue
		}
		for j, code := range strings.Split(part, "`") {
			if j%2 == 1 {
				list = append(list, line{code, true})
			}
		}
	}
	return list
}

// calls returns the commands of hookmux in a line of shell. Lines in which
// something is left open ([ANSWER…], a|b) are no commands.
func calls(line string) [][]string {
	file, err := syntax.NewParser().Parse(strings.NewReader(strings.TrimPrefix(line, "$ ")), "")
	if err != nil {
		return nil
	}
	var list [][]string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "hookmux" {
			return true
		}
		var args []string
		for _, word := range call.Args[1:] {
			arg, err := expand.Literal(nil, word)
			if err != nil {
				return false
			}
			args = append(args, arg)
		}
		if open := strings.Join(args, " "); !strings.ContainsAny(args[0], "|…<*") && !strings.Contains(open, "…") &&
			!strings.Contains(open, "[") {
			list = append(list, args)
		}
		return true
	})
	return list
}

// takes says what is wrong with arguments; named says that some may be missing.
func takes(args []string, named bool) error {
	root := newRoot(&cmdutil.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
	root.InitDefaultCompletionCmd(args...)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	err = cmd.ParseFlags(rest)
	if missing := (*pflag.ValueRequiredError)(nil); named && (err == nil || errors.As(err, &missing)) {
		return nil
	}
	if err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestAgentCount holds what the README, the changelog and the site say against the agents that hookmux knows.
func TestAgentCount(t *testing.T) {
	all := len(agent.Builtin().Agents())
	for file, want := range map[string]string{
		"README.md":              fmt.Sprintf("OpenCode and [%d more]", all-3),
		"CHANGELOG.md":           fmt.Sprintf("%d agents", all),
		"docs/agents.md":         fmt.Sprintf("hookmux knows %d agents", all),
		"lab/gen/site/home.html": fmt.Sprintf(">%d more</a>", all-5),
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s doesn't say %q", file, want)
		}
	}
	tested := regexp.MustCompile(`\d+ are tested with the real agent`)
	generated, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := tested.Find(generated); want == nil || !bytes.Contains(readme, want) {
		t.Errorf("README.md doesn't say %q, as docs/agents.md does", want)
	}
}
