// Package budget decides when agents have used enough: limits on money, tokens or the share of a
// plan's window, for a day, a session, a project or an agent.
//
// Contract: what isn't known never makes a budget looser. Usage without a price makes a budget in
// dollars ask; a budget that can't be read asks about every call.
package budget

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// Period is the time span of a budget.
type Period string

// The periods.
const (
	Day     Period = "day"     // a local day
	Session Period = "session" // each session by itself
	Window  Period = "window"  // a window of the agent's plan
)

// Budget is one limit with what happens on the way to it.
type Budget struct {
	Period Period
	// Dollars or Tokens is the limit; neither for a window, whose limit is the plan's.
	Dollars float64
	Tokens  int64
	Length  time.Duration // of a window
	Agent   string        // "" for all
	Project string        // "" for all
	// Percent of the limit; 0: never.
	Warn, Ask, Block float64
	// Broken says why the text can't be read; such a budget asks about everything.
	Broken string

	text string
}

// Text returns the budget as it is written in settings.
func (b *Budget) Text() string { return b.text }

// ID returns the name that `hookmux usage budget list` shows.
func (b *Budget) ID() string {
	if b.Broken != "" {
		return "unreadable"
	}
	parts := []string{string(b.Period), b.limitText()}
	if b.Period == Window {
		parts = []string{b.limitText()}
	}
	if b.Agent != "" {
		parts = append(parts, b.Agent)
	}
	if b.Project != "" {
		parts = append(parts, filepath.Base(b.Project))
	}
	return strings.Join(parts, "-")
}

// Rule returns the name of the rule that a budget decides as.
func (b *Budget) Rule() string { return RulePrefix + b.ID() }

// RulePrefix is the prefix of the ids of budgets' rules.
const RulePrefix = "budget/"

func (b *Budget) limitText() string {
	switch {
	case b.Period == Window:
		return spanText(b.Length)
	case b.Tokens > 0:
		return strconv.FormatInt(b.Tokens, 10) + "tokens"
	}
	return strconv.FormatFloat(b.Dollars, 'f', -1, 64) + "usd"
}

func spanText(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return strconv.Itoa(int(d/time.Hour)) + "h"
}

// String returns the budget in the form that Parse reads.
func (b *Budget) String() string {
	words := []string{string(b.Period) + "=" + b.limitText()}
	for _, w := range []struct{ key, value string }{{"agent", b.Agent}, {"project", b.Project}} {
		if w.value != "" {
			words = append(words, w.key+"="+w.value)
		}
	}
	for _, w := range []struct {
		key   string
		value float64
	}{{"warn", b.Warn}, {"ask", b.Ask}, {"block", b.Block}} {
		if w.value > 0 {
			words = append(words, w.key+"="+strconv.FormatFloat(w.value, 'f', -1, 64)+"%")
		}
	}
	return strings.Join(words, " ")
}

// keys are the keys of a budget.
var keys = []string{"day=", "session=", "window=", "agent=", "project=", "warn=", "ask=", "block="}

// split splits a budget's text at its keys: a folder may have spaces in its name.
func split(text string) (words []string) {
	for _, field := range strings.Split(text, " ") {
		starts := false
		for _, k := range keys {
			starts = starts || strings.HasPrefix(field, k)
		}
		if starts || len(words) == 0 {
			words = append(words, field)
		} else {
			words[len(words)-1] += " " + field
		}
	}
	return words
}

