package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// page is one Markdown file and what is made of it.
type page struct {
	Group, File, URL string
	Title            string
	Short            string // in the navigation
	Command          string // prints the page, if no file has it
	Unlisted         bool   // not in the navigation of other pages

	text         string
	introduction string // the first paragraph
	html         string
	headings     []heading
	sections     []section
}

type heading struct {
	Level    int
	ID, Text string
}

// section is the unit of a search: a heading and the text below it.
type section struct {
	Page    string `json:"p"`
	Heading string `json:"h"`
	URL     string `json:"u"`
	Text    string `json:"t"`
}

var (
	hidden     = regexp.MustCompile(`(?s)<!--.*?-->\n?`)
	firstTitle = regexp.MustCompile(`(?m)^# (.*)$`)
)

func newPage(group, file, markdown string) *page {
	p := &page{Group: group, File: file, URL: urlOf(file), text: hidden.ReplaceAllString(markdown, "")}
	p.Title = strings.TrimSuffix(path.Base(file), ".md")
	if found := firstTitle.FindStringSubmatch(p.text); found != nil {
		p.Title = strings.ReplaceAll(found[1], "`", "")
	}
	p.Short, _, _ = strings.Cut(p.Title, ": ")
	if file == "README.md" {
		p.Title, p.Short = "hookmux", "Overview"
	}
	if file == "docs/agents.md" {
		p.Short = "All agents"
	}
	return p
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
	goldmark.WithRendererOptions(html.WithUnsafe())) // the pages are our own

// render creates the page's HTML and its searchable text.
func (p *page) render(pages []*page, root string) error {
	source := []byte(p.text)
	tree := markdown.Parser().Parse(text.NewReader(source))
	ids := map[string]int{}
	current := section{Page: p.Title, Heading: p.Title, URL: p.URL}
	var commands []*ast.CodeSpan
	var saved []*ast.FencedCodeBlock
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Heading:
			title := plainText(n, source)
			id := uniqueID(ids, title)
			n.SetAttributeString("id", []byte(id))
			p.headings = append(p.headings, heading{n.Level, id, title})
			if n.Level > 1 {
				p.addSection(current)
				current = section{Page: p.Title, Heading: title, URL: p.URL + "#" + id}
			}
			return ast.WalkSkipChildren, nil
		case *ast.Paragraph:
			if p.introduction == "" && n.Parent() == tree {
				p.introduction = plainText(n, source)
			}
		case *ast.Link:
			target, title := p.target(string(n.Destination), pages, root)
			n.Destination = []byte(target)
			if title != "" && strings.HasSuffix(plainText(n, source), ".md") { // a page is called by its title here
				n.RemoveChildren(n)
				n.AppendChild(n, ast.NewString([]byte(title)))
			}
		case *ast.CodeSpan:
			if _, inLink := n.Parent().(*ast.Link); !inLink {
				commands = append(commands, n)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if fenced, ok := node.(*ast.FencedCodeBlock); ok && fenced.Info != nil &&
				strings.Contains(string(fenced.Info.Segment.Value(source)), " ") {
				saved = append(saved, fenced)
			}
			for i := range node.Lines().Len() {
				line := node.Lines().At(i)
				current.Text += string(line.Value(source))
			}
			return ast.WalkContinue, nil
		case *extast.Table:
			labelCells(n, source)
		case *ast.Text:
			current.Text += string(n.Segment.Value(source)) + " "
		case *ast.String: // the title in place of a file's name
			current.Text += string(n.Value) + " "
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	p.addSection(current)
	for _, span := range commands {
		if target := p.commandPage(plainText(span, source), pages); target != "" {
			link := ast.NewLink()
			link.Destination = []byte(target)
			span.Parent().ReplaceChild(span.Parent(), span, link)
			link.AppendChild(link, span)
		}
	}
	for _, block := range saved { // what the block is saved as is above it
		_, name, _ := strings.Cut(string(block.Info.Segment.Value(source)), " ")
		caption, code := ast.NewParagraph(), ast.NewString([]byte("File: "+name))
		caption.AppendChild(caption, code)
		block.Parent().InsertBefore(block.Parent(), block, caption)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, tree); err != nil {
		return err
	}
	p.html = dressHTML(b.String())
	return nil
}

// labelCells gives each cell the title of its column: on a phone, cells are stacked.
func labelCells(table *extast.Table, source []byte) {
	var titles []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		i := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			switch {
			case row.Kind() == extast.KindTableHeader:
				titles = append(titles, plainText(cell, source))
			case i > 0 && i < len(titles) && titles[i] != "":
				cell.SetAttributeString("data-title", []byte(titles[i]))
			}
			i++
		}
	}
}

