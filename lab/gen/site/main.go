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
	"regexp"
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

var templates = template.Must(template.New("").Parse(pageHTML + homeHTML))

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
	// Files are Markdown files; one with * is replaced by all that aren't named before it.
	Files []string
}

// groups are the navigation, in the order in which a newcomer needs them.
var groups = []group{
	{"Guide", []string{"README.md", "docs/guide/*.md"}},
	{"How to", []string{"docs/recipes.md", "docs/concepts.md", "docs/blocked.md", "docs/keys.md", "docs/troubleshooting.md"}},
	{"Setup", []string{"docs/install.md", "docs/commands.md", commandPages, "docs/config.md", "docs/telemetry.md", "docs/fleet.md", "docs/system.md"}},
	{"Daily use", []string{"docs/inbox.md", "docs/sessions.md", "docs/notifications.md", "docs/web.md", "docs/remote.md", "docs/containers.md",
		"docs/usage.md", "docs/tmux.md", "docs/acp.md"}},
	{"Guards and hooks", []string{"docs/rules.md", "docs/hooks.md", "docs/typescript.md", "examples/hooks/README.md",
		"docs/security.md", "docs/audit.md"}},
	{"Agents", slices.Concat([]string{"docs/agents.md"}, usualPages(), []string{"docs/agents/*.md"})},
	{"Contributing", []string{"CONTRIBUTING.md", "ARCHITECTURE.md", "docs/contributing/*.md", "docs/*.md", "SECURITY.md",
		"CHANGELOG.md"}},
}

func usualPages() []string {
	var files []string
	for _, name := range usualAgents {
		files = append(files, "docs/agents/"+name+".md")
	}
	return files
}

// descriptions summarise pages, for the list of all pages and for search engines. Pages without one
// are described by their beginning.
var descriptions = map[string]string{
	"README.md":                "What hookmux does, first steps, how it compares",
	"docs/guide/1-start.md":    "Get it, look at it, hook your agents",
	"docs/guide/2-see.md":      "The live view, one session, the history",
	"docs/guide/3-answer.md":   "Approve, deny, answer; yes for longer",
	"docs/guide/4-guard.md":    "Block what's dangerous, and write your own rules",
	"docs/guide/5-hooks.md":    "Run your own program on every agent",
	"docs/guide/6-tmux.md":     "Hear about waiting agents, on the desktop and in tmux",
	"docs/guide/7-phone.md":    "Answer from anywhere",
	"docs/recipes.md":          "Ready to copy: safe commands, secrets, teams, Slack, CI",
	"docs/concepts.md":         "Which one to use for what, and who decides",
	"docs/blocked.md":          "What the agent prints, and how to let it through",
	"docs/keys.md":             "Every key of the live view and in tmux",
	"docs/troubleshooting.md":  "Questions and answers when something goes wrong",
	"docs/install.md":          "Build, hook, upgrade, remove; CI and containers",
	"docs/commands.md":         "All commands, with a page for each",
	"docs/config.md":           "Every setting, and where settings come from",
	"docs/telemetry.md":        "Traces and metrics to your own collector",
	"docs/system.md":           "Have the operating system keep what agents must not touch",
	"docs/fleet.md":            "One inbox, log and set of rules for a team's machines",
	"docs/inbox.md":            "What waits, how long, and what an answer does",
	"docs/sessions.md":         "Find, resume, rename and search sessions",
	"docs/notifications.md":    "Channels, kinds, quiet hours, webhooks",
	"docs/web.md":              "The page, pairing, and how it's protected",
	"docs/remote.md":           "Answer agents on machines that you reach by ssh",
	"docs/containers.md":       "See and stop agents in containers and devcontainers",
	"docs/usage.md":            "Tokens, cost, plan limits, budgets",
	"docs/tmux.md":             "Icons, popup, status bar, jumping to a pane",
	"docs/acp.md":              "Agents that Zed, JetBrains and others run",
	"docs/rules.md":            "The rule language, packs, replays",
	"docs/hooks.md":            "Roles, handlers, answers, the built-in guards",
	"docs/typescript.md":       "One TypeScript file, no Node and no build",
	"examples/hooks/README.md": "Ten hooks to copy",
	"docs/security.md":         "What's promised, and what still works for an attacker",
	"docs/audit.md":            "A signed record of every decision",
	"docs/agents.md":           "What hooks can do in each agent",
	"CONTRIBUTING.md":          "Set up, and add an agent, a rule or a command",
	"ARCHITECTURE.md":          "One event's way through the packages",
	"SECURITY.md":              "How to report a hole",
	"CHANGELOG.md":             "What's new",
}

