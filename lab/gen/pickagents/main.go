// Command pickagents prints the real agents that a commit is tried with: those
// it is given, and two more that the commit's hash chooses among the others that
// can be driven, so that over the commits every agent has its turn:
//
//	go run ./lab/gen/pickagents -commit $(git rev-parse HEAD) claude codex
//
// The same commit always chooses the same. Agents that are too large to be
// fetched by chance (realagents.Agent.Large), and those of which no verification was
// recorded yet, are never chosen.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

func main() {
	commit := flag.String("commit", "", "the hash of the commit")
	more := flag.Int("more", 2, "how many agents the hash chooses")
	flag.Parse()
	for _, name := range flag.Args() {
		if _, known := realagents.Find(name); !known {
			fmt.Fprintf(os.Stderr, "pickagents: %s: no such agent; known are %s\n", name,
				strings.Join(realagents.Names(), " "))
			os.Exit(2)
		}
	}
	fmt.Println(strings.Join(pickAgents(*commit, flag.Args(), *more), " "))
}

// pickAgents adds to the fixed agents as many others as asked for.
func pickAgents(commit string, fixed []string, more int) []string {
	picked := slices.Clone(fixed)
	rest := eligible(fixed)
	hash := sha256.Sum256([]byte(strings.TrimSpace(commit)))
	for draw := 0; draw < more && len(rest) > 0; draw++ {
		number := binary.BigEndian.Uint64(hash[draw*8%len(hash):])
		at := int(number % uint64(len(rest)))
		picked = append(picked, rest[at])
		rest = slices.Delete(rest, at, at+1)
	}
	return picked
}

// eligible returns the agents that the hash may choose, in the order of their names.
func eligible(fixed []string) []string {
	var names []string
	for _, name := range recordings.Agents() {
		a, _ := realagents.Find(name)
		if _, driven := drivers.Find(name); driven && !a.Large && a.PublishedHere() && !slices.Contains(fixed, name) {
			names = append(names, name)
		}
	}
	return names
}
