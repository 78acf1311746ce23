package cli

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

// docs/commands.md lists the commands the program has. HOOKMUX_UPDATE=1 writes it.
func TestReference(t *testing.T) {
	golden.Match(t, "../../docs/commands.md", CommandIndex())
}

// Every command in the list has a page, with its examples and its subcommands.
func TestCommandPages(t *testing.T) {
	index := CommandIndex()
	pages := CommandPages()
	if len(pages) < 30 {
		t.Fatalf("%d pages, want one for each command", len(pages))
	}
	for _, page := range pages {
		if !strings.Contains(index, "| `"+page.Name+"` |") {
			t.Errorf("%s has a page and isn't in docs/commands.md", page.Name)
		}
		if page.Name == "hookmux guard" && (!strings.Contains(page.Markdown, "## hookmux guard on") ||
			!strings.Contains(page.Markdown, "```sh\n")) {
			t.Errorf("the page is\n%s\nwant examples and `guard on`", page.Markdown)
		}
	}
}
