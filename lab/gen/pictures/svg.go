package main

import (
	"fmt"
	"html"
	"image/color"
	"strings"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// The measures of a picture, in pixels.
const (
	cellWidth  = 8.4
	lineHeight = 19.0
	margin     = 14.0
	titleBar   = 36.0
	captionBar = 46.0
)

// The colours of a terminal with a dark background.
var palette = [...]string{
	"#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4",
	"#7f848e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff",
}

const (
	background = "#1e2127"
	foreground = "#d7dae0"
	faintColor = "#949ba8"
	barColor   = "#14161b"
	markColor  = "#43262c"
	plainFont  = "Inter,system-ui,-apple-system,Segoe UI,Roboto,sans-serif"
)

func plainText(s string) string { return ansi.Strip(s) }

// drawFilm draws frames one after the other, forever; a single one is a still.
func drawFilm(of size, shots film) string {
	if len(shots) == 0 {
		return ""
	}
	width, height := 2*margin+float64(of.columns)*cellWidth, 2*margin+titleBar+float64(of.lines)*lineHeight
	if len(shots) > 1 {
		height += captionBar
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" `+
		`xml:space="preserve" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">`+"\n",
		width, height, width, height)
	fmt.Fprint(&b, "<title>hookmux up</title>\n")
	drawStyle(&b, shots)
	fmt.Fprintf(&b, `<clipPath id="window"><rect width="%.0f" height="%.0f" rx="10"/></clipPath><g clip-path="url(#window)">`+
		`<rect width="100%%" height="100%%" fill="%s"/><rect width="100%%" height="%.0f" fill="%s"/>`+"\n", width, height, background,
		titleBar, barColor)
	for i, s := range shots {
		fmt.Fprintf(&b, `<g class="f f%d">`+"\n", i)
		drawTabs(&b, s.tab, len(shots) > 1)
		drawFrame(&b, of, s)
		drawCaption(&b, s, width, height)
		b.WriteString("</g>\n")
	}
	b.WriteString("</g></svg>\n")
	return b.String()
}

// drawTabs names the window that is shown; a still has only that one.
func drawTabs(b *strings.Builder, shown int, film bool) {
	x := margin
	for i, name := range tabs {
		width := float64(len(name))*8.5 + 2*margin
		switch {
		case i == shown:
			fmt.Fprintf(b, `<path d="M%.0f %.0fv-20q0-8 8-8h%.0fq8 0 8 8v20z" fill="%s"/>`, x, titleBar, width-16, background)
			fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-family="%s" font-weight="600" fill="%s">%s</text>`, x+margin, titleBar-14,
				plainFont, foreground, name)
		case film:
			fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-family="%s" fill="%s">%s</text>`, x+margin, titleBar-14, plainFont,
				faintColor, name)
		}
		x += width
	}
	b.WriteByte('\n')
}

// drawStyle shows one frame after the other. If nothing moves, the first stays.
func drawStyle(b *strings.Builder, shots film) {
	b.WriteString("<style>text{dominant-baseline:middle;white-space:pre}")
	if len(shots) > 1 {
		total := time.Duration(0)
		for _, s := range shots {
			total += s.lasts
		}
		fmt.Fprintf(b, ".f{visibility:hidden}.f0{visibility:visible}@media (prefers-reduced-motion:no-preference){"+
			".f{animation-duration:%.1fs;animation-iteration-count:infinite;animation-timing-function:step-end}", total.Seconds())
		at := time.Duration(0)
		for i, s := range shots {
			from, to := 100*at.Seconds()/total.Seconds(), 100*(at+s.lasts).Seconds()/total.Seconds()
			begins := "hidden"
			if i == 0 {
				begins = "visible"
			}
			fmt.Fprintf(b, "\n.f%d{animation-name:k%d}@keyframes k%d{0%%{visibility:%s}%.3f%%{visibility:visible}"+
				"%.3f%%{visibility:hidden}}", i, i, i, begins, from, to)
			at += s.lasts
		}
		b.WriteString("}")
	}
	b.WriteString("</style>\n")
}

