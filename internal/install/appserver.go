package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/agentrpc"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// AppServer speaks to an agent's own server on its standard streams: JSON-RPC, one message
// per line. Through it an agent is asked which hooks it sees and made to trust ours, in its
// own protocol.
type AppServer struct {
	Program string
	Args    []string // app-server
	Env     []string
	Dir     string
	Timeout time.Duration // for all of it; zero: 10 s
}

// ListedHook is a hook as the agent sees it.
type ListedHook struct {
	Key     string `json:"key"`
	Command string `json:"command"`
	Source  string `json:"sourcePath"`
	Hash    string `json:"currentHash"`
	Trust   string `json:"trustStatus"` // managed, untrusted, trusted, modified
	Enabled bool   `json:"enabled"`
}

// Hooks asks which hooks the agent sees in a folder.
func (s AppServer) Hooks(cwd string) (hooks []ListedHook, err error) {
	err = s.holdConversation(func(c *agentrpc.Client) error {
		hooks, err = listHooks(c, cwd)
		return err
	})
	return hooks, err
}

// Trust makes the agent trust the given hooks. Only those that it sees with our command are
// trusted, and afterwards it must report that it trusts them.
func (s AppServer) Trust(g *OwnHooks) error {
	return s.holdConversation(func(c *agentrpc.Client) error {
		state := map[string]any{}
		ours, err := listOwnHooks(c, g)
		if err != nil {
			return err
		}
		for _, h := range ours {
			if h.Trust != "trusted" {
				state[h.Key] = map[string]any{hookentry.CodexHashField: h.Hash}
			}
		}
		if len(ours) < len(g.Keys) {
			return fmt.Errorf("%s: it sees %d of %d hooks", g.Source, len(ours), len(g.Keys))
		}
		if len(state) > 0 {
			edits := []any{map[string]any{"keyPath": hookentry.CodexTrustTable, "mergeStrategy": "upsert", "value": state}}
			if err := c.Call("config/batchWrite", map[string]any{"edits": edits}, nil); err != nil {
				return err
			}
		}
		if ours, err = listOwnHooks(c, g); err != nil {
			return err
		}
		if slices.ContainsFunc(ours, func(h ListedHook) bool { return h.Trust != "trusted" }) {
			return fmt.Errorf("%s: it didn't accept that the hooks are trusted", g.Source)
		}
		return nil
	})
}

func (s AppServer) holdConversation(do func(*agentrpc.Client) error) error {
	limit := s.Timeout
	if limit == 0 {
		limit = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Program, s.Args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = s.Env, s.Dir, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// A program that it started may still hold its end open after it was killed.
	defer context.AfterFunc(ctx, func() { _ = out.Close() })()
	t := &lineTransport{in: in, out: bufio.NewReader(out)}
	c, err := agentrpc.Connect(t)
	if err == nil {
		err = do(c)
	}
	_ = in.Close() // it ends then
	wait := time.AfterFunc(2*time.Second, cancel)
	defer wait.Stop()
	_, _ = io.Copy(io.Discard, t.out)
	_ = cmd.Wait() // how it ends says nothing about what it said
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	return err
}

// lineTransport carries one message a line.
type lineTransport struct {
	in  io.Writer
	out *bufio.Reader
}

func (t *lineTransport) Send(message []byte) error {
	_, err := t.in.Write(append(message, '\n'))
	return err
}

func (t *lineTransport) Receive() ([]byte, error) { return t.out.ReadBytes('\n') }

func listHooks(c *agentrpc.Client, cwd string) ([]ListedHook, error) {
	var answer struct {
		Data []struct {
			Hooks []ListedHook `json:"hooks"`
		} `json:"data"`
	}
	if err := c.Call("hooks/list", map[string]any{"cwds": []string{cwd}}, &answer); err != nil {
		return nil, err
	}
	var all []ListedHook
	for _, d := range answer.Data {
		all = append(all, d.Hooks...)
	}
	return all, nil
}

// listOwnHooks returns the hooks of its agent that run a command of ours.
func listOwnHooks(c *agentrpc.Client, g *OwnHooks) ([]ListedHook, error) {
	all, err := listHooks(c, g.Cwd)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h ListedHook) bool {
		cmd, ok := hookentry.ReadLine(h.Command)
		_, named := g.Keys[h.Key]
		return !ok || cmd.Agent != g.Agent.Name || !named && !paths.SameFile(h.Source, g.Source)
	}), nil
}

// OwnHooks are exactly our own hooks, for an agent to trust.
type OwnHooks struct {
	Agent  *agent.Agent
	Source string            // the file the hooks are in
	Keys   map[string]string // key → hash
	Cwd    string
}
