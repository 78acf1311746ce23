package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/wire"
)

// This file tries an agent's installed hook command as the agent would run it.

// longest is how long a probe may take, a daemon that has to start included.
const longest = 15 * time.Second

// ProbeResult is the result of trying an agent's hook command.
type ProbeResult struct {
	Agent string        `json:"agent"`
	Took  time.Duration `json:"tookNs,omitempty"`
	Error string        `json:"error,omitempty"`
}

var probes atomic.Int64

// ProbeHook is the program that hooks run, and where.
type ProbeHook struct {
	Program string // what installed hook commands name
	Home    string
	Env     []string
}

// Probe tries each agent's hook command as the agent would, with the probe event, and watches
// the daemon for its arrival: an answer alone proves nothing, because a hook that can't reach
// the daemon answers too.
func Probe(ctx context.Context, daemon *client.Client, agents []*agent.Agent, h ProbeHook) []ProbeResult {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready, seen := make(chan struct{}), make(chan string, 64)
	ended := make(chan error, 1)
	go func() {
		open := false
		ended <- daemon.Stream(ctx, wire.StreamParams{Filter: wire.Filter{Kinds: []string{wire.ProbeEvent}}},
			func(n client.Note) error {
				if n.Ready != nil && !open {
					open = true
					close(ready)
				}
				if n.Entry != nil {
					select {
					case seen <- string(n.Entry.Event):
					case <-ctx.Done():
					}
				}
				return nil
			})
	}()
	var broken string
	select {
	case <-ready:
	case err := <-ended:
		broken = fmt.Sprintf("the daemon cannot be watched: %v", err)
	case <-time.After(longest):
		broken = "the daemon cannot be watched: it says nothing"
	}
	var out []ProbeResult
	for _, a := range agents {
		p := ProbeResult{Agent: a.Name, Error: broken}
		if broken == "" {
			took, err := h.tryAgent(ctx, a, seen)
			if p.Took = took; err != nil {
				p.Error = err.Error()
			}
		}
		out = append(out, p)
	}
	return out
}

func (h ProbeHook) tryAgent(ctx context.Context, a *agent.Agent, seen <-chan string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	mark := "probe-" + strconv.Itoa(int(probes.Add(1))) + "-" + strconv.FormatInt(time.Now().UnixNano()%1e9, 36)
	c := hookentry.Command{Program: h.Program, Agent: a.Name, Event: wire.ProbeEvent,
		Seconds: int(longest / time.Second)}
	argv := append([]string{c.Program}, c.Args()...)
	if a.Install.Way != agent.WayPlugin && a.Install.Handler.Form == "line" {
		argv = []string{"/bin/sh", "-c", c.Line()}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = h.Env, h.Home, time.Second
	cmd.Stdin = strings.NewReader(`{"hook_event_name":"` + wire.ProbeEvent + `","session_id":"` + mark + `"}`)
	var said bytes.Buffer
	cmd.Stderr = &said
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		var exit *exec.ExitError
		if text, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n"); errors.As(err, &exit) && text != "" {
			return took, fmt.Errorf("its hook fails (%w): %s", err, text)
		}
		return took, fmt.Errorf("can't run its hook: %w", err)
	}
	// The daemon answers first and notifies its watchers afterwards.
	for wait := time.After(3 * time.Second); ; {
		select {
		case text := <-seen:
			if strings.Contains(text, mark) {
				return took, nil
			}
		case <-wait:
			return took, errors.New("its hook ran, but nothing reached the daemon; see `hookmux doctor " + a.Name + "`")
		}
	}
}

// BareEnv returns as little of an environment as agents pass to their hooks: home and a path, and
// where the daemon is if that was chosen.
func BareEnv(home string, getenv func(string) string) []string {
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	if dir := getenv(paths.RuntimeVariable); dir != "" {
		env = append(env, paths.RuntimeVariable+"="+dir)
	}
	return env
}
