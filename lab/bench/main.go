//go:build unix

// Command bench measures what must be fast, each thing against a reference
// that runs in the same minute on the same machine: only ratios matter, so a
// slow or busy machine gets the same verdict as a fast one.
//
//	go run ./lab/bench -bin DIR [-only client,start,rate,memory,dispatch,telemetry,rules,typescript,sessions,crowd,inbox,pages,view,replay,fleet,usage]
//		[-rounds N] [-seconds S] [-json]
//
// client: one process per call, as agents make them, with 2 KB on stdin. In
// every round, in shuffled order: an empty Go program, the reference client
// against the echo server, hookmux-hook observing (Claude's Notification) and
// deciding (Claude's PreToolUse for Bash, default settings). Bars on the median
// of per-round ratios of time to the reference and of cpu to the empty program;
// on the client's size on disk and its resident memory.
//
// start: `hookmux --version`, and `hookmux ps --json` with a daemon that has nothing
// to show, against an empty Go program.
//
// rate: this process makes hook calls over 8 connections at a time, one dial
// per call, against the daemon and the echo server in turn, one second each. The
// frames are a recorded Claude session with new ids. The time the daemon needs
// afterwards until everything is in the journal is charged to it. At the end
// every acknowledged id must be in the journal exactly once.
//
// memory: the daemon's resident memory after 20,000 and after 200,000 of those
// calls.
//
// dispatch: hookmux-hook deciding against five daemons side by side: no hooks at
// all, 20 built-in hooks (half of them as they come, called after the answer,
// half as guards, waited for), 20 that are all guards (no bar), the 20 of the
// second with one `true` command more, and all of hookmux's own guards. In addition
// the cost of spawning `true` the way a plain Go program does it.
//
// telemetry: hookmux-hook deciding with telemetry off, with a collector that accepts
// everything, and with one that's gone.
//
// rules: in this process, deciding about a command that is new each time, without
// rules and with 1,000, of which 200 name its program and 100 are expressions.
//
// sessions: in this process, in cpu: an event at the status machine with ten
// and with ten thousand live sessions, a look at a record of 1 MB and at one
// of 500 MB.
//
// crowd: the cpu of a whole daemon for an event of one session, with 10 and with
// 1,900 live ones, and with a transcript of 1 MB and one of 500 MB.
//
// inbox: with 950 requests waiting and 50 streams attached, from the user's
// answer to the waiting hook, against a bare round trip to the echo server,
// interleaved. The answer is flushed to disk on the way. Its daemon takes every
// caller for a user at a terminal; nothing else about it differs.
//
// pages: with 1,000 sessions, the daemon's cpu for an event and its memory with 200
// pages open in browsers and with none, and from an answer on a page to the waiting
// hook, against an answer over the socket.
//
// view: `hookmux up` in a terminal, with a daemon of that kind: cpu, frames and memory
// while 100 sessions make 500 events each second, cpu while nothing happens, how long
// a frame takes, and from a key to the hook that waits for it, against a bare round
// trip. Linux only.
//
// replay: `hookmux rules replay` with 100 rules over a journal of recorded calls, and
// against `hookmux log` that prints the same calls.
//
// typescript: dispatch to a TypeScript hook of three regexes against dispatch to a
// built-in that has nothing to say, in this process and over the sockets of two
// daemons; the cpu of a daemon until one such file and until fifty are loaded, and of
// loading one and fifty where others are; what one more costs the daemon in memory;
// and what happens to a daemon whose file loops, backtracks, fills memory, recurses
// and waits forever, twenty times each. They can be measured alone, as
// typescript/calls, /dispatch, /loads, /starts, /memory and /attacks.
//
// fleet: a hook call on a member and on a machine without a fleet; an operator's answer to a
// member's request and a bare NATS request between the same machines; events a second into
// the central journal; the server's memory, cpu and messages with 10, 100 and 2,000 members.
// They can be measured alone, as fleet/calls, /answers, /events and /members.
//
// usage: a decision with three budgets and with none; from a call on record to `hookmux ps
// --json` and `hookmux usage --json`, also next to a hole of 20 GB and while a history is
// imported; the most memory while 250 MB, 500 MB and 1 GB of history are imported. They can
// be measured alone, as usage/budgets, /live and /import. Linux only.
//
// It exits with 1 when a bar is missed. All homes are temporary.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// bench is shared by all measurements.
type bench struct {
	bin     string // hookmux and hookmux-hook
	tools   string // the helper programs
	root    string // of the Go module
	temp    string
	rounds  int
	seconds int
	table   table
}

