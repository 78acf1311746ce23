// Pictures draws the live view as it is with the recorded agents of
// `hookmux up --demo`: two stills and a short film, as SVG.
//
//	go run ./internal/gen/pictures docs/pictures
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/ui/demo"
	"github.com/hookmux/hookmux/internal/ui/tui"
)

const columns, lines = 110, 24

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
	film, err := recordDemo()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, svg := range map[string]string{
		"view.svg":    drawFilm(film.at("4 waiting", "Run the payment tests")),
		"request.svg": drawFilm(film.at("Claude Code has a plan", "Compare row counts")),
		"demo.svg":    drawFilm(film),
	} {
		if svg == "" {
			return fmt.Errorf("%s: the demo never showed that", name)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shot is one frame of the view and how long it stands.
type shot struct {
	text  string
	since time.Time
	lasts time.Duration
}

type film []shot

// at is the first frame with all these words, alone.
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

// camera notes every frame of the view that differs from the one before.
type camera struct {
	*tui.Model
	mu   sync.Mutex
	film film
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
	now := time.Now()
	if n := len(c.film); n == 0 || c.film[n-1].text != v.Content {
		if n > 0 {
			c.film[n-1].lasts = now.Sub(c.film[n-1].since)
		}
		c.film = append(c.film, shot{text: v.Content, since: now})
	}
	return v
}

// shows waits until the view shows some words.
func (c *camera) shows(ctx context.Context, words string) error {
	for {
		c.mu.Lock()
		now := ""
		if n := len(c.film); n > 0 {
			now = plainText(c.film[n-1].text)
		}
		c.mu.Unlock()
		if strings.Contains(now, words) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%q was not shown; the last frame is\n%s", words, now)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// keyPause is how fast they press one key after the other.
const keyPause = 150 * time.Millisecond

// viewerStep is what whoever looks at the film does: they wait for some words, look at
// them, and press keys.
type viewerStep struct {
	words string
	pause time.Duration
	keys  []tea.KeyPressMsg
}

var (
	keyUp = tea.KeyPressMsg{Code: tea.KeyUp}
)

func letter(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }

// top goes to the first row.
var top = []tea.KeyPressMsg{keyUp, keyUp, keyUp, keyUp, keyUp}

// acts answer everything that the demo asks, from the top.
var acts = []viewerStep{
	{words: "4 waiting", pause: time.Second, keys: top},
	{words: "Run the payment tests", pause: 3 * time.Second, keys: []tea.KeyPressMsg{letter('a')}},
	{words: "3 waiting", pause: time.Second, keys: top},
	{words: "Shared by all servers", pause: 2 * time.Second, keys: []tea.KeyPressMsg{letter('2')}},
	{words: "2 waiting", pause: time.Second, keys: top},
	{words: "Clean build", pause: 2 * time.Second, keys: []tea.KeyPressMsg{letter('a')}},
	{words: "1 waiting", pause: time.Second, keys: top},
	{words: "Compare row counts", pause: 3 * time.Second, keys: []tea.KeyPressMsg{letter('a')}},
	{words: "5 done", pause: 3 * time.Second},
}

// recordDemo plays the demo and answers what it asks.
func recordDemo() (film, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	var all film
	err := demo.Run(ctx, func(ctx context.Context, h *demo.Daemon) error {
		c := &camera{Model: tui.New(ctx, tui.Options{Daemon: h})}
		program := tea.NewProgram(c, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard),
			tea.WithWindowSize(columns, lines), tea.WithoutSignals(), tea.WithFPS(30))
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
		for _, a := range acts {
			if err := c.shows(ctx, a.words); err != nil {
				return err
			}
			time.Sleep(a.pause)
			for _, key := range a.keys {
				program.Send(key)
				time.Sleep(keyPause)
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.film[len(c.film)-1].lasts = 3 * time.Second
		all = c.film
		return nil
	})
	return all, err
}
