package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// A request is named by its ID. Any other name (part of a title, or none at all) is the
// agent's text, and the inbox may have changed since you looked: so the request is shown
// in full and a key is needed before a yes.

// requestNames is in the help of every command that takes a request.
const requestNames = `REQUEST is an ID from ` + "`hookmux inbox`" + `, the beginning of one, or part of a title.`

// chosen is the request you mean.
type chosen struct {
	client *client.Client
	item   client.Request
	byID   bool             // named by its ID
	others []client.Request // further requests that the name fits
}

// answerable rejects what the machine of the request doesn't take from here, before you type
// a code for nothing. choice is what the flags ask for; "" if they don't.
func (ch *chosen) answerable(choice string) error {
	item := &ch.item
	switch {
	case item.Host == "" || item.Status != wire.InboxPending: // the daemon says what's wrong
		return nil
	case len(item.Choices) == 0:
		return cmdutil.FailWith(cmdutil.ExitFailed, item.ID+": "+termsafe.Line(item.Note, 200))
	case choice != "" && !slices.Contains(item.Choices, choice):
		return cmdutil.UsageError("leave out --session: an agent on %s can be allowed everything only at a terminal there", item.Host)
	}
	return nil
}

// chooseRequest finds a request by its ID, by part of its session's title or of
// what it asks; without a name it's the one that has waited longest.
func chooseRequest(ctx context.Context, app *cmdutil.App, name string, fits func(*client.Request) bool) (*chosen,
	error) {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return nil, err
	}
	var unknown error
	if meansAll(name) {
		return nil, cmdutil.UsageError("there's no request %q; answer one request at a time, or several in the live view: `hookmux`", name)
	}
	if name != "" {
		item, err := c.Request(ctx, name)
		if err == nil {
			return &chosen{client: c, item: item, byID: true}, nil
		}
		var answered *wire.Error
		if !errors.As(err, &answered) {
			return nil, err
		}
		unknown = err
	}
	waiting, err := c.Waiting(ctx, false)
	if err != nil {
		return nil, err
	}
	titles := sessionTitles(ctx, c)
	var found, elsewhere []client.Request
	for i := range waiting {
		one := &waiting[i]
		if !fits(one) || !nameFits(one, titles[one.Session], name) {
			continue
		}
		if !one.Answerable() {
			elsewhere = append(elsewhere, *one)
		} else {
			found = append(found, *one)
		}
	}
	switch {
	case len(found) > 0:
		return &chosen{client: c, item: found[0], others: found[1:]}, nil
	case len(elsewhere) > 0:
		return nil, cmdutil.FailWith(cmdutil.ExitFailed,
			fmt.Sprintf("%s; answer it there: `hookmux jump %s`",
				strings.TrimRight(termsafe.Line(elsewhere[0].Shown, 200), "?!.;:"), wire.ShortID(elsewhere[0].Session)))
	case unknown != nil:
		return nil, notARequest(ctx, c, name, len(waiting), unknown)
	}
	if len(waiting) > 0 {
		return nil, cmdutil.FailWith(cmdutil.ExitFailed, "no pending request fits these flags; `hookmux inbox` lists them")
	}
	return nil, cmdutil.FailWith(cmdutil.ExitFailed, "no requests are waiting")
}

// meansAll reports whether a name is a word for all requests.
func meansAll(name string) bool {
	return slices.Contains([]string{"all", "everything", "*"}, strings.ToLower(name))
}

// notARequest explains a name that no request has: a session may have it that waits for nothing.
func notARequest(ctx context.Context, c *client.Client, name string, waiting int, unknown error) error {
	if s, err := c.Session(ctx, name); err == nil && strings.HasPrefix(s.ID, name) {
		return &sessionError{cmdutil.UsageError("session %s has no request waiting; `hookmux inbox` lists the requests", name)}
	}
	if waiting == 0 {
		return cmdutil.UsageError("there's no request %q; none is waiting", name)
	}
	return unknown
}