// Parse reads a budget: "day=30usd ask=80% block=100%".
func Parse(text string) (*Budget, error) {
	b := &Budget{text: text}
	for _, word := range split(strings.TrimSpace(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		var err error
		switch key {
		case "day", "session", "window":
			if b.Period != "" {
				return nil, errors.New("a budget has one of day, session and window")
			}
			b.Period = Period(key)
			err = b.parseLimit(value)
		case "agent":
			b.Agent = value
		case "project":
			if b.Project = value; !filepath.IsAbs(value) {
				err = fmt.Errorf("%q isn't an absolute path", value)
			}
		case "warn":
			b.Warn, err = ParsePercent(value)
		case "ask":
			b.Ask, err = ParsePercent(value)
		case "block":
			b.Block, err = ParsePercent(value)
		default:
			err = fmt.Errorf("%q isn't part of a budget; write one like: day=30usd ask=80%% block=100%%", word)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, b.check()
}

func (b *Budget) check() error {
	switch {
	case b.Period == "":
		return errors.New("a budget needs day, session or window")
	case b.Warn == 0 && b.Ask == 0 && b.Block == 0:
		return errors.New("a budget needs warn, ask or block: at how many percent it notifies you, asks you or blocks calls")
	case b.Ask > 0 && b.Block > 0 && b.Ask > b.Block:
		return errors.New("ask must come before block")
	case b.Warn > 0 && (b.Ask > 0 && b.Warn > b.Ask || b.Block > 0 && b.Warn > b.Block):
		return errors.New("warn must come before ask and block")
	}
	return nil
}

func (b *Budget) parseLimit(value string) (err error) {
	if b.Period == Window {
		b.Length, err = ParseWindow(value)
		return err
	}
	b.Dollars, b.Tokens, err = ParseAmount(value)
	return err
}

// ParseWindow reads the length of a plan's window: 5h, 7d.
func ParseWindow(value string) (time.Duration, error) {
	n, err := strconv.Atoi(strings.TrimRight(value, "hd"))
	switch {
	case err != nil || n <= 0 || n > 1000:
	case strings.HasSuffix(value, "h"):
		return time.Duration(n) * time.Hour, nil
	case strings.HasSuffix(value, "d"):
		return time.Duration(n) * 24 * time.Hour, nil
	}
	return 0, fmt.Errorf("%q isn't a window; write 5h or 7d", value)
}

// ParseAmount reads an amount: 30usd, $5, 500ktokens, 2mtokens.
func ParseAmount(value string) (dollars float64, tokens int64, err error) {
	text := strings.ToLower(strings.TrimSpace(value))
	bad := fmt.Errorf("%q isn't an amount; write 30usd or 2mtokens", value)
	if number, ok := strings.CutSuffix(text, "tokens"); ok {
		factor := 1.0
		switch {
		case strings.HasSuffix(number, "k"):
			factor = 1e3
		case strings.HasSuffix(number, "m"):
			factor = 1e6
		}
		f, err := strconv.ParseFloat(strings.TrimRight(number, "km"), 64)
		if err != nil || !(f*factor >= 1 && f*factor <= 1e15) {
			return 0, 0, bad
		}
		return 0, int64(f * factor), nil
	}
	number, usd := strings.CutSuffix(text, "usd")
	if !usd {
		if number, usd = strings.CutPrefix(text, "$"); !usd {
			return 0, 0, bad
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f > 0 && f <= 1e9) {
		return 0, 0, bad
	}
	return f, 0, nil
}

// ParsePercent reads a share: 80%.
func ParsePercent(value string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(value), "%")
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(f > 0 && f <= 1000) {
		return 0, fmt.Errorf("%q isn't a share; write 80%%", value)
	}
	return f, nil
}

// ParseAll reads the budgets of settings. One that can't be read is broken.
func ParseAll(texts []string) []*Budget {
	var list []*Budget
	for _, text := range texts {
		b, err := Parse(text)
		if err != nil {
			b = &Budget{text: text, Broken: err.Error()}
		}
		list = append(list, b)
	}
	return list
}

// Spend is an amount of something used.
type Spend struct {
	Dollars float64
	Tokens  int64
	// Unpriced are the tokens among them whose model has no price.
	Unpriced int64
	// Doubt is why more may have been used; "" if there is no reason.
	Doubt string
}

// Add adds o. Tokens stay at the largest number instead of overflowing.
func (s *Spend) Add(o Spend) {
	s.Dollars += o.Dollars
	for _, n := range []struct {
		sum  *int64
		more int64
	}{{&s.Tokens, o.Tokens}, {&s.Unpriced, o.Unpriced}} {
		if n.more > math.MaxInt64-max(0, *n.sum) {
			*n.sum = math.MaxInt64
		} else {
			*n.sum += n.more
		}
	}
	s.Doubt = cmp.Or(s.Doubt, o.Doubt)
}

// Spent knows what was used. It answers from memory.
type Spent interface {
	// Today returns what was used since midnight; "" means every agent, every project.
	Today(agent, project string) Spend
	// InSession returns what a session used.
	InSession(agent, session string) Spend
	// OfWindow returns how many percent of a window of a plan are used; false if that isn't known.
	OfWindow(agent string, length time.Duration) (float64, bool)
	// Known reports whether the records have been read. It waits a moment if a daemon that just
	// started hasn't read them yet.
	Known(ctx context.Context) bool
	// NoteEvent is called for a session's turns and calls: what they used should be recorded soon.
	NoteEvent(ev *event.Event)
}

// Covers reports whether a budget is about an event.
func (b *Budget) Covers(ev *event.Event) bool {
	if b.Broken != "" {
		return true
	}
	if b.Agent != "" && b.Agent != ev.Agent {
		return false
	}
	if b.Project == "" {
		return true
	}
	for _, dir := range append([]string{ev.Cwd}, ev.Projects...) {
		if Below(dir, b.Project) {
			return true
		}
	}
	return ev.Cwd != "" && Below(Real(ev.Cwd), Real(b.Project))
}

// Real returns where the links in a folder's name lead; the name itself if that isn't known.
// Usage is charged to a project under either name: a project may be behind a link, and an
// agent may put it there. Budgets ask about the same few folders before every call, so an
// answer is valid for a second.
func Real(dir string) string {
	links.Lock()
	one, ok := links.known.Get(dir)
	links.Unlock()
	if ok && time.Since(one.at) < realFor {
		return one.to
	}
	one = link{to: Resolve(dir), at: time.Now()}
	links.Lock()
	defer links.Unlock()
	links.known.Put(dir, one, maxLinks)
	return one.to
}

// Resolve is [Real] without the cache.
func Resolve(dir string) string {
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		return to
	}
	return dir
}

// links remembers where folders lead.
var links struct {
	sync.Mutex
	known bounded.Map[string, link]
}

type link struct {
	to string
	at time.Time
}

const (
	realFor  = time.Second
	maxLinks = 1024
)

// Below reports whether a folder is another one or in it.
func Below(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/")
}

// State is how far a budget is used up.
type State struct {
	Spend   Spend
	Percent float64
	Known   bool
}

// StateFor returns how far a budget is used up, for the agent and session of an event.
func (b *Budget) StateFor(ctx context.Context, agent, session string, spent Spent) State {
	s := State{Known: spent.Known(ctx)}
	switch b.Period {
	case Window:
		if b.Agent != "" {
			agent = b.Agent
		}
		s.Percent, s.Known = spent.OfWindow(agent, b.Length)
		return s
	case Session:
		s.Spend = spent.InSession(agent, session)
	default:
		s.Spend = spent.Today(b.Agent, b.Project)
		s.Spend.Doubt = cmp.Or(s.Spend.Doubt, spent.InSession(agent, session).Doubt)
	}
	if b.Tokens > 0 {
		s.Percent = 100 * float64(s.Spend.Tokens) / float64(b.Tokens)
	} else {
		s.Percent = 100 * s.Spend.Dollars / b.Dollars
	}
	return s
}

// Finding is a budget's verdict on an event.
type Finding struct {
	Budget  *Budget
	Verdict event.Verdict
	Reason  string
	// Step is how far the budget was used up: a yes to an ask holds until the next.
	Step int
	// About distinguishes asks: a yes to one is not a yes to another.
	About string
}

// stepPercent is how much further a budget must be used up before a yes to an ask is
// asked for again.
const stepPercent = 5

// Check returns a budget's finding about an event; false if there is none.
func (b *Budget) Check(ctx context.Context, ev *event.Event, spent Spent) (Finding, bool) {
	f := Finding{Budget: b, Verdict: event.Ask}
	if b.Broken != "" {
		f.Reason = fmt.Sprintf("the budget %q can't be read (%s); correct usage.budgets", b.text, b.Broken)
		return f, true
	}
	if spent == nil {
		f.Reason = "the budget " + b.ID() + " can't be checked: what was used is known to the daemon only"
		return f, true
	}
	s := b.StateFor(ctx, ev.Agent, ev.Session, spent)
	f.Step = int(s.Percent / stepPercent)
	switch {
	case b.Block > 0 && s.Percent >= b.Block:
		f.Verdict = event.Deny
		how := "you can lift it once with `hookmux usage budget lift " + b.ID() + "`"
		if f.Reason = b.Words(s) + "; " + how; ev.Kind != event.TurnStart {
			f.Reason = b.Words(s) + ". End the turn: every further call is denied, too (" + how + ")" // the model goes on otherwise
		}
	case b.Ask > 0 && s.Percent >= b.Ask:
		f.Reason = b.Words(s)
	case b.Dollars > 0 && s.Spend.Unpriced > 0:
		f.About = "no price"
		f.Reason = "the budget " + b.ID() + " can't be checked: " + b.NoPriceWords(s)
	case s.Spend.Doubt != "":
		f.About = s.Spend.Doubt
		f.Reason = "the budget " + b.ID() + " can't be checked: " + s.Spend.Doubt
	case !s.Known && b.Period != Window:
		f.About = "not known"
		f.Reason = "the budget " + b.ID() + " can't be checked yet: the agents' records are still being read"
	default:
		return f, false
	}
	return f, true
}

// NoPriceWords says that part of what was used has no price.
func (b *Budget) NoPriceWords(s State) string {
	return fmt.Sprintf("%d tokens have no price; `hookmux usage` names the models", s.Spend.Unpriced)
}

// Words describes how far a budget is used up.
func (b *Budget) Words(s State) string {
	of := map[Period]string{Day: "today's budget", Session: "this session's budget"}[b.Period]
	if b.Period == Window {
		return fmt.Sprintf("%.0f%% of the plan's %s window is used", s.Percent, b.limitText())
	}
	for _, w := range []string{b.Agent, b.Project} {
		if w != "" {
			of += " for " + w
		}
	}
	if b.Tokens > 0 {
		return fmt.Sprintf("%.0f%% of %s is used: %d of %d tokens", s.Percent, of, s.Spend.Tokens, b.Tokens)
	}
	return fmt.Sprintf("%.0f%% of %s is used: $%.2f of $%.2f at list price", s.Percent, of, s.Spend.Dollars, b.Dollars)
}
