//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// printSummary prints the result of a run, and reports whether every promise was
// kept.
func printSummary(out io.Writer, o runOptions, results []result) bool {
	type line struct {
		count         int
		back, slowest []time.Duration
	}
	lines := map[string]*line{}
	var counts loadCounts
	var failures []failure
	var memory []int
	var backs []time.Duration
	acked, writtenOff, faultCount, mounts := 0, 0, 0, 0
	for _, r := range results {
		for _, f := range r.Faults {
			l := lines[f.Name]
			if l == nil {
				l = &line{}
				lines[f.Name] = l
			}
			l.count++
			l.back = append(l.back, f.Back)
			backs = append(backs, f.Back)
			l.slowest = append(l.slowest, f.Slowest)
			faultCount++
		}
		counts.addCounts(r.Counts)
		failures = append(failures, r.Failures...)
		failures = append(failures, checkMemory(r)...)
		memory = append(memory, r.Memory...)
		acked += r.Acked
		writtenOff += r.WrittenOff
		if r.OwnMounts {
			mounts++
		}
	}
	fmt.Fprintf(out, "%-50s %5s  %9s %9s  %9s\n", "fault", "times", "daemon back", "at most", "slowest call")
	for _, f := range faults() {
		if l := lines[f.name]; l != nil {
			fmt.Fprintf(out, "%-50s %5d  %8.2fs %8.2fs  %8.2fs\n", f.name, l.count, middleOf(l.back).Seconds(),
				slices.Max(l.back).Seconds(), slices.Max(l.slowest).Seconds())
		}
	}
	fmt.Fprintf(out, "\nseed %d, %d faults in %d homes (%d with mounts of their own)\n", o.Seed, faultCount,
		len(results), mounts)
	fmt.Fprintf(out, "daemon back after a fault: %.2fs in the middle, %.2fs in 99 of 100, within %v in %d\n",
		middleOf(backs).Seconds(), shareOf(backs, 0.99).Seconds(), barBack, countWithin(backs, barBack))
	fmt.Fprintf(out, "dangerous calls: %d, denied %d, asked %d\n", counts.Dangerous, counts.Denied, counts.Asked)
	fmt.Fprintf(out, "harmless calls: %d, passed %d, held %d; answered by a daemon: %d of %d\n", counts.Harmless,
		counts.Passed, counts.Held, counts.ByDaemon, counts.Dangerous+counts.Harmless)
	fmt.Fprintf(out, "events acknowledged: %d (reports sent: %d); looked for before a fault that destroys records, or "+
		"destroyed by it: %d\n", acked, counts.Reports, writtenOff)
	fmt.Fprintf(out, "slowest call: %.2fs\n", counts.Slowest.Seconds())
	if len(memory) > 0 {
		slices.Sort(memory)
		fmt.Fprintf(out, "memory of the daemon after a fault: %d MB in the middle, %d MB at most\n",
			memory[len(memory)/2]>>10, memory[len(memory)-1]>>10)
	}
	for _, f := range failures {
		fmt.Fprintf(out, "\nFAILED %s\n", f)
	}
	fmt.Fprintf(out, "\n%d promises broken\n", len(failures))
	return len(failures) == 0
}

func (c *loadCounts) addCounts(more loadCounts) {
	c.Harmless += more.Harmless
	c.Dangerous += more.Dangerous
	c.Reports += more.Reports
	c.Denied += more.Denied
	c.Asked += more.Asked
	c.Passed += more.Passed
	c.Held += more.Held
	c.ByDaemon += more.ByDaemon
	c.Slowest = max(c.Slowest, more.Slowest)
}

// barBack is how soon a daemon should be back on a machine that is not busy.
const barBack = 5 * time.Second

func middleOf(list []time.Duration) time.Duration { return shareOf(list, 0.5) }

// shareOf returns what this share of a list is not above; 0 of an empty list.
func shareOf(list []time.Duration, share float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func countWithin(list []time.Duration, limit time.Duration) int {
	n := 0
	for _, d := range list {
		if d <= limit {
			n++
		}
	}
	return n
}

const (
	// mostMemory is the most memory a daemon may have after a fault, in KiB: a daemon at rest and
	// what it may hold of requests on their way.
	mostMemory = 256 << 10
	// mostGrowth is how much more the last faults may leave than the first.
	mostGrowth = 1.3
	// fewFaults are too few to distinguish growth from chance.
	fewFaults = 80
)

// checkMemory compares what daemons needed at the beginning with the end.
func checkMemory(r result) []failure {
	var found []failure
	if len(r.Memory) == 0 {
		return nil
	}
	if most := slices.Max(r.Memory); most > mostMemory {
		found = append(found, failure{World: r.World, Fault: "all", What: "memory of the daemon after a fault",
			Expected: fmt.Sprintf("at most %d MB", mostMemory>>10), Came: fmt.Sprintf("%d MB", most>>10)})
	}
	if len(r.Memory) >= fewFaults {
		quarter := len(r.Memory) / 4
		first, last := middleMemory(r.Memory[:quarter]), middleMemory(r.Memory[len(r.Memory)-quarter:])
		if float64(last) > mostGrowth*float64(first) {
			found = append(found, failure{World: r.World, Fault: "all", What: "memory of the daemon over the run",
				Expected: fmt.Sprintf("about %d MB, as after the first faults", first>>10),
				Came:     fmt.Sprintf("%d MB after the last", last>>10)})
		}
	}
	return found
}

func middleMemory(list []int) int {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
