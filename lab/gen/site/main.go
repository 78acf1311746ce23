// Site builds the documentation as static HTML from the same Markdown files that are
// read on GitHub. It needs no server: pages, search and pictures work from disk, and
// nothing is loaded from elsewhere.
//
//	go run ./lab/gen/site dist/docs
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/cli"
)

//go:embed page.html
var pageHTML string

//go:embed home.html
var homeHTML string

//go:embed site.css
var siteCSS []byte

//go:embed site.js
var siteJS []byte

//go:embed find.js
var findJS []byte

var (
	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
	homeTemplate = template.Must(template.New("home").Parse(homeHTML))
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER (run it in the root of the repository)")
		os.Exit(64)
	}
	count, err := buildSite(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages; open %s\n", count, filepath.Join(os.Args[1], "index.html"))
}

// group is one part of the navigation.
type group struct {
	Title string
	// Files are Markdown files; one with * stands for all that are not named before it.
	Files []string
}

// groups are the navigation, in the order in which a newcomer needs them.
var groups = []group{
	{"Guide", []string{"README.md", "docs/guide/*.md"}},
	{"How to", []string{"docs/recipes.md", "docs/concepts.md", "docs/blocked.md", "docs/keys.md", "docs/troubleshooting.md"}},
	{"Use", []string{"docs/install.md", "docs/sessions.md", "docs/inbox.md", "docs/notifications.md",
		"docs/web.md", "docs/remote.md", "docs/usage.md", "docs/telemetry.md", "docs/tmux.md", "docs/acp.md"}},
	{"Guards and hooks", []string{"docs/rules.md", "docs/hooks.md", "docs/modules.md", "examples/hooks/README.md",
		"docs/security.md", "docs/audit.md"}},
	{"Agents", []string{"docs/agents.md", "docs/agents/*.md"}},
	{"Commands and settings", []string{"docs/commands.md", commandPages, "docs/config.md"}},
	{"Contributing", []string{"CONTRIBUTING.md", "ARCHITECTURE.md", "docs/contributing/*.md", "docs/*.md", "SECURITY.md",
		"CHANGELOG.md"}},
}

// commandPages is where the pages of commands are in the navigation. They're made from the
// program's help and aren't in the repository.
const commandPages = "docs/commands/"

// repositoryURL is where files without a page here are read.
const repositoryURL = "https://github.com/hookmux/hookmux/blob/main/"

// copied are folders of other files that pages show or link to.
var copied = []string{"docs/pictures", "docs/schema"}

// buildSite writes the site of the repository root into folder out, and says of how
// many pages.
func buildSite(root, out string) (int, error) {
	pages, err := readPages(root)
	if err != nil {
		return 0, err
	}
	var index []section
	for _, p := range pages {
		if err := p.render(pages, root); err != nil {
			return 0, fmt.Errorf("%s: %w", p.File, err)
		}
		index = append(index, p.sections...)
	}
	for _, p := range pages {
		if err := p.write(pages, out); err != nil {
			return 0, err
		}
	}
	if err := writeHome(out); err != nil {
		return 0, err
	}
	words, err := json.Marshal(index)
	if err != nil {
		return 0, err
	}
	for name, text := range map[string][]byte{
		"site.css": siteCSS, "site.js": siteJS, "find.js": findJS,
		"search.js": slices.Concat([]byte("window.searchIndex="), words, []byte(";\n")),
	} {
		if err := writeFile(filepath.Join(out, name), text); err != nil {
			return 0, err
		}
	}
	for _, folder := range copied {
		if err := os.RemoveAll(filepath.Join(out, folder)); err != nil {
			return 0, err
		}
		if err := os.CopyFS(filepath.Join(out, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			return 0, err
		}
	}
	return len(pages), nil
}

// readPages reads the files of the navigation, in its order.
func readPages(root string) ([]*page, error) {
	var pages []*page
	seen := map[string]bool{}
	for _, g := range groups {
		for _, pattern := range g.Files {
			if pattern == commandPages {
				for _, command := range cli.CommandPages() {
					name := strings.ReplaceAll(strings.TrimPrefix(command.Name, "hookmux "), " ", "-")
					p := newPage(g.Title, commandPages+name+".md", command.Markdown)
					p.Source, p.Short = "hookmux help "+name, command.Name
					pages = append(pages, p)
				}
				continue
			}
			files, err := filepath.Glob(filepath.Join(root, pattern))
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				name, err := filepath.Rel(root, file)
				if err != nil {
					return nil, err
				}
				if name = filepath.ToSlash(name); seen[name] {
					continue
				}
				seen[name] = true
				text, err := os.ReadFile(file)
				if err != nil {
					return nil, err
				}
				pages = append(pages, newPage(g.Title, name, string(text)))
			}
		}
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("no pages are in %s", root)
	}
	return pages, nil
}

// write makes the page's HTML.
func (p *page) write(pages []*page, out string) error {
	up := strings.Repeat("../", strings.Count(p.URL, "/"))
	var nav []navGroup
	for _, other := range pages {
		if len(nav) == 0 || nav[len(nav)-1].Title != other.Group {
			open := other.Group == p.Group || other.Group == groups[0].Title
			nav = append(nav, navGroup{Title: other.Group, Open: open})
		}
		last := &nav[len(nav)-1]
		last.Links = append(last.Links, navLink{Title: other.Short, URL: up + other.URL, Here: other == p})
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, map[string]any{
		"Title": p.Title, "About": p.about(), "Up": up, "Nav": nav, "Contents": p.contents(), "Source": p.Source,
		"Body": template.HTML(p.html), //nolint:gosec // made by goldmark from our own files
	})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(out, filepath.FromSlash(p.URL)), b.Bytes())
}

// writeHome makes the page that visitors see first.
func writeHome(out string) error {
	var b bytes.Buffer
	if err := homeTemplate.Execute(&b, nil); err != nil {
		return err
	}
	return writeFile(filepath.Join(out, "index.html"), b.Bytes())
}

type navGroup struct {
	Title string
	Open  bool
	Links []navLink
}

type navLink struct {
	Title, URL string
	Here       bool
}

func writeFile(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// urlOf is where the page of a file stands in the site.
func urlOf(file string) string {
	if file == "README.md" {
		return "overview.html"
	}
	return strings.TrimSuffix(path.Clean(file), ".md") + ".html"
}