func (p *page) addSection(s section) {
	s.Text = strings.Join(strings.Fields(s.Text), " ")
	if s.Text != "" {
		p.sections = append(p.sections, s)
	}
}

// target returns where a link of the page leads in the site, with the title of that page.
// A file without a page there is in the repository.
func (p *page) target(link string, pages []*page, root string) (target, title string) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "#") || strings.HasPrefix(link, "mailto:") {
		return link, ""
	}
	file, anchor, _ := strings.Cut(link, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	file = path.Join(path.Dir(p.File), file)
	if info, err := os.Stat(filepath.Join(root, file)); err == nil && info.IsDir() {
		file = path.Join(file, "README.md")
	}
	up := strings.Repeat("../", strings.Count(p.URL, "/"))
	for _, other := range pages {
		if other.File == file {
			return up + other.URL + anchor, other.Title
		}
	}
	for _, folder := range copied {
		if strings.HasPrefix(file, folder+"/") {
			return up + file + anchor, ""
		}
	}
	return repositoryURL + file + anchor, ""
}

// commandPage returns the address of the page of a command that code names, if it has one.
func (p *page) commandPage(code string, pages []*page) string {
	words := strings.Fields(code)
	if len(words) < 2 || words[0] != "hookmux" {
		return ""
	}
	file := commandPages + words[1] + ".md"
	if file == p.File {
		return ""
	}
	for _, other := range pages {
		if other.File == file {
			return strings.Repeat("../", strings.Count(p.URL, "/")) + other.URL
		}
	}
	return ""
}

// about returns the beginning of the page, for search engines and previews.
func (p *page) about() string {
	if said := descriptions[p.File]; said != "" {
		return said
	}
	text := []rune(p.introduction)
	if len(text) > 155 {
		text = append(text[:155], '…')
	}
	return string(text)
}

// contents returns the headings of the second and third level, if there are enough to choose from; of
// many, only the second level.
func (p *page) contents() []heading {
	var second, both []heading
	for _, h := range p.headings {
		if h.Level == 2 {
			second = append(second, h)
		}
		if h.Level == 2 || h.Level == 3 {
			both = append(both, h)
		}
	}
	switch {
	case len(both) < 3:
		return nil
	case len(both) > maxContents:
		return second
	}
	return both
}

const maxContents = 24

// plainText returns what is read of a node.
func plainText(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

var notInID = regexp.MustCompile(`[^\pL\pN _-]`)

// uniqueID names a heading as GitHub does.
func uniqueID(taken map[string]int, title string) string {
	id := strings.ReplaceAll(notInID.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
	taken[id]++
	if n := taken[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n-1)
	}
	return id
}

var (
	table        = regexp.MustCompile(`(?s)<table>.*?</table>`)
	consoleBlock = regexp.MustCompile(`(?s)<pre><code class="language-console">(.*?)</code></pre>`)
	promptLine   = regexp.MustCompile(`(?m)^\$ ((?:.*\\\n)*.*)$`)
	noteInBlock  = regexp.MustCompile(`(?m)^(\S.*?\S)( {2,})(# .*)$`)
	plainBlock   = regexp.MustCompile(`(?s)<pre><code(?: class="language-sh")?>.*?</code></pre>`)
	openHeading  = regexp.MustCompile(`<h([2-4]) id="([^"]*)">`)
)

// dressHTML adds what Markdown can't express: kinds of tables, highlighted commands and
// links to headings.
func dressHTML(page string) string {
	page = table.ReplaceAllStringFunc(page, func(one string) string {
		kind := "table"
		switch columns := strings.Count(one, "<th>"); {
		case columns > 6:
			kind = "table marks"
		case columns > 3:
			kind = "table wide"
		}
		return `<div class="` + kind + `">` + one + "</div>"
	})
	page = strings.ReplaceAll(page, "<p>File: ", `<p class="file">File: `)
	page = strings.ReplaceAll(page, "<thead>\n<tr>\n<th></th>\n<th></th>\n</tr>\n</thead>\n", "")
	page = consoleBlock.ReplaceAllStringFunc(page, func(block string) string {
		return promptLine.ReplaceAllString(strings.Replace(block, `<code class="language-console">$`,
			"<code class=\"language-console\">\n$", 1), `<b class="prompt">$$ </b><b>$1</b>`)
	})
	page = plainBlock.ReplaceAllStringFunc(page, func(block string) string {
		return noteInBlock.ReplaceAllString(block, `$1<i class="gap">$2</i><i class="note">$3</i>`)
	})
	page = strings.ReplaceAll(page, "<code class=\"language-console\">\n", `<code class="language-console">`)
	return openHeading.ReplaceAllString(page, `<h$1 id="$2"><a class="anchor" href="#$2" aria-label="link to this">#</a>`)
}