func main() {
	b := &bench{}
	flag.StringVar(&b.bin, "bin", "bin", "where hookmux and hookmux-hook are")
	only := flag.String("only", "client,start,rate,memory,dispatch,telemetry,rules,typescript,sessions,crowd,inbox,pages,view,replay,fleet,usage",
		"what to measure")
	flag.IntVar(&b.rounds, "rounds", 300, "rounds of client, start and dispatch; the bars are meant for 300 and more")
	flag.IntVar(&b.seconds, "seconds", 8, "seconds of load on each side of rate")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if flag.NArg() > 0 || b.rounds < 1 || b.seconds < 1 {
		flag.Usage()
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.run(ctx, strings.Split(*only, ","))
	stop()
	if *asJSON {
		b.table.printJSON(os.Stdout)
	} else {
		b.table.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || b.table.missed() > 0 {
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, parts []string) error {
	all := map[string]func(context.Context) error{
		"client": b.client, "start": b.start, "rate": b.rate, "memory": b.memory, "dispatch": b.dispatch,
		"telemetry": b.telemetry, "typescript": b.tsHooks, "sessions": b.sessions, "crowd": b.manyLiveSessions, "inbox": b.inbox,
		"pages": b.pages, "view": b.view, "replay": b.replay, "rules": b.rules, "fleet": b.inFleet,
		"usage": b.usage,
	}
	for _, one := range slices.Concat(b.tsHookParts(), b.fleetParts(), b.usageParts()) {
		all[one.name] = one.run
	}
	for _, part := range parts {
		if all[part] == nil {
			return fmt.Errorf("%s: nothing to measure has that name; choose of client, start, rate, memory, dispatch, telemetry, "+
				"rules, typescript, sessions, crowd, inbox, pages, view, replay, fleet, usage", part)
		}
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer os.RemoveAll(b.temp)
	for _, part := range parts {
		fmt.Fprintln(os.Stderr, "bench:", part)
		if err := all[part](ctx); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// prepare finds the programs and builds the helpers.
func (b *bench) prepare(ctx context.Context) error {
	var err error
	if b.bin, err = filepath.Abs(b.bin); err != nil {
		return err
	}
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		if _, err := os.Stat(filepath.Join(b.bin, name)); err != nil {
			return fmt.Errorf("%w; run make build", err)
		}
	}
	if b.root, err = tsHookRoot(); err != nil {
		return err
	}
	// Short, because sockets live below it.
	if b.temp, err = os.MkdirTemp("", "hmb-"); err != nil {
		return err
	}
	installed := filepath.Join(b.temp, "bin")
	if err := copyPrograms(b.bin, installed, "hookmux", "hookmux-hook"); err != nil {
		return err
	}
	b.bin = installed
	linked := filepath.Join(b.temp, "linked")
	b.tools = linked
	for name, pkg := range map[string]string{"empty": "./lab/bench/empty", "ref": "./lab/bench/ref",
		"echo": "./lab/bench/ref/echo/server"} {
		if err := b.build(ctx, name, pkg); err != nil {
			return err
		}
	}
	b.tools = filepath.Join(b.temp, "tools")
	return copyPrograms(linked, b.tools, "empty", "ref", "echo")
}

func tsHookRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s: not inside the source tree; run make bench there", dir)
		}
	}
}
