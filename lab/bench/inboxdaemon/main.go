//go:build unix

// Command inboxdaemon is a daemon that takes every caller for a user at a terminal, so that answers
// can be measured where there is none: in CI, below an agent. With -live files take effect as they
// are, as if they had been accepted. It differs from the real daemon in nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/cli/daemoncmd"
	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/version"
)

// trusted shows every process as the first of a terminal of its own.
type trusted struct{ proc.Table }

func (t trusted) Lookup(pid int) (proc.Process, error) {
	p, err := t.Table.Lookup(pid)
	p.PPID, p.SID, p.PGID, p.Foreground, p.TTY, p.Name = 0, pid, pid, pid, "/dev/pts/7", "bash"
	return p, err
}

func (t trusted) Program(int) (string, error)   { return "/usr/bin/bash", nil }
func (t trusted) Environ(int) ([]string, error) { return nil, nil }

func main() {
	live := flag.Bool("live", false, "let files count as they are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, *live)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "inboxdaemon:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, live bool) error {
	dirs, err := paths.Find(os.Getenv)
	if err != nil {
		return err
	}
	h, err := daemon.New(daemon.Options{Dirs: dirs, Table: trusted{proc.System()},
		Facts: authoritytest.Machine{Table: trusted{proc.System()}}, Version: version.String, Log: os.Stderr,
		Asker: new(authoritytest.Agrees), LiveSettings: live})
	if err != nil {
		return err
	}
	daemoncmd.StaySmall(ctx)
	return h.Run(ctx)
}