// commandPages is where the pages of commands are in the navigation. They're made from the
// program's help and aren't in the repository.
const commandPages = "docs/commands/"

// repositoryURL is where files without a page here are read.
const repositoryURL = "https://github.com/hookmux/hookmux/blob/main/"

// brand is the page for browsers: it has the same mark and colours.
const brand = "internal/ui/web/page"

// usualAgents are in the navigation; the others are on the page that lists all.
var usualAgents = []string{"claude", "codex", "cursor", "copilot", "gemini", "opencode", "vscode", "windsurf", "cline", "amp"}

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
	text, err := os.ReadFile(filepath.Join(root, "VERSION"))
	if err != nil {
		return 0, err
	}
	version := strings.TrimSpace(string(text))
	if changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md")); err != nil {
		return 0, err
	} else if strings.Contains(string(changes), "## "+version+" (unreleased)") {
		version = "unreleased"
	}
	for _, p := range pages {
		if err := p.write(pages, version, out); err != nil {
			return 0, err
		}
	}
	if err := writeHome(pages, version, out); err != nil {
		return 0, err
	}
	if err := writeContents(pages, version, out); err != nil {
		return 0, err
	}
	colors, err := siteColors(root)
	if err != nil {
		return 0, err
	}
	icon, err := os.ReadFile(filepath.Join(root, brand, "icon.svg"))
	if err != nil {
		return 0, err
	}
	words, err := json.Marshal(index)
	if err != nil {
		return 0, err
	}
	for name, text := range map[string][]byte{
		"site.css": slices.Concat([]byte(colors), siteCSS), "icon.svg": icon, "site.js": siteJS, "find.js": findJS,
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
					p.Command, p.Short, p.Unlisted = "hookmux help "+strings.ReplaceAll(name, "-", " "), command.Name, true
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
				if conflict.Match(text) {
					return nil, fmt.Errorf("%s has a merge conflict", name)
				}
				p := newPage(g.Title, name, string(text))
				p.Unlisted = strings.HasPrefix(name, "docs/agents/") && !slices.Contains(usualAgents, strings.TrimSuffix(path.Base(name), ".md"))
				pages = append(pages, p)
			}
		}
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("no pages are in %s", root)
	}
	return pages, nil
}

// layout wraps every page of the site.
type layout struct {
	Title, About string
	Up           string // from the page to the site's root
	Part         string // which link of the header is marked
	Version      string
	Nav          []navGroup
	Contents     []heading
	Body, Source template.HTML
}

// write writes the page's HTML.
func (p *page) write(pages []*page, version, out string) error {
	up := strings.Repeat("../", strings.Count(p.URL, "/"))
	l := layout{Title: p.Title + " · hookmux", About: p.about(), Up: up, Part: "docs", Version: version,
		Nav: navigation(pages, p, up), Contents: p.contents(), Source: p.source(),
		Body: template.HTML(p.html)} //nolint:gosec // made by goldmark from our own files
	switch {
	case p.Title == "hookmux":
		l.Title = p.Title
	case strings.HasPrefix(p.File, "docs/guide/"):
		l.Part = "guide"
	case strings.HasPrefix(p.File, "docs/agents"):
		l.Part = "agents"
	}
	return writePage("page", l, filepath.Join(out, filepath.FromSlash(p.URL)))
}

// source returns a note on where the page's text comes from.
func (p *page) source() template.HTML {
	if p.Command != "" {
		return template.HTML("This is what <code>" + template.HTMLEscapeString(p.Command) + "</code> prints.") //nolint:gosec // escaped
	}
	return template.HTML(`<a href="` + template.HTMLEscapeString(repositoryURL+p.File) + `">This page on GitHub</a>`) //nolint:gosec // escaped
}

