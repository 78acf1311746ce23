package tui

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// palette maps the view's colours to those of the screen. The view draws with the terminal's
// sixteen (theme.go), which suit any terminal but not every eye: a faint grey is hard to read
// on white. Once the background is known, each is replaced by a readable one.
type palette struct {
	inks   [8]color.RGBA // in the order of the terminal's colours
	grey   color.RGBA    // faint text
	edge   color.RGBA    // lines around text, and what's behind a popup
	chosen color.RGBA    // behind the selected row
	added  color.RGBA    // behind an added line
	gone   color.RGBA    // behind a removed one
	known  bool          // all of it; otherwise only the grey, if grey is set
	drawn  bool          // the grey
}

// leastContrast is the contrast between text and background that WCAG requires.
const leastContrast = 4.5

// The colours to begin with: black, red, green, amber, blue, purple, teal, white.
var (
	darkInks = [8]color.RGBA{rgb(0x808080), rgb(0xff7b72), rgb(0x5fd75f), rgb(0xe3b341), rgb(0x79b8ff), rgb(0xd2a8ff),
		rgb(0x5fd7d7), rgb(0xeeeeee)}
	lightInks = [8]color.RGBA{rgb(0x262626), rgb(0xc4182a), rgb(0x007000), rgb(0x8a5a00), rgb(0x0858b8), rgb(0x7a3fd0),
		rgb(0x0b6e75), rgb(0x585858)}
	white, black = rgb(0xffffff), rgb(0x000000)
	// midGrey is readable on white and on black.
	midGrey = rgb(0x767676)
)

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// newPalette returns the palette for a background; nil if the terminal doesn't report one.
// A terminal with sixteen colours has its own.
func newPalette(background color.Color, profile colorprofile.Profile) palette {
	switch {
	case profile < colorprofile.ANSI256:
		return palette{}
	case background == nil:
		return palette{grey: midGrey, edge: midGrey, drawn: true}
	}
	r, g, b, _ := background.RGBA()
	behind := color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 255}
	inks, grey, far, tint, highlight := darkInks, rgb(0xa0a0a0), white, 0.24, 0.16
	if contrast(behind, black) > contrast(behind, white) {
		inks, grey, far, tint, highlight = lightInks, rgb(0x5f5f5f), black, 0.14, 0.09
	}
	p := palette{known: true, drawn: true, chosen: shownAs(mix(behind, far, highlight), profile),
		edge: shownAs(mix(behind, far, 0.26), profile), gone: shownAs(mix(behind, inks[inkRed], tint), profile),
		added: shownAs(mix(behind, inks[inkGreen], tint), profile)}
	p.grey = readable(grey, far, profile, p.chosen)
	for i := range inks {
		p.inks[i] = readable(inks[i], far, profile, p.chosen)
	}
	p.inks[inkRed] = readable(p.inks[inkRed], far, profile, p.chosen, p.gone)
	p.inks[inkGreen] = readable(p.inks[inkGreen], far, profile, p.chosen, p.added)
	return p
}

// The places of red and green among the terminal's colours.
const inkRed, inkGreen = 1, 2

// readable returns the colour, moved away from its background as far as is needed to read it.
func readable(c, far color.RGBA, profile colorprofile.Profile, behind ...color.RGBA) color.RGBA {
	for step := range 21 {
		moved := shownAs(mix(c, far, float64(step)/20), profile)
		if !slices.ContainsFunc(behind, func(b color.RGBA) bool { return contrast(moved, b) < leastContrast }) {
			return moved
		}
	}
	return far
}

// shownAs returns the colour that a terminal shows: the nearest of those that it has.
func shownAs(c color.RGBA, profile colorprofile.Profile) color.RGBA {
	r, g, b, _ := profile.Convert(c).RGBA()
	return color.RGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: 255}
}

func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*(1-share) + float64(y)*share)) }
	return color.RGBA{R: part(a.R, b.R), G: part(a.G, b.G), B: part(a.B, b.B), A: 255}
}

// contrast returns how far apart two colours are, from 1 to 21, as WCAG 2 computes it.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.RGBA) float64 {
	part := func(v uint8) float64 {
		if s := float64(v) / 255; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

// paint puts the palette's colours into a frame.
func (p *palette) paint(frame string) string {
	var b strings.Builder
	b.Grow(len(frame) + len(frame)/2)
	for {
		at := strings.Index(frame, "\x1b[")
		if at < 0 {
			break
		}
		end := strings.IndexByte(frame[at:], 'm')
		if end < 0 {
			break
		}
		b.WriteString(frame[:at])
		p.writeSequence(&b, frame[at+2:at+end])
		frame = frame[at+end+1:]
	}
	b.WriteString(frame)
	return b.String()
}

// writeSequence writes a style in the palette's colours.
func (p *palette) writeSequence(b *strings.Builder, codes string) {
	if codes == "" || codes == "0" {
		b.WriteString("\x1b[m")
		return
	}
	var out []string
	for code := range strings.SplitSeq(codes, ";") {
		n, err := strconv.Atoi(code)
		switch {
		case err != nil:
			out = append(out, code)
		case codes == edgeCodes:
			if n == 2 {
				out = append(out, p.faint(p.edge))
			}
		case n == 2:
			out = append(out, p.faint(p.grey))
		case n == chosenCode || n == addedCode || n == goneCode:
			if p.known {
				out = append(out, "48;"+inkCode(p.behind(n)))
			}
		case p.known && n >= 30 && n <= 37:
			out = append(out, "38;"+inkCode(p.inks[n-30]))
		case p.known && n >= 90 && n <= 97:
			out = append(out, "38;"+inkCode(p.inks[n-90]))
		default:
			out = append(out, code)
		}
	}
	if len(out) > 0 {
		b.WriteString("\x1b[" + strings.Join(out, ";") + "m")
	}
}

// behind returns a background, which only a known palette has.
func (p *palette) behind(code int) color.RGBA {
	switch code {
	case addedCode:
		return p.added
	case goneCode:
		return p.gone
	}
	return p.chosen
}

// faint returns a grey, or the terminal's own faint text.
func (p *palette) faint(grey color.RGBA) string {
	if !p.drawn {
		return "2"
	}
	return "38;" + inkCode(grey)
}

func inkCode(c color.RGBA) string {
	return "2;" + strconv.Itoa(int(c.R)) + ";" + strconv.Itoa(int(c.G)) + ";" + strconv.Itoa(int(c.B))
}

// backgroundOf reads what some terminals report about themselves in the environment
// (COLORFGBG): "15;0" is white on black.
func backgroundOf(value string) color.Color {
	n, err := strconv.Atoi(value[strings.LastIndexByte(value, ';')+1:])
	switch {
	case err != nil || n < 0 || n > 15:
		return nil
	case n < 7 || n == 8:
		return black
	}
	return white
}
