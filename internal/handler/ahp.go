package handler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/protocols/ahp"
)

// ahpBackend asks a backend that speaks the Agent Hooks Protocol. Which version it
// speaks is found out at the first question, where the registration does not say.
type ahpBackend struct {
	hook.Registration
	options hook.AHP
	deps    Deps
	source  string
	carry   carrier
	learned atomic.Pointer[string] // the version it speaks
}

// carrier brings a message to a backend. read is given the answer, and says what is
// wrong with it; nil where none is expected.
type carrier interface {
	deliver(ctx context.Context, call *hook.Call, message []byte, read readAnswer) error
}

type readAnswer func(answer []byte) error

func newAHP(r hook.Registration, deps Deps) (hook.Handler, error) {
	b := &ahpBackend{Registration: r, deps: deps}
	if r.AHP != nil {
		b.options = *r.AHP
	}
	host, _ := os.Hostname() // without a name the folder tells installations apart
	b.source = ahp.SourceName(host, deps.StateDir)
	if r.IsAddress() {
		carry, err := newHTTPCarrier(strings.TrimSpace(r.Target), b.options)
		b.carry = carry
		return b, err
	}
	words, err := Split(r.Target)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ahp %q: %w", r.Target, err)
	case len(words) == 0:
		return nil, errors.New("ahp: target is empty; write an executable and its arguments, or an address")
	}
	program := &programCarrier{id: r.ID, words: words, options: b.options, deps: deps}
	if b.options.Lifecycle == hook.AHPPerEvent {
		b.carry = &onceCarrier{program}
	} else {
		b.carry = program
	}
	return b, nil
}

// Handle asks, or tells where nothing can be said to the event.
func (b *ahpBackend) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	version, sure := b.version()
	d, err := b.askIn(ctx, call, version)
	var other *ahp.VersionError
	if errors.As(err, &other) && !sure && ctx.Err() == nil {
		if next := otherVersion(version); next != "" {
			if d, err = b.askIn(ctx, call, next); !errors.As(err, &other) {
				b.learned.Store(&next)
			}
		}
	}
	return d, err
}

// version is the one to speak, and whether there is no other to try.
func (b *ahpBackend) version() (version string, sure bool) {
	if b.options.Version != "" {
		return b.options.Version, true
	}
	if known := b.learned.Load(); known != nil {
		return *known, false // a backend may become another
	}
	return hook.AHPVersions()[0], false
}

func otherVersion(version string) string {
	for _, v := range hook.AHPVersions() {
		if v != version {
			return v
		}
	}
	return ""
}

func (b *ahpBackend) askIn(ctx context.Context, call *hook.Call, version string) (event.Decision, error) {
	ev := call.Event
	mode := call.Hook.RoleFor(ev.Kind)
	if ev.Kind.Guarded() && ev.Tool == nil {
		return event.Decision{}, errors.New("the call cannot be read, so that the backend cannot be asked about it")
	}
	question := ahp.Question{
		Version: version, Source: b.source, Project: call.Project, Native: b.options.IncludeNative,
		Offer: ahp.OfferFor(version, ev.Kind, mode, call.Carries),
	}
	message, ok := question.Message(ev)
	switch {
	case !ok && b.HookType == hook.Any:
		return event.Decision{}, nil // of everything it hears what it has words for
	case !ok:
		return event.Decision{}, fmt.Errorf("the version %s of the Agent Hooks Protocol has no event for %s; "+
			"register the hook for another", version, ev.Kind)
	case len(message) > ahp.MaxMessage:
		return event.Decision{}, errors.New("the event is larger than 4 MiB, which no backend is sent")
	}
	var d event.Decision
	var read readAnswer
	if question.Offer.Any() {
		read = func(answer []byte) (err error) {
			d, err = ahp.ReadAnswer(bytes.TrimSpace(answer),
				ahp.Expected{ID: ev.ID, Version: version, Offer: question.Offer})
			return err
		}
	}
	if err := b.carry.deliver(ctx, call, message, read); err != nil {
		return event.Decision{}, err
	}
	return d, nil
}

// onceCarrier starts a program for each message.
type onceCarrier struct{ program *programCarrier }

func (c *onceCarrier) deliver(ctx context.Context, call *hook.Call, message []byte, read readAnswer) error {
	s, err := c.program.processSpec(call)
	if err != nil {
		return err
	}
	s.stdin = message
	out, err := c.program.deps.Processes.run(ctx, s)
	if err != nil {
		return explainStart(s, err)
	}
	switch err := failureOf(out); {
	case err != nil:
		return err
	case read == nil:
		return nil
	case len(bytes.TrimSpace(out.Stdout)) == 0:
		return fmt.Errorf("ended without an answer%s", lastWords(out))
	}
	return read(out.Stdout)
}

// programCarrier talks to a program that goes on running between events.
type programCarrier struct {
	id      string
	words   []Word
	options hook.AHP
	deps    Deps
}

// processSpec is the program as it is started: in the project or the home, whatever
// event comes, and with few variables.
func (c *programCarrier) processSpec(call *hook.Call) (spec, error) {
	get := paths.GetenvLast(ownEnviron()) // the same whichever agent calls
	home := get("HOME")
	dir := "/"
	for _, folder := range []string{call.Project, home} {
		if isDir(folder) {
			dir = folder
			break
		}
	}
	s := spec{dir: dir, args: make([]string, len(c.words)), env: c.programEnviron(call, get)}
	for i, w := range c.words {
		s.args[i] = w.In(home)
	}
	var err error
	s.path, err = findExecutable(s.args[0], call.Project, dir, get("PATH"))
	return s, err
}

// plainVariables are what most programs cannot do without.
var plainVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", paths.RuntimeVariable}

func (c *programCarrier) programEnviron(call *hook.Call, get func(string) string) (env []string) {
	add := func(name, value string) {
		if value != "" && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range plainVariables {
		add(name, get(name))
	}
	for _, name := range c.options.Env {
		add(name, variable(call)(name))
	}
	chain := c.deps.Mark(c.id)
	if before := paths.GetenvLast(call.Env)("HOOKMUX_HANDLER"); before != "" &&
		c.options.Lifecycle == hook.AHPPerEvent {
		chain = before + " " + chain
	}
	return append(env, "HOOKMUX_HOOK_ID="+c.id, "HOOKMUX_HANDLER="+chain)
}

// variable looks up variables that a registration names: the daemon's own first, then those
// of the agent's hook process.
func variable(call *hook.Call) func(string) string {
	own, theirs := os.Getenv, paths.GetenvLast(call.Env)
	return func(name string) string { return cmp.Or(own(name), theirs(name)) }
}

func (c *programCarrier) deliver(ctx context.Context, call *hook.Call, message []byte, read readAnswer) error {
	s, err := c.processSpec(call)
	if err != nil {
		return err
	}
	key := c.id // agents with other values of the variables have a program of their own
	for _, name := range c.options.Env {
		key += "\x00" + variable(call)(name)
	}
	return c.deps.Backends.exchange(ctx, c.deps.Processes, key, s, message, read)
}
