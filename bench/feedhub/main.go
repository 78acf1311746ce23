//go:build unix

// Command feedhub is a hub that takes everybody for a person at a terminal, so
// that answers can be measured where there is none: in CI, below an agent. With
// -live files count as they are, as if that person had confirmed them. It differs
// from the real hub in nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/hub"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/version"
)

// seated shows every process as the first of a terminal of its own.
type seated struct{ proc.Table }

func (t seated) Lookup(pid int) (proc.Process, error) {
	p, err := t.Table.Lookup(pid)
	p.PPID, p.SID, p.PGID, p.Foreground, p.TTY, p.Name = 0, pid, pid, pid, "/dev/pts/7", "bash"
	return p, err
}

func (t seated) Program(int) (string, error)   { return "/usr/bin/bash", nil }
func (t seated) Environ(int) ([]string, error) { return nil, nil }

func main() {
	live := flag.Bool("live", false, "let files count as they are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, *live)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "feedhub:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, live bool) error {
	dirs, err := paths.Find(os.Getenv)
	if err != nil {
		return err
	}
	h, err := hub.New(hub.Options{Dirs: dirs, Table: seated{proc.System()},
		Facts: authoritytest.Machine{Table: seated{proc.System()}}, Version: version.String, Log: os.Stderr,
		LiveSettings: live})
	if err != nil {
		return err
	}
	return h.Run(ctx)
}
