package checks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/lab/verify/testbed"
	"github.com/hookmux/hookmux/plugins"
)

// What can break around a plugin is the other end of its line: a daemon that hangs
// up in the middle of a call, one that never answers, and a hook client that is
// gone. runBrokenPlugin puts such a daemon in the real one's place.
func runBrokenPlugin(ctx context.Context, st *testbed.TestBed) error {
	if err := st.InstallHooks(); err != nil {
		return err
	}
	// The same plugin with a short limit, and without its client.
	_, path, ok := st.Agent.Install.Place(install.User, st.DiskView())
	if !ok {
		return fmt.Errorf("%s: has no place for a plugin", st.Agent.Name)
	}
	text, err := plugins.Render(st.Agent.Install.Plugin.Source, plugins.Options{Agent: st.Agent.Name,
		Version: "0.0.0-verify", Hook: filepath.Join(st.Base, "nowhere", "hookmux-hook"), Limit: 2 * brokenLimit,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	h := &brokenDaemon{event: toolBefore(st.Agent), calls: map[string]time.Time{}}
	if err := h.listenOn(st.Dirs.Socket()); err != nil {
		return err
	}
	defer h.close()
	err = st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it"))
	st.Evidence.Broken = h.brokenFacts(st.Project)
	return err
}

// brokenDaemon reads calls and breaks as the command in them asks for.
type brokenDaemon struct {
	event string // at which it breaks
	ln    net.Listener
	mu    sync.Mutex
	calls map[string]time.Time
	open  []net.Conn
	wg    sync.WaitGroup
}

func (h *brokenDaemon) listenOn(socket string) (err error) {
	if err = os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return err
	}
	if h.ln, err = net.Listen("unix", socket); err != nil {
		return err
	}
	h.wg.Go(func() {
		for {
			c, err := h.ln.Accept()
			if err != nil {
				return
			}
			h.mu.Lock()
			h.open = append(h.open, c)
			h.mu.Unlock()
			h.wg.Go(func() { h.serveConn(c) })
		}
	})
	return nil
}

func (h *brokenDaemon) serveConn(c net.Conn) {
	r := bufio.NewReader(c)
	line, err := r.ReadBytes('\n')
	var head struct {
		ID      string `json:"id"`
		Event   string `json:"event"`
		Payload int    `json:"payload"`
		Env     int    `json:"env"`
	}
	if err != nil || json.Unmarshal(line, &head) != nil || head.Payload < 0 || head.Env < 0 ||
		head.Payload+head.Env > 64<<20 {
		c.Close()
		return
	}
	body := make([]byte, head.Payload+head.Env)
	if _, err := io.ReadFull(r, body); err != nil {
		c.Close()
		return
	}
	tag := "other"
	for _, t := range []string{"missing", "crash", "hang"} {
		if head.Event == h.event && bytes.Contains(body[:head.Payload], []byte("ran-"+t)) {
			tag = t
		}
	}
	h.mu.Lock()
	if _, again := h.calls[tag]; !again {
		h.calls[tag] = time.Now()
	}
	h.mu.Unlock()
	switch tag {
	case "hang":
		return // until everything is closed
	case "other":
		fmt.Fprintf(c, "{\"id\":%q,\"exit\":0,\"stdout\":0,\"stderr\":0}\n", head.ID)
	}
	c.Close()
}

func (h *brokenDaemon) close() {
	_ = h.ln.Close() // it was only listened on
	h.mu.Lock()
	for _, c := range h.open {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			continue // the other end may have gone first
		}
	}
	h.mu.Unlock()
	h.wg.Wait()
}

func (h *brokenDaemon) brokenFacts(project string) testbed.Broken {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := testbed.Broken{Called: map[string]bool{}}
	for tag := range h.calls {
		b.Called[tag] = true
	}
	if ran, err := os.Stat(filepath.Join(project, "ran-hang")); err == nil && b.Called["hang"] {
		b.Waited = ran.ModTime().Sub(h.calls["hang"])
	}
	return b
}