// sessionError says that a name is a session's, which waits for nothing.
type sessionError struct{ error }

func (e *sessionError) Unwrap() error { return e.error }

// sessionTitles returns the titles of the sessions in the list.
func sessionTitles(ctx context.Context, c *client.Client) map[string]string {
	titles := map[string]string{}
	list, err := c.Sessions(ctx, client.SessionsParams{})
	if err != nil {
		return titles // requests are still found by what they ask
	}
	for _, s := range list {
		titles[s.ID] = s.Title
	}
	return titles
}

// nameFits reports whether name means a request: part of its title, the beginning of its
// session's ID, or part of what it asks, from the beginning of a word. Fewer than three characters would fit too many.
func nameFits(item *client.Request, title, name string) bool {
	name = strings.ToLower(name)
	if name != "" && len(name) < 3 {
		return false
	}
	return hasWords(title, name) || strings.HasPrefix(strings.ToLower(item.Session), name) || hasWords(item.Shown, name)
}

// hasWords reports whether name, in lower case, occurs in text at the beginning of a word.
func hasWords(text, name string) bool {
	text = strings.ToLower(text)
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		first, size := utf8.DecodeRuneInString(name)
		if at+i == 0 || !isLetter(before) || !isLetter(first) {
			return true
		}
		at += i + size
	}
}

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// showCard shows a request in full.
func (ch *chosen) showCard(app *cmdutil.App) {
	fmt.Fprint(app.Stdout, app.Style().Card(&ch.item, time.Now()))
	if n := len(ch.others); n > 0 {
		app.Say("(%d more in `hookmux inbox`)", n)
	}
}

// onlyOne rejects a name that fits several requests.
func (ch *chosen) onlyOne(app *cmdutil.App) error {
	if len(ch.others) == 0 {
		return nil
	}
	return cmdutil.UsageError("%d requests are waiting; name one by its ID:\n%s", len(ch.others)+1, ch.listAll(app))
}

// listAll returns a line for each request that may be meant.
func (ch *chosen) listAll(app *cmdutil.App) string {
	most := 60
	if app.Columns() == 0 { // a program reads it: nothing is cut
		most = 0
	}
	var rows [][]string
	for _, one := range append([]client.Request{ch.item}, ch.others...) {
		rows = append(rows, []string{"  " + termsafe.Line(one.ID, 20), termsafe.Line(one.Agent, 20), termsafe.Line(about(&one), most)})
	}
	var b strings.Builder
	text.Table(&b, rows, 0)
	return strings.TrimSuffix(b.String(), "\n")
}

// about says what a request is about: of a question its text, not the first of its answers.
func about(r *client.Request) string {
	if len(r.Questions) > 0 && r.Questions[0].Text != "" {
		return r.Questions[0].Text
	}
	return r.About()
}

// readKey shows a request and waits for a key.
func (ch *chosen) readKey(app *cmdutil.App, verb, question string) (byte, error) {
	if !app.IsTerminal() {
		return 0, cmdutil.UsageError("name the request: `hookmux %s %s`; asking needs a terminal", verb, ch.item.ID)
	}
	ch.showCard(app)
	return app.ReadKey(question)
}

// errNotAnswered says that the request is still waiting.
var errNotAnswered = cmdutil.FailWith(cmdutil.ExitFailed, "not answered; the request is still waiting")

// confirmByKey shows a request that wasn't named by its ID and asks for a yes.
func (ch *chosen) confirmByKey(app *cmdutil.App, verb, question string, yes bool) error {
	if ch.byID {
		return nil
	}
	if yes {
		return cmdutil.UsageError("--yes needs a request: `hookmux %s %s --yes`", verb, ch.item.ID)
	}
	key, err := ch.readKey(app, verb, question+" [y/N] ")
	if err != nil {
		return err
	}
	if key != 'y' && key != 'Y' {
		return errNotAnswered
	}
	return nil
}
