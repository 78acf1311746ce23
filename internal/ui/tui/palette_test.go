package tui

import (
	"image/color"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// Every colour can be read on what is behind it: on the background of any terminal, and on
// the selected row.
func TestContrast(t *testing.T) {
	for name, background := range map[string]color.RGBA{
		"white": white, "black": black, "GitHub dark": rgb(0x0d1117), "VS Code": rgb(0x1e1e1e), "Dracula": rgb(0x282a36),
		"Solarized dark": rgb(0x002b36), "Solarized light": rgb(0xfdf6e3), "Gruvbox light": rgb(0xfbf1c7), "Nord": rgb(0x2e3440),
		"Ubuntu": rgb(0x300a24), "a grey": rgb(0x808080),
	} {
		for _, profile := range []colorprofile.Profile{colorprofile.ANSI256, colorprofile.TrueColor} {
			p := newPalette(background, profile)
			inks := map[string]color.RGBA{"grey": p.grey}
			for i, ink := range [...]string{"black", "red", "green", "amber", "blue", "purple", "teal", "white"} {
				inks[ink] = p.inks[i]
			}
			for ink, c := range inks {
				least := leastContrast
				if background == rgb(0x808080) {
					least = 4 // nothing is further away than black and white
				}
				places := map[string]color.RGBA{"": background, " on the selected row": p.chosen}
				switch ink {
				case "red":
					places[" on a removed line"] = p.gone
				case "green":
					places[" on an added line"] = p.added
				}
				for where, behind := range places {
					if got := contrast(c, behind); got < least {
						t.Errorf("%s, %v: %s has a contrast of %.2f%s, want at least %.1f", name, profile, ink, got, where, least)
					}
				}
			}
		}
	}
	unknown := newPalette(nil, colorprofile.ANSI256)
	for name, background := range map[string]color.RGBA{"white": white, "black": black} {
		if got := contrast(unknown.grey, background); got < leastContrast {
			t.Errorf("on an unknown background that is %s grey has a contrast of %.2f, want at least %.1f", name, got, leastContrast)
		}
	}
}

func TestPaint(t *testing.T) {
	const frame = "\x1b[1;33mamber\x1b[m \x1b[2mfaint\x1b[m \x1b[" + edgeCodes + "m──\x1b[m \x1b[100mrow\x1b[m"
	for name, one := range map[string]struct {
		palette palette
		want    string
	}{
		"sixteen colours": {newPalette(white, colorprofile.ANSI),
			"\x1b[1;33mamber\x1b[m \x1b[2mfaint\x1b[m \x1b[2m──\x1b[m row\x1b[m"},
		"no background known": {newPalette(nil, colorprofile.TrueColor),
			"\x1b[1;33mamber\x1b[m \x1b[38;2;118;118;118mfaint\x1b[m \x1b[38;2;118;118;118m──\x1b[m row\x1b[m"},
		"white": {newPalette(white, colorprofile.TrueColor),
			"\x1b[1;38;2;138;90;0mamber\x1b[m \x1b[38;2;95;95;95mfaint\x1b[m \x1b[38;2;189;189;189m──\x1b[m " +
				"\x1b[48;2;232;232;232mrow\x1b[m"},
	} {
		if got := one.palette.paint(frame); got != one.want {
			t.Errorf("%s: the frame is %q, want %q", name, got, one.want)
		}
	}
}

func TestBackgroundInTheEnvironment(t *testing.T) {
	for value, want := range map[string]color.Color{"15;0": black, "0;15": white, "12;default;8": black, "0;7": white,
		"": nil, "0;default": nil, "1;99": nil} {
		if got := backgroundOf(value); got != want {
			t.Errorf("COLORFGBG=%s is %v, want %v", value, got, want)
		}
	}
}
