package terminal

import (
	"context"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
)

// muxedScreen asks inside a multiplexer and shows the code behind it.
type muxedScreen struct {
	screen
	behind *behindScreen
}

func (m *muxedScreen) ShowCode(code string) (string, error) {
	m.behind.show(codeWords(code))
	return "Confirm with the four characters in the first lines of your terminal", nil
}

// behindScreen is the first lines of the terminal that a multiplexer's client runs at. The
// daemon writes there itself: a multiplexer can't reveal what it doesn't know. They also say
// what the code is for: the question itself may be where no one sees it.
type behindScreen struct {
	about   string
	on      screenWriter
	refresh func()
	drawn   chan struct{}
	end     context.CancelFunc

	mu   sync.Mutex
	text string
}

type screenWriter interface {
	Print(text string) error
	Close()
}

// maxAbout keeps what a code is for on one line.
const maxAbout = 60

// drawAgain is how often the lines are written: the multiplexer draws over it when what it shows
// changes.
const drawAgain = 250 * time.Millisecond

// openBehind opens the terminal of a client. Its modes and its keys stay the client's.
func (s *Source) openBehind(ctx context.Context, tty string, c *authority.TerminalClient, about string) (*behindScreen, error) {
	on, err := openWriter(tty)
	if err != nil {
		return nil, err
	}
	b := &behindScreen{about: about, on: on, drawn: make(chan struct{}), refresh: func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tmuxWait)
		defer cancel()
		_, _ = s.runTmux(ctx, c.Server.PID, "refresh-client", "-t", c.Name) // it draws over the line sooner or later
	}}
	ctx, b.end = context.WithCancel(ctx)
	go b.keepDrawn(ctx)
	return b, nil
}

func (b *behindScreen) show(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = text
	b.draw()
}

// draw writes the line and puts the cursor back. b.mu is held.
func (b *behindScreen) draw() {
	if b.text != "" {
		_ = b.on.Print("\x1b7\x1b[1;1H\x1b[0;7m hookmux: " + b.about + " \x1b[2;1H " + b.text +
			", if you see a question about it \x1b[0m\x1b8") // the terminal may be gone
	}
}

func (b *behindScreen) keepDrawn(ctx context.Context) {
	defer close(b.drawn)
	tick := time.NewTicker(drawAgain)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			b.mu.Lock()
			b.draw()
			b.mu.Unlock()
		}
	}
}

// close has the multiplexer draw what belongs there.
func (b *behindScreen) close() {
	b.end()
	<-b.drawn
	b.on.Close()
	b.refresh()
}
