package terminal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// popupLife is longer than any question.
const popupLife = 120 * time.Second

const popupWidth = 76

var (
	errNoPopup = errors.New("tmux opened no popup over your terminal: it has none before version 3.2, and does not " +
		"open one over another popup or a menu. Close what is open there and run this again, or run it outside of tmux")
	errTwoPopups = errors.New("another program passes itself off as the popup for the code; run this outside of tmux")
)

// openPopup opens a popup over a tmux client and gives its terminal. Other
// programs cannot read what a popup shows.
func (s *Source) openPopup(ctx context.Context, c *authority.TerminalClient, text string) (screen, error) {
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	if strings.ContainsAny(c.Name, "'\"\\\n") {
		return nil, errNoPopup
	}
	token := "hookmux-" + hex.EncodeToString(random)
	life, cancel := context.WithTimeout(ctx, popupLife)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		// The popup ends with its command; the daemon writes what it shows. The token comes by
		// standard input: no one knows it before the popup is there.
		command := fmt.Sprintf("display-popup -c '%s' -E -w %d -h %d 'sleep %d; : %s'\n", c.Name, popupWidth,
			popupHeight(text), int(popupLife.Seconds()), token)
		_, _ = s.runTmuxWith(life, c.Server.PID, command, "source-file", "-")
	}()
	end := func() {
		cancel()
		<-closed
	}
	holder, err := s.awaitPopup(life, c.Server, token, closed)
	if err != nil {
		end()
		return nil, err
	}
	on, err := openScreen(holder.TTY)
	if err != nil {
		endSession(holder.PID)
		end()
		return nil, err
	}
	return &popupScreen{screen: on, closed: closed, end: func() {
		endSession(holder.PID)
		end()
	}}, nil
}

// popupHeight has room for a text, three codes and the border.
func popupHeight(text string) int {
	rows := 2 + 1 + 3*codeTries
	return rows + 1 + strings.Count(wrapLines(text, popupWidth-2), "\r\n")
}

// awaitPopup finds the process that tmux started for the popup: the only one that
// knows the token, at a terminal that is no pane.
func (s *Source) awaitPopup(ctx context.Context, server proc.Process, token string,
	closed <-chan struct{}) (proc.Process, error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		found, err := s.findPopup(server.PID, token)
		if err != nil {
			return proc.Process{}, err
		}
		if found.PID != 0 {
			state, err := s.Tmux(server)
			isPane := func(p authority.TmuxPane) bool { return p.TTY == found.TTY }
			if err != nil || slices.ContainsFunc(state.Panes, isPane) {
				return proc.Process{}, errTwoPopups
			}
			return found, nil
		}
		select {
		case <-closed:
			return proc.Process{}, errNoPopup
		case <-ctx.Done():
			return proc.Process{}, errNoPopup
		case <-tick.C:
		}
	}
}

// findPopup gives no process where there is none yet.
func (s *Source) findPopup(server int, token string) (found proc.Process, err error) {
	for _, pid := range proc.Descendants(server) {
		args, err := s.Args(pid)
		if err != nil || !strings.Contains(strings.Join(args, " "), token) {
			continue
		}
		p, err := s.Lookup(pid)
		if err != nil || p.TTY == "" || p.PPID != server {
			continue
		}
		if found.PID != 0 {
			return proc.Process{}, errTwoPopups
		}
		found = p
	}
	return found, nil
}

// popupScreen ends its popup when it is closed.
type popupScreen struct {
	screen
	closed <-chan struct{}
	end    func()
}

// ReadKey takes no key once tmux says that the popup is closed.
func (p *popupScreen) ReadKey(ctx context.Context) (byte, error) {
	key, err := p.screen.ReadKey(ctx)
	select {
	case <-p.closed:
		return 0, errCancelled
	default:
		return key, err
	}
}

func (p *popupScreen) Close() {
	p.screen.Close()
	p.end()
}
