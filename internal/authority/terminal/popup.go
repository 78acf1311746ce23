package terminal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// popupLife is longer than any question.
const popupLife = 120 * time.Second

var errNoPopup = errors.New("tmux opened no popup")

// openPopup opens a popup over a tmux client and gives its terminal. Other
// programs cannot read what a popup shows.
func (s *Source) openPopup(ctx context.Context, c *authority.TerminalClient) (screen, error) {
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	token := "hookmux-" + hex.EncodeToString(random)
	life, cancel := context.WithTimeout(ctx, popupLife)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		// The popup ends with its command; what it shows is written by the daemon.
		command := fmt.Sprintf("sleep %d; : %s", int(popupLife.Seconds()), token)
		_, _ = s.runTmux(life, c.Server.PID, "display-popup", "-c", c.Name, "-E", "-w", "76", "-h", "9", command)
	}()
	holder, err := s.awaitPopup(life, c.Server.PID, token, closed)
	if err != nil {
		cancel()
		<-closed
		return nil, err
	}
	on, err := openScreen(holder.TTY)
	if err != nil {
		endSession(holder.PID)
		cancel()
		<-closed
		return nil, err
	}
	return &popupScreen{screen: on, end: func() {
		endSession(holder.PID)
		cancel()
		<-closed
	}}, nil
}

// awaitPopup finds the process that tmux started for the popup.
func (s *Source) awaitPopup(ctx context.Context, server int, token string, closed <-chan struct{}) (proc.Process,
	error) {
	ctx, cancel := context.WithTimeout(ctx, tmuxWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, pid := range proc.Descendants(server) {
			args, err := s.Args(pid)
			if err != nil || !strings.Contains(strings.Join(args, " "), token) {
				continue
			}
			if p, err := s.Lookup(pid); err == nil && p.TTY != "" && p.PPID == server {
				return p, nil
			}
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

// popupScreen ends its popup when it is closed.
type popupScreen struct {
	screen
	end func()
}

func (p *popupScreen) Close() {
	p.screen.Close()
	p.end()
}
