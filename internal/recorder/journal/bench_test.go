//go:build unix

package journal

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

func cpuTime() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var payload = []byte(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"` +
	strings.Repeat("go test ./... ", 50) + `"}}`)

func benchRows(base, n int, outcomes bool) []Item {
	items := make([]Item, n)
	for i := range items {
		r := sample(i)
		// As the hook client makes them: growing with time.
		r.ID = fmt.Sprintf("%012x-%08x", base+i, uint32(base+i)*2654435761)
		r.Body = payload
		items[i].Row = r
		if outcomes {
			items[i].Outcome = &Outcome{ID: r.ID, Time: r.Time, Took: time.Millisecond, Verdict: "allow",
				By:       "user:check",
				Decision: []byte(`{"verdict":"allow","reason":"looks fine","by":"user:check"}`)}
		}
	}
	return items
}

// BenchmarkWrite tells the cpu time per event, everything included.
func BenchmarkWrite(b *testing.B) {
	for _, outcomes := range []bool{false, true} {
		for _, size := range []int{1, 8, 32, 128, 512} {
			b.Run(fmt.Sprintf("outcomes=%v/batch=%d", outcomes, size), func(b *testing.B) {
				j := fresh(b)
				var spent time.Duration
				for n := 0; n < b.N; n += size {
					b.StopTimer()
					items := benchRows(n, size, outcomes)
					b.StartTimer()
					before := cpuTime()
					write(b, j, items)
					spent += cpuTime() - before
				}
				b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu-µs/event")
			})
		}
	}
}

// BenchmarkQuery looks through many events for few.
func BenchmarkQuery(b *testing.B) {
	j := fresh(b)
	const n = 50000
	for from := 0; from < n; from += 500 {
		write(b, j, benchRows(from, 500, from%1000 == 0))
	}
	one := sample(0)
	one.ID, one.Session, one.Tool = "needle", "needle", "needle"
	write(b, j, []Item{{Row: one}})
	for name, f := range map[string]Filter{
		"tool":    {Tools: []string{"needle"}},
		"session": {Session: "needle"},
		"verdict": {Verdict: "deny"},
		"newest":  {Newest: true, Limit: 50},
		"all":     {},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				for _, err := range j.Query(context.Background(), f) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
