package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// soundChoice is the sound of a kind of notice: a file, or a name that the desktop
// knows.
type soundChoice struct{ file, name string }

// chooseSound reads a setting.
func chooseSound(setting, home string) soundChoice {
	if rest, ok := strings.CutPrefix(setting, "~/"); ok {
		setting = filepath.Join(home, rest)
	}
	if filepath.IsAbs(setting) {
		return soundChoice{file: setting}
	}
	return soundChoice{name: setting}
}

// players play a file, in the order in which they are tried. A name is for
// canberra-gtk-play alone.
var players = [][]string{{"pw-play"}, {"paplay"}, {"afplay"}, {"aplay", "-q"}, {"ffplay", "-nodisp", "-autoexit",
	"-loglevel", "error"}}

// soundPlayer plays a sound.
type soundPlayer struct {
	choice   func(kind string) soundChoice
	lookPath func(string) (string, error)
}

func (p soundPlayer) show(ctx context.Context, n *Notice) error {
	choice := p.choice(n.Kind)
	switch {
	case choice.file != "":
		if _, err := os.Stat(choice.file); err != nil {
			return err
		}
		for _, player := range players {
			if path, err := p.lookPath(player[0]); err == nil {
				return runQuietly(ctx, path, append(player[1:len(player):len(player)], choice.file)...)
			}
		}
		return absent("no program plays sounds: pw-play, paplay, afplay, aplay or ffplay")
	case choice.name != "":
		if path, err := p.lookPath("canberra-gtk-play"); err == nil {
			return runQuietly(ctx, path, "-i", choice.name)
		}
		return absent("canberra-gtk-play plays sounds by name; name a file instead")
	}
	return errors.New("no sound is chosen: `hookmux config set notify.sound FILE`")
}

// runQuietly runs a program and returns the first line of what it complains about.
func runQuietly(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, termsafe.Line(said, 120))
}
