package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../../.."

// The site has a page for every Markdown file of the docs, its links lead to pages and
// headings that are there, and it loads nothing from elsewhere.
func TestSite(t *testing.T) {
	out := t.TempDir()
	count, err := buildSite(repository, out)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(repository, "docs/*.md"))
	if err != nil || count < len(files) {
		t.Fatalf("%d pages of %d files, error %v; want one for each file", count, len(files), err)
	}
	pages := map[string]string{}
	err = filepath.WalkDir(out, func(file string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".html") {
			text, readErr := os.ReadFile(file)
			name, _ := filepath.Rel(out, file)
			pages[filepath.ToSlash(name)], err = string(text), readErr
		}
		return err
	})
	if err != nil || len(pages) != count+2 { // and the home page, and the list of all
		t.Fatalf("%d pages are there, error %v; want %d, the home page and the list of all", len(pages), err, count)
	}
	for name, text := range pages {
		checkPage(t, out, name, text, pages)
	}
	index, err := os.ReadFile(filepath.Join(out, "search.js"))
	if err != nil || !strings.Contains(string(index), "Why was my command blocked?") {
		t.Errorf("error %v, %d bytes of the search index; want the headings of troubleshooting in it", err, len(index))
	}
}

var reference = regexp.MustCompile(`(href|src)="([^"]*)"`)

func checkPage(t *testing.T, out, name, text string, pages map[string]string) {
	t.Helper()
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		link := m[2]
		if strings.Contains(link, "://") {
			if m[1] == "src" {
				t.Errorf("%s loads %s, want nothing from elsewhere", name, link)
			}
			continue
		}
		if strings.HasPrefix(link, "data:") || strings.HasPrefix(link, "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(link, "#")
		target := name
		if file != "" {
			target = path.Join(path.Dir(name), file)
		}
		_, errOut := os.Stat(filepath.Join(out, target))
		_, errSource := os.Stat(filepath.Join(repository, target))
		if errOut != nil && errSource != nil {
			t.Errorf("%s: %s is not there", name, link)
		}
		if anchor != "" && strings.HasSuffix(target, ".html") && !strings.Contains(pages[target], `id="`+anchor+`"`) {
			t.Errorf("%s: %s has no heading %s", name, target, anchor)
		}
	}
}

// The style uses no colour that the page for browsers doesn't define.
func TestColors(t *testing.T) {
	colors, err := siteColors(repository)
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`(--[a-z-]+):`)
	defined := own.FindAllString(colors+string(siteCSS), -1)
	for _, m := range regexp.MustCompile(`var\((--[a-z-]+)\)`).FindAllStringSubmatch(string(siteCSS), -1) {
		if !slices.Contains(defined, m[1]+":") {
			t.Errorf("site.css uses %s, which nothing defines", m[1])
		}
	}
}

// What Markdown becomes.
func TestRender(t *testing.T) {
	first := newPage("Guide", "docs/a.md", "# A `b`\n\n<!-- run\nhidden\n-->\n\n## Why & how?\n\nsee [b.md](b.md#x)\n\n"+
		"```console\n$ one \\\n    two\nout\n```\n\n## Why & how?\n\n`hookmux ps -f`\n\n```yaml ~/a.yaml\na: b\n```\n")
	second := newPage("Guide", "docs/b.md", "# Bee\n\n[a](a.md)\n")
	command := newPage("Commands", "docs/commands/ps.md", "# hookmux ps\n\nLists.\n")
	for _, p := range []*page{first, second} {
		if err := p.render([]*page{first, second, command}, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`id="why--how"`, `id="why--how-1"`, `<a href="../docs/b.html#x">Bee</a>`,
		`<b class="prompt">$ </b><b>one \`, `<a href="../docs/commands/ps.html"><code>hookmux ps -f</code></a>`,
		"<p class=\"file\">File: ~/a.yaml</p>\n<pre>"} {
		if !strings.Contains(first.html, want) {
			t.Errorf("want %s in\n%s", want, first.html)
		}
	}
	if strings.Contains(first.html, "hidden") || first.Title != "A b" {
		t.Errorf("title %q, html %s; want no comments, and the title without marks", first.Title, first.html)
	}
	if i := slices.IndexFunc(first.sections, func(s section) bool { return s.Heading == "Why & how?" }); i < 0 ||
		!strings.Contains(first.sections[i].Text, "one") {
		t.Errorf("sections %+v, want the heading with its text", first.sections)
	}
}
