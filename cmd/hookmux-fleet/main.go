// Command hookmux-fleet is a fleet's server: NATS with JetStream, the roster of members and
// the central journal in one process. `hookmux fleet init` starts it, and the daemon there
// keeps it running.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/fleet/server"
	"github.com/hookmux/hookmux/internal/version"
)

const usage = `hookmux-fleet serves a fleet of machines that run hookmux.

  hookmux-fleet serve --dir DIR [--listen HOST:PORT] [--advertise HOST:PORT]...

You don't run it yourself: hookmux fleet init does, and keeps it running.
  --dir DIR               its folder: keys, members, the fleet's journal
  --listen HOST:PORT      where members connect (default 0.0.0.0:4670)
  --advertise HOST:PORT   how members reach it; may be given several times
  --keep DURATION         how long the journal keeps events (default 2160h)
  --max-bytes N           how large the journal gets (default 20 GB)
  --nats URL              your own cluster stores what is under way; may be given several times
  --creds FILE            with which the cluster lets us in
  --postgres FILE         has the URL of the database that keeps the journal
hookmux-fleet erase, with the same options, deletes what a fleet that ended stored elsewhere,
and prints what it couldn't delete; --within limits how long it tries.
`

func main() { os.Exit(run(os.Args[1:])) }

type list []string

func (l *list) String() string        { return fmt.Sprint(*l) }
func (l *list) Set(text string) error { *l = append(*l, text); return nil }

func run(args []string) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "version") {
		fmt.Println("hookmux-fleet " + version.String)
		return 0
	}
	if len(args) == 0 || args[0] != "serve" && args[0] != "erase" {
		fmt.Fprint(os.Stderr, usage)
		return 64
	}
	o := server.Options{Log: os.Stderr}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flags.StringVar(&o.Dir, "dir", "", "")
	flags.StringVar(&o.Listen, "listen", "0.0.0.0:4670", "")
	flags.Var((*list)(&o.Advertise), "advertise", "")
	flags.StringVar(&o.First, "first", "", "")
	flags.StringVar(&o.FirstName, "name", "", "")
	flags.Var((*list)(&o.NATS), "nats", "")
	flags.StringVar(&o.Creds, "creds", "", "")
	flags.StringVar(&o.Postgres, "postgres", "", "")
	flags.DurationVar(&o.Keep, "keep", 90*24*time.Hour, "")
	flags.Int64Var(&o.MaxBytes, "max-bytes", 20<<30, "")
	var within time.Duration
	flags.DurationVar(&within, "within", time.Minute, "")
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 || o.Dir == "" {
		if err == nil {
			fmt.Fprint(os.Stderr, usage)
		}
		return 64
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if args[0] == "erase" {
		return erase(ctx, o, within)
	}
	s, err := server.Open(o)
	if errors.Is(err, server.ErrRunning) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookmux-fleet: "+err.Error())
		return 1
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go watchFolder(ctx, o.Dir, cancel)
	if err := s.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "hookmux-fleet: "+err.Error())
		return 1
	}
	return 0
}

// erase deletes what a fleet stored elsewhere, and prints what it couldn't delete.
func erase(ctx context.Context, o server.Options, within time.Duration) int {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	kept, err := server.Erase(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookmux-fleet: "+err.Error())
		return 1
	}
	for _, one := range kept {
		fmt.Println(strings.ReplaceAll(one, "\n", " "))
	}
	return 0
}

// watchFolder ends a server whose folder is gone: it can't be found any more.
func watchFolder(ctx context.Context, dir string, end func()) {
	was, err := os.Stat(filepath.Join(dir, "lock"))
	if err != nil {
		end()
		return
	}
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if now, err := os.Stat(filepath.Join(dir, "lock")); err != nil || !os.SameFile(was, now) {
				end()
				return
			}
		}
	}
}