// drawCaption draws the key that is pressed, as a key, and what it does.
func drawCaption(b *strings.Builder, s shot, width, height float64) {
	if s.caption == "" {
		return
	}
	y := height - captionBar/2
	fmt.Fprintf(b, `<rect x="0" y="%.0f" width="%.0f" height="%.0f" fill="#2a2f38"/>`, height-captionBar, width, captionBar)
	x, fill, cap := margin, foreground, background
	if s.marked != "" {
		fill, cap = palette[1], background
	}
	if s.key != "" {
		width := 20 + 10*float64(len(s.key))
		fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%.0f" height="28" rx="6" fill="%s"/><text x="%.0f" y="%.0f" `+
			`text-anchor="middle" font-weight="bold" font-size="16" fill="%s">%s</text>`, x, y-14, width, fill, x+width/2, y, cap,
			html.EscapeString(s.key))
		x += width + 12
	}
	fontSize := 18
	if width < 500 { // a phone
		fontSize = 15
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-family="%s" font-size="%d" font-weight="600" fill="%s">%s</text>`+"\n", x, y, plainFont,
		fontSize, foreground, html.EscapeString(s.caption))
}

// drawFrame draws the cells of a frame, in runs of one look.
func drawFrame(b *strings.Builder, of size, s shot) {
	zoom := 1.0
	if s.columns > 0 {
		zoom = float64(of.columns) / float64(s.columns)
		of.columns, of.lines = s.columns, int(float64(of.lines)/zoom)
	}
	fmt.Fprintf(b, `<g transform="translate(%.0f %.0f) scale(%.3f)">`+"\n", margin, titleBar+margin/2, zoom)
	defer b.WriteString("</g>\n")
	screen := uv.NewScreenBuffer(of.columns, of.lines)
	uv.NewStyledString(s.text).Draw(screen, screen.Bounds())
	for y := range of.lines {
		at, line := (float64(y)+0.6)*lineHeight, ""
		for x := range of.columns {
			line += screen.CellAt(x, y).Content
		}
		marked := s.marked != "" && strings.Contains(line, s.marked)
		if marked {
			top := at - lineHeight/2
			fmt.Fprintf(b, `<rect x="0" y="%.1f" width="%.1f" height="%.1f" fill="%s"/><rect x="0" y="%.1f" width="4" height="%.1f" fill="%s"/>`+"\n",
				top, float64(of.columns)*cellWidth, lineHeight+.5, markColor, top, lineHeight+.5, palette[1])
		}
		if marked && s.loud.MatchString(line) { // what matters of it
			at := s.loud.FindStringIndex(line)
			for x := range of.columns {
				if first := ansi.StringWidth(line[:at[0]]); x >= first && x < first+ansi.StringWidth(line[at[0]:at[1]]) {
					cell := *screen.CellAt(x, y)
					cell.Style = uv.Style{Fg: ansi.BrightWhite, Attrs: uv.AttrBold}
					screen.SetCell(x, y, &cell)
				}
			}
		}
		for x := 0; x < of.columns; {
			style, run, first := screen.CellAt(x, y).Style, "", x
			for x < of.columns && screen.CellAt(x, y).Style.Equal(&style) {
				run += screen.CellAt(x, y).Content
				x++
			}
			if marked {
				style.Fg = nil
				style.Attrs &^= uv.AttrFaint
			}
			drawRun(b, run, style, float64(first)*cellWidth, at)
		}
	}
}

func drawRun(b *strings.Builder, run string, style uv.Style, x, y float64) {
	n := ansi.StringWidth(run)
	fill, weight := colorOf(style.Fg, foreground), ""
	if style.Attrs&uv.AttrFaint != 0 {
		fill = faintColor
	}
	if style.Attrs&uv.AttrBold != 0 {
		weight = ` font-weight="bold"`
	}
	back := colorOf(style.Bg, "")
	if style.Attrs&uv.AttrReverse != 0 {
		fill, back = background, fill
	}
	if back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y-lineHeight/2,
			float64(n)*cellWidth, lineHeight, back)
	}
	words := strings.TrimLeft(run, " ")
	x += float64(len(run)-len(words)) * cellWidth
	trimmed := strings.TrimRight(words, " ")
	if trimmed == "" {
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" fill="%s"%s>%s</text>`+"\n", x, y,
		float64(ansi.StringWidth(trimmed))*cellWidth, fill, weight, html.EscapeString(trimmed))
}

// colorOf returns a colour as SVG has it; none is the given one.
func colorOf(c color.Color, none string) string {
	switch c := c.(type) {
	case nil:
		return none
	case ansi.BasicColor:
		return palette[int(c)%len(palette)]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
