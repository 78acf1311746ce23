package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// What approve, deny, answer, plan and release have in common.

// lookAt is the request a person means, which must still wait.
func (w *world) lookAt(ctx context.Context, id string) (*client.Client, client.Request, error) {
	c, err := w.hub(ctx)
	if err != nil {
		return nil, client.Request{}, err
	}
	item, err := c.Request(ctx, id)
	if err != nil {
		var gone *wire.Error
		if errors.As(err, &gone) && gone.Code == wire.CodeGone {
			return nil, client.Request{}, &codeError{exitError, gone.Message}
		}
		return nil, client.Request{}, err
	}
	return c, item, nil
}

// send answers a request; where approvals ask for a PIN, it is asked for.
func (w *world) send(ctx context.Context, c *client.Client, reply client.FeedReply, asJSON bool) error {
	result, err := c.Reply(ctx, reply)
	if client.NeedsPIN(err) && reply.PIN == "" {
		if reply.PIN, err = w.askPIN("PIN: ", err); err != nil {
			return err
		}
		result, err = c.Reply(ctx, reply)
	}
	if err != nil {
		return err
	}
	return w.sayOutcome(result, asJSON)
}

func (w *world) sayOutcome(result client.FeedResult, asJSON bool) error {
	if asJSON {
		if err := w.printJSON(result); err != nil {
			return err
		}
	}
	late := func(format string, args ...any) error {
		if asJSON {
			return &codeError{code: exitError}
		}
		return &codeError{exitError, fmt.Sprintf(format, args...)}
	}
	switch result.Outcome {
	case "delivered":
	case "already":
		if result.By == "" {
			return late("%s: too late: %s", result.ID, result.Why)
		}
		return late("%s: too late, decided by %s", result.ID, result.By)
	case "expired":
		return late("%s: nobody waits for the answer any more: %s", result.ID, result.Why)
	default:
		return late("%s", result.Why)
	}
	if asJSON {
		return nil
	}
	item := result.Item
	switch {
	case result.Decided != nil:
		w.say("%s: %s", result.ID, w.style().Ended(item))
	default:
		w.say("%s: %s", result.ID, result.Why)
	}
	for _, less := range result.Degraded {
		w.say("the agent does not hear all of it: %s", termsafe.Line(less, 0))
	}
	if g := result.Grant; g != nil {
		w.say("from now on allowed: %s (%s); `hookmux allow revoke %s` takes it back", termsafe.Line(g.Rule, 0), termsafe.Line(g.Reach, 0), g.ID)
	}
	return nil
}

// terminal reports whether a person types into stdin.
func (w *world) terminal() bool {
	f, ok := w.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// askPIN reads a PIN: from the terminal without showing it, else a line of
// stdin.
func (w *world) askPIN(prompt string, why error) (string, error) {
	if w.terminal() {
		fmt.Fprint(w.stderr, prompt)
		b, err := term.ReadPassword(int(w.stdin.(*os.File).Fd()))
		fmt.Fprintln(w.stderr)
		return string(b), err
	}
	reader, ok := w.stdin.(*bufio.Reader)
	if !ok {
		reader = bufio.NewReader(w.stdin)
	}
	line, err := reader.ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line == "" && err != nil {
		return "", &codeError{exitDenied, why.Error() + "; run it in your terminal, or write the PIN to its stdin"}
	}
	return line, nil
}

// sure asks a person to say yes; without a terminal --yes must.
func (w *world) sure(question string, yes bool) error {
	if yes {
		return nil
	}
	if !w.terminal() {
		return usage("say --yes to confirm: %s", question)
	}
	fmt.Fprint(w.stderr, question+" [y/N] ")
	line, _ := bufio.NewReader(w.stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return &codeError{exitError, "nothing was changed"}
	}
	return nil
}

// eventIn is the event's name as a payload says it.
func eventIn(payload []byte) string {
	for _, key := range []string{"hook_event_name", "event"} {
		if s, ok := jsonscan.String(jsonscan.Get(payload, key)); ok && s != "" {
			return s
		}
	}
	return ""
}

// validJSON is a payload as one JSON value.
func validJSON(payload []byte) json.RawMessage {
	if len(payload) == 0 {
		return nil
	}
	return event.RawJSON(payload)
}
