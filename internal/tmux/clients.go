package tmux

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Client is a terminal that is attached to a server.
type Client struct {
	Name     string
	TTY      string
	PID      int
	Terminal string // what the terminal calls itself, else its TERM
	Pane     string // the active one of the window it shows
	Session  string // the id of the session it shows
	// Focused says that the terminal has the keyboard. It is meaningful only if Reports is true: not
	// every terminal reports it.
	Focused, Reports bool
	Used             time.Time // its last key
}

var clientFields = strings.Join([]string{
	"#{client_name}", "#{client_tty}", "#{client_termtype}", "#{client_termname}", "#{client_flags}", "#{focus-events}",
	"#{client_activity}", "#{client_control_mode}", "#{session_id}", "#{pane_id}",
	"#{client_pid}",
}, sep)

// Clients lists the users' terminals that are attached.
func (s *Server) Clients(ctx context.Context) ([]Client, error) {
	out, err := s.runCommand(ctx, "list-clients", "-F", clientFields)
	if err != nil {
		return nil, err
	}
	var list []Client
	for _, row := range strings.Split(out, "\n") {
		f := strings.Split(row, sep)
		if len(f) != 11 || f[7] == "1" || !validID(f[9], '%') { // 1: a program, not a user
			continue
		}
		c := Client{Name: f[0], TTY: f[1], Terminal: f[2], Session: f[8], Pane: f[9]}
		c.PID, _ = strconv.Atoi(f[10])
		if c.Terminal == "" {
			c.Terminal = f[3]
		}
		c.Focused = slices.Contains(strings.Split(f[4], ","), "focused")
		c.Reports = f[5] == "1" || f[5] == "on"
		at, _ := strconv.ParseInt(f[6], 10, 64)
		c.Used = time.Unix(at, 0)
		list = append(list, c)
	}
	return list, nil
}

// usedLately is how long after a key press you are assumed to look at a terminal that doesn't say
// whether it has the keyboard.
const usedLately = 15 * time.Second

// IsWatching reports whether the user at the client looks at its active pane.
func (c *Client) IsWatching(now time.Time) bool {
	if c.Reports {
		return c.Focused
	}
	return now.Sub(c.Used) < usedLately
}

// Message shows a line of text to one client for a few seconds.
func (s *Server) Message(ctx context.Context, client, text string) error {
	// The text is an argument that tmux expands, by strftime as well.
	text = strings.ReplaceAll(Data(text, lineWidth), "%", "%%")
	_, err := s.runCommand(ctx, "display-message", "-d", messageTime, "-c", client, text)
	if err != nil { // before 3.2 a message stays as long as all messages do
		_, err = s.runCommand(ctx, "display-message", "-c", client, text)
	}
	return err
}

// messageTime is how long a message stays, in milliseconds: tmux's own 750 are easily missed.
const messageTime = "5000"

const lineWidth = 200 // columns of a message
