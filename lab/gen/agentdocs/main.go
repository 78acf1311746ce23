// Command agentdocs writes docs/agents.md, the table of all agents, docs/agents/NAME.md, a page for
// each, and the number of agents by their proof in docs/contributing/verify.md, from the catalogue
// and the last recorded verification: what hooks can do there, how we know, and the result from
// the last real agent.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
)

const generated = "<!-- Generated; run: go generate ./agent/... -->\n"

func main() {
	docs := flag.String("docs", "docs", "the folder that gets agents.md and agents/NAME.md")
	count := flag.Bool("count", false, "only say how many agents there are by which proof")
	flag.Parse()
	if *count {
		seen, err := recordings.Summaries()
		if err != nil {
			fmt.Fprintln(os.Stderr, "agentdocs:", err)
			os.Exit(1)
		}
		fmt.Print(proofLines(agent.Builtin(), seen))
		return
	}
	if err := writePages(*docs); err != nil {
		fmt.Fprintln(os.Stderr, "agentdocs:", err)
		os.Exit(1)
	}
}

// writePages writes every page, and removes those of agents that are gone.
func writePages(docs string) error {
	pages, err := renderPages(agent.Builtin())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(docs, "agents"), 0o755); err != nil {
		return err
	}
	there, err := pagesThere(docs)
	if err != nil {
		return err
	}
	for _, name := range there {
		if _, wanted := pages[name]; !wanted {
			if err := os.Remove(filepath.Join(docs, name)); err != nil {
				return err
			}
		}
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return countInPage(filepath.Join(docs, "contributing", "verify.md"))
}

// countInPage writes the number of agents into a page. A missing page is left alone.
func countInPage(file string) error {
	page, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	seen, err := recordings.Summaries()
	if err != nil {
		return err
	}
	text, err := withProofs(string(page), proofTable(agent.Builtin(), seen))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// pagesThere lists the pages of agents that are there, relative to docs.
func pagesThere(docs string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(docs, "agents", "*.md"))
	if err != nil {
		return nil, err
	}
	for i, path := range found {
		found[i] = filepath.Join("agents", filepath.Base(path))
	}
	return found, nil
}

// renderPages returns every page by its path below docs.
func renderPages(c *agent.Catalogue) (map[string]string, error) {
	seen, err := recordings.Summaries()
	if err != nil {
		return nil, err
	}
	pages := map[string]string{"agents.md": overview(c, seen)}
	for _, a := range c.Agents() {
		pages[filepath.Join("agents", a.Name+".md")] = agentPage(a, seen[a.Name])
	}
	return pages, nil
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