// navigation lists the pages for the side of a page. Of agents and commands it lists
// the usual ones, the page itself and the page that lists all.
func navigation(pages []*page, here *page, up string) []navGroup {
	var nav []navGroup
	for _, other := range pages {
		if len(nav) == 0 || nav[len(nav)-1].Title != other.Group {
			open := here != nil && other.Group == here.Group || other.Group == groups[0].Title
			nav = append(nav, navGroup{Title: other.Group, Open: open})
		}
		if other.Unlisted && other != here {
			continue
		}
		last := &nav[len(nav)-1]
		last.Links = append(last.Links, navLink{Title: other.Short, URL: up + other.URL, Here: other == here})
	}
	return nav
}

// writeHome writes the page that visitors see first.
func writeHome(pages []*page, version, out string) error {
	return writePage("home", layout{Title: "hookmux: one inbox and one set of guardrails for all your coding agents",
		About:   "See which coding agent is waiting for you, answer it with one key, and block what none of them may do.",
		Version: version, Nav: navigation(pages, nil, "")}, filepath.Join(out, "index.html"))
}

// writeContents writes the page that lists all others with their first sentence.
func writeContents(pages []*page, version, out string) error {
	var body strings.Builder
	body.WriteString("<h1>Documentation</h1>\n")
	group := ""
	for _, p := range pages {
		if p.Unlisted {
			continue
		}
		if p.Group != group {
			if group != "" {
				body.WriteString("</ul>\n")
			}
			group = p.Group
			class := "pages"
			if strings.HasPrefix(p.File, "docs/agents") {
				class = "names"
			}
			fmt.Fprintf(&body, "<h2>%s</h2>\n<ul class=\"%s\">\n", template.HTMLEscapeString(group), class)
		}
		if strings.HasPrefix(p.File, "docs/agents") {
			fmt.Fprintf(&body, "<li><a href=\"../%s\">%s</a></li>\n", p.URL, template.HTMLEscapeString(p.Short))
			continue
		}
		fmt.Fprintf(&body, "<li><a href=\"../%s\">%s</a><span>%s</span></li>\n", p.URL, template.HTMLEscapeString(p.Short),
			template.HTMLEscapeString(p.about()))
	}
	body.WriteString("</ul>\n")
	return writePage("page", layout{Title: "Documentation · hookmux", About: "All pages of hookmux's documentation.", Up: "../",
		Part: "docs", Version: version, Nav: navigation(pages, nil, "../"),
		Body: template.HTML(body.String())}, filepath.Join(out, "docs/index.html")) //nolint:gosec // escaped above
}

func writePage(name string, l layout, file string) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, l); err != nil {
		return err
	}
	return writeFile(file, b.Bytes())
}

var conflict = regexp.MustCompile(`(?m)^(<{7}|>{7}) `)

var colorBlock = regexp.MustCompile(`(?s):root \{\s*(.*?)\}`)

// siteColors returns the colours of the page for browsers, switched by its scheme or by the reader.
func siteColors(root string) (string, error) {
	css, err := os.ReadFile(filepath.Join(root, brand, "app.css"))
	if err != nil {
		return "", err
	}
	blocks := colorBlock.FindAllStringSubmatch(string(css), 2)
	if len(blocks) < 2 {
		return "", fmt.Errorf("%s/app.css has %d blocks of colours, want light and dark", brand, len(blocks))
	}
	light, dark := blocks[0][1]+"--back: var(--card); color-scheme: light;", blocks[1][1]+"--back: var(--bg); color-scheme: dark;"
	return ":root { " + light + " }\n:root[data-theme=\"dark\"] { " + dark + " }\n@media (prefers-color-scheme: dark) {\n" +
		":root:not([data-theme=\"light\"]) { " + dark + " }\n}\n", nil
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

// urlOf returns the URL of a file's page in the site.
func urlOf(file string) string {
	if file == "README.md" {
		return "overview.html"
	}
	return strings.TrimSuffix(path.Clean(file), ".md") + ".html"
}
