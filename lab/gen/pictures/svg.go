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
	margin     = 18.0
	titleBar   = 30.0
	captionBar = 40.0
)

// The colours of a terminal with a dark background.
var palette = [...]string{
	"#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4",
	"#7f848e", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff",
}

const (
	background = "#1e2127"
	foreground = "#d7dae0"
	faintColor = "#858b96"
)

func plainText(s string) string { return ansi.Strip(s) }

// drawFilm draws frames one after the other, for ever; one alone is a still.
func drawFilm(of size, shots film) string {
	if len(shots) == 0 {
		return ""
	}
	width, height := 2*margin+float64(of.columns)*cellWidth, margin+titleBar+float64(of.lines)*lineHeight
	if len(shots) > 1 {
		height += captionBar
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" `+
		`xml:space="preserve" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">`+"\n",
		width, height, width, height)
	fmt.Fprint(&b, "<title>hookmux up</title>\n")
	drawStyle(&b, shots)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for i, dot := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%.0f" cy="%.0f" r="5.5" fill="%s"/>`, margin+float64(i)*18, titleBar/2, dot)
	}
	b.WriteByte('\n')
	for i, s := range shots {
		fmt.Fprintf(&b, `<g class="f f%d">`+"\n", i)
		drawFrame(&b, of, s.text)
		drawCaption(&b, s, width, height)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawStyle shows one frame after the other. Where nothing moves, the first stays.
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
	x := margin
	if s.key != "" {
		fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="30" height="26" rx="5" fill="%s"/><text x="%.0f" y="%.0f" `+
			`text-anchor="middle" font-weight="bold" font-size="16" fill="%s">%s</text>`, x, y-13, foreground, x+15, y, background,
			html.EscapeString(s.key))
		x += 44
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-size="16" fill="%s">%s</text>`+"\n", x, y, foreground, html.EscapeString(s.caption))
}

// drawFrame draws the cells of a frame, in runs of one look.
func drawFrame(b *strings.Builder, of size, text string) {
	screen := uv.NewScreenBuffer(of.columns, of.lines)
	uv.NewStyledString(text).Draw(screen, screen.Bounds())
	for y := range of.lines {
		at := margin + titleBar + (float64(y)+0.2)*lineHeight
		for x := 0; x < of.columns; {
			style, run, first := screen.CellAt(x, y).Style, "", x
			for x < of.columns && screen.CellAt(x, y).Style.Equal(&style) {
				run += screen.CellAt(x, y).Content
				x++
			}
			drawRun(b, run, style, margin+float64(first)*cellWidth, at)
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

// colorOf is a colour as SVG has it; none is the given one.
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
