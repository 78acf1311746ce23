//go:build linux

// Chaos runs real daemons and the real hook client in throw-away homes, under a steady load of
// harmless and dangerous calls, and makes one thing after the other go wrong: processes are killed
// and stopped, disks fill up, locks are held, files are swapped, folders vanish, peers misbehave. It
// checks what hookmux promises:
//
//   - no dangerous call gets through unasked;
//   - an event that a daemon acknowledged is in the journal exactly once;
//   - a daemon is back soon after the fault is over, and only one;
//   - memory stays where it was.
//
// The dangerous commands are text in payloads. Nothing runs them.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if code, done := runInside(); done {
		os.Exit(code)
	}
	var o runOptions
	flag.StringVar(&o.Bin, "bin", "bin", "where hookmux and hookmux-hook are")
	flag.IntVar(&o.Faults, "faults", 1000, "how many faults")
	flag.Uint64Var(&o.Seed, "seed", uint64(time.Now().Unix()), "what makes a run repeatable")
	flag.IntVar(&o.Worlds, "worlds", 4, "how many homes at once")
	flag.StringVar(&o.Only, "only", "", "only faults whose name has this in it")
	flag.DurationVar(&o.Back, "back", 5*time.Second, "how soon a daemon must be back")
	flag.DurationVar(&o.Calm, "calm", 600*time.Millisecond, "how long a fault lasts")
	flag.DurationVar(&o.Pace, "pace", 20*time.Millisecond, "the pause between two calls of the load")
	flag.BoolVar(&o.Trace, "trace", false, "say what happens when")
	flag.BoolVar(&o.Keep, "keep", false, "keep the homes")
	flag.Parse()
	results, err := runWorlds(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
	if !printSummary(os.Stdout, o, results) {
		os.Exit(1)
	}
}
