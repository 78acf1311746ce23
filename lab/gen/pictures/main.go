// Pictures draws the live view as it is with the recorded agents of
// `hookmux up --demo`: two stills, and a film of twelve seconds in two widths, as SVG.
//
//	go run ./lab/gen/pictures docs/pictures
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/cli/demo"
	"github.com/hookmux/hookmux/internal/ui/tui"
)

// size is that of a terminal, in cells.
type size struct{ columns, lines int }

var (
	wide  = size{80, 22} // the stills and the film
	phone = size{42, 24} // the film, on a phone
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures FOLDER")
		os.Exit(64)
	}
	if err := drawAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func drawAll(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	pictures := map[string]string{}
	for name, of := range map[string]size{"demo.svg": wide, "demo-phone.svg": phone} {
		film, err := recordDemo(of)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if of == wide {
			pictures["view.svg"] = drawFilm(wide, film.at("4 waiting", "Run the payment tests"))
			pictures["request.svg"] = drawFilm(wide, film.at("Claude Code has a plan", "Compare row counts"))
		}
		pictures[name] = drawFilm(of, append(film, blockedShot(of)))
	}
	for name, svg := range pictures {
		if svg == "" {
			return fmt.Errorf("%s: the demo never showed that", name)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shot is one frame, the key that is pressed on it, and how long it's shown.
type shot struct {
	text    string
	key     string
	caption string
	lasts   time.Duration
	// columns is the width of a screen that is shown larger or smaller than the film; 0 is the film's.
	columns int
	tab     int
	marked  string         // lines with it are highlighted
	loud    *regexp.Regexp // and this in them most
}

// tabs are the windows that the film shows.
var tabs = []string{"hookmux", "Claude Code"}

type film []shot

// at returns a film of only the first frame that shows all these words.
func (f film) at(words ...string) film {
	for _, s := range f {
		found := 0
		for _, w := range words {
			if strings.Contains(plainText(s.text), w) {
				found++
			}
		}
		if found == len(words) {
			return film{{text: s.text}}
		}
	}
	return nil
}

// Calls that guard destructive stopped, on the screen of a real Claude Code 2.1.327, 60 and 42 columns wide.
// To take new ones, prompt a real Claude Code in tmux and run tmux capture-pane -e -p.
var (
	//go:embed screens/claude-wide.ansi
	claudeWide string
	//go:embed screens/claude-phone.ansi
	claudePhone string
)

// reason is why, without what the agent puts around it; it goes over two lines.
var reason = regexp.MustCompile(`force-pushes( over)?|(over )?commits that others may have`)

// blockedShot returns what a real Claude Code showed when a guard stopped its call.
func blockedShot(of size) shot {
	text, columns := claudeWide, 60
	if of == phone {
		text, columns = claudePhone, 42
	}
	return shot{text: "\n" + strings.ReplaceAll(text, "⎿", "└"), // few fonts have it
		key: "guard", caption: "Force-push blocked, in every agent", lasts: 3300 * time.Millisecond, columns: columns, tab: 1, marked: "│", loud: reason}
}

// camera keeps what the view shows.
type camera struct {
	*tui.Model
	mu  sync.Mutex
	now string
}

// Init starts the view.
func (c *camera) Init() tea.Cmd { return c.Model.Init() }

// Update hands a message on.
func (c *camera) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := c.Model.Update(msg)
	return c, cmd
}

// View draws, and keeps what was drawn.
func (c *camera) View() tea.View {
	v := c.Model.View()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = v.Content
	return v
}

func (c *camera) shown() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// shows waits until the view shows a text.
func (c *camera) shows(ctx context.Context, words string) error {
	for !strings.Contains(plainText(c.shown()), words) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%q was not shown; the last frame is\n%s", words, plainText(c.shown()))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// keyPause is the pause between two keys.
const keyPause = 150 * time.Millisecond

// scene is one shot of the film: it's taken once the view shows a text, and answered then.
type scene struct {
	waiting string // once the header says so, the first row is selected
	words   string // these are shown then
	key     string // is pressed, and shown
	caption string
	lasts   time.Duration
	typed   string // after the key; a second shot shows it
	reason  string // the second shot's caption
}

var keyUp = tea.KeyPressMsg{Code: tea.KeyUp}

// scenes answer everything that the demo asks, from the top.
var scenes = []scene{
	{waiting: "4 waiting", words: "Run the payment tests", key: "a", caption: "Four agents wait. Approve one",
		lasts: 2300 * time.Millisecond},
	{waiting: "3 waiting", words: "Shared by all servers", key: "2", caption: "Answer a question",
		lasts: 1700 * time.Millisecond},
	{waiting: "2 waiting", words: "Clean build", key: "d", caption: "This one deletes. Deny it",
		lasts: 1500 * time.Millisecond, typed: "use make clean", reason: "Say what to do instead"},
	{waiting: "1 waiting", words: "Compare row counts", key: "a", caption: "Accept a plan", lasts: 1700 * time.Millisecond},
}

// settled is how long the view is left alone after the text is there, before the shot.
const settled = 700 * time.Millisecond

// recordDemo plays the demo and answers what it asks.
func recordDemo(of size) (film, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	var all film
	err := demo.Run(ctx, func(ctx context.Context, h *demo.Daemon) error {
		c := &camera{Model: tui.New(ctx, tui.Options{Daemon: h, Home: "/home/you"})}
		program := tea.NewProgram(c, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard),
			tea.WithWindowSize(of.columns, of.lines), tea.WithoutSignals(), tea.WithFPS(30))
		tui.Follow(ctx, h, program.Send)
		ended := make(chan error, 1)
		go func() {
			_, err := program.Run()
			ended <- err
		}()
		defer func() {
			program.Kill()
			<-ended
		}()
		for _, s := range scenes {
			if err := c.shows(ctx, s.waiting); err != nil {
				return err
			}
			time.Sleep(settled) // keys answer nothing in a request's first moments
			for range 5 {
				program.Send(keyUp)
				time.Sleep(keyPause)
			}
			for range 5 { // agents that a busy machine held up ask in another order
				if strings.Contains(plainText(c.shown()), s.words) {
					break
				}
				program.Send(tea.KeyPressMsg{Code: tea.KeyDown})
				time.Sleep(keyPause)
			}
			if err := c.shows(ctx, s.words); err != nil {
				return err
			}
			for strings.Contains(plainText(c.shown()), "· Space") { // what isn't read to its end can't be approved
				program.Send(tea.KeyPressMsg{Code: tea.KeySpace, Text: " "})
				time.Sleep(keyPause)
			}
			time.Sleep(settled)
			all = append(all, shot{text: c.shown(), key: s.key, caption: s.caption, lasts: s.lasts})
			press(program, s.key)
			if s.typed == "" {
				continue
			}
			press(program, s.typed)
			if err := c.shows(ctx, s.typed); err != nil {
				return err
			}
			all = append(all, shot{text: c.shown(), key: "Enter", caption: s.reason, lasts: s.lasts})
			program.Send(tea.KeyPressMsg{Code: tea.KeyEnter})
			time.Sleep(keyPause)
		}
		return nil
	})
	return all, err
}

// press presses one key for each letter.
func press(program *tea.Program, letters string) {
	for _, r := range letters {
		program.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
		time.Sleep(keyPause / 5)
	}
	time.Sleep(keyPause)
}
