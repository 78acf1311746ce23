package notify

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/tty"
	"github.com/hookmux/hookmux/internal/tmux"
)

// terminals are the terminals that are attached to tmux.
type terminals struct {
	// servers are the sockets of the tmux servers to look at, that of a session
	// first; "" is the user's default one.
	servers func(agent, session string) []string
}

// attached is one terminal.
type attached struct {
	server *tmux.Server
	client tmux.Client
}

// list returns the terminals of all servers. Each is asked at the same time as the others: a
// server may be an agent's own, whose terminals no one looks at, or one that doesn't answer,
// and neither hides the terminals of another.
func (t *terminals) list(ctx context.Context, agent, session string) ([]attached, error) {
	sockets := t.servers(agent, session)
	lists, failed := make([][]attached, len(sockets)), make([]error, len(sockets))
	var asking sync.WaitGroup
	for i, socket := range sockets {
		asking.Go(func() {
			server := &tmux.Server{Socket: socket}
			clients, err := server.Clients(ctx)
			if !errors.Is(err, tmux.ErrNoServer) && !errors.Is(err, tmux.ErrNoTmux) {
				failed[i] = err
			}
			for _, c := range clients {
				lists[i] = append(lists[i], attached{server, c})
			}
		})
	}
	asking.Wait()
	if all := slices.Concat(lists...); len(all) > 0 {
		return oncePerTTY(all), nil
	}
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	return nil, absent("no terminal is attached to tmux")
}

// oncePerTTY keeps each terminal in the list once: the default server's socket may be named
// explicitly and also be meant by "".
func oncePerTTY(list []attached) []attached {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(one attached) bool {
		again := one.client.TTY != "" && seen[one.client.TTY]
		seen[one.client.TTY] = true
		return again
	})
}

// each does something with every terminal, and fails only if all of them did.
func (t *terminals) each(ctx context.Context, n *Notice, do func(attached) error) error {
	list, err := t.list(ctx, n.Agent, n.Session)
	if err != nil {
		return err
	}
	failed := make([]error, len(list))
	var doing sync.WaitGroup
	for i, one := range list {
		doing.Go(func() { failed[i] = do(one) })
	}
	doing.Wait()
	if slices.Contains(failed, nil) {
		return nil
	}
	return errors.Join(failed...)
}

// tmuxMessage shows a line in tmux.
type tmuxMessage struct{ *terminals }

func (m tmuxMessage) show(ctx context.Context, n *Notice) error {
	return m.each(ctx, n, func(one attached) error {
		return one.server.Message(ctx, one.client.Name, n.line()+" → "+n.Next)
	})
}

// bell rings.
type bell struct{ *terminals }

func (b bell) show(ctx context.Context, n *Notice) error {
	return b.each(ctx, n, func(one attached) error { return tty.Write(one.client.TTY, "\a") })
}

// oscNotice has terminals show a notice of their own.
type oscNotice struct {
	*terminals
	sequence func(terminal string) string // which one a terminal understands
}

func (o oscNotice) show(ctx context.Context, n *Notice) error {
	return o.each(ctx, n, func(one attached) error {
		return tty.Write(one.client.TTY, oscText(o.sequence(one.client.Terminal), n))
	})
}

// withdraw takes a notice back if the terminal can do that.
func (o oscNotice) withdraw(ctx context.Context, n *Notice) error {
	return o.each(ctx, n, func(one attached) error {
		if o.sequence(one.client.Terminal) != "99" {
			return nil
		}
		return tty.Write(one.client.TTY, "\x1b]99;i="+oscID(n)+":p=close;\x1b\\")
	})
}

// sequenceFor returns the sequence that a terminal understands, by the name it reports.
// OSC 9 is what most terminals know that report none.
func sequenceFor(terminal string) string {
	name := strings.ToLower(terminal)
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(s string) bool { return strings.Contains(name, s) })
	}
	switch {
	case has("kitty"):
		return "99"
	case has("ghostty", "foot", "rxvt", "vte", "contour"):
		return "777"
	}
	return "9"
}

// oscText returns a notice for a terminal. Its texts contain no control characters; separators
// of the sequence's fields are removed from them.
func oscText(kind string, n *Notice) string {
	switch kind {
	case "99":
		pack := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
		id := oscID(n)
		return "\x1b]99;i=" + id + ":d=0:e=1:o=unfocused;" + pack(n.Title) + "\x1b\\" +
			"\x1b]99;i=" + id + ":d=1:e=1:p=body;" + pack(n.lines()) + "\x1b\\"
	case "777":
		field := func(s string) string { return strings.NewReplacer(";", ",", "\n", " · ").Replace(s) }
		return "\x1b]777;notify;" + field(n.Title) + ";" + field(n.lines()) + "\x1b\\"
	}
	// Never a number and a semicolon at the beginning: those mean other things.
	return "\x1b]9;hookmux: " + strings.ReplaceAll(n.line(), "\n", " ") + "\x1b\\"
}

// oscID names a notice to kitty, which takes letters, digits and a few signs.
func oscID(n *Notice) string {
	return "hookmux-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, n.ID[:min(len(n.ID), 64)])
}
