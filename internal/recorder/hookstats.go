package recorder

import (
	"encoding/json"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// HookStats says what each hook cost since the daemon began.
type HookStats struct {
	mu    sync.Mutex
	hooks map[string]*hookStat
	rules map[string]uint64 // calls a rule in log mode would have matched
}

type hookStat struct {
	calls, failures, denied uint64
	would                   uint64 // calls a hook in log mode would have matched
	total, max              time.Duration
	lastErr                 string
	recent                  [256]time.Duration // for the 95th percentile
	at                      int
}

// NewHookStats begins with no hook.
func NewHookStats() *HookStats {
	return &HookStats{hooks: map[string]*hookStat{}, rules: map[string]uint64{}}
}

// Add counts one run of a hook.
func (s *HookStats) Add(step *hook.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.hooks[step.Hook]
	if one == nil {
		one = &hookStat{}
		s.hooks[step.Hook] = one
	}
	one.calls++
	one.total += step.Took
	one.max = max(one.max, step.Took)
	one.recent[one.at%len(one.recent)] = step.Took
	one.at++
	if step.Err != nil {
		one.failures++
		one.lastErr, _, _ = strings.Cut(step.Err.Error(), "\n")
	}
	if step.Verdict == event.Deny {
		one.denied++
	}
	if step.Would != nil {
		one.would++
		for _, rule := range step.Would.Rules {
			s.rules[rule]++
		}
	}
}

// Would returns how many calls a only logged hook, or the rule behind a [hook.RuleID], would have
// have matched.
func (s *HookStats) Would(id string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rule, ok := hook.RuleOf(id); ok {
		return s.rules[rule]
	}
	if one := s.hooks[id]; one != nil {
		return one.would
	}
	return 0
}

// List gives the figures of every hook, the most expensive first.
func (s *HookStats) List() []wire.HookStat {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]wire.HookStat, 0, len(s.hooks))
	for id, one := range s.hooks {
		n := min(one.at, len(one.recent))
		recent := append([]time.Duration(nil), one.recent[:n]...)
		sort.Slice(recent, func(i, j int) bool { return recent[i] < recent[j] })
		us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
		list = append(list, wire.HookStat{
			Hook: id, Calls: one.calls, Failures: one.failures, Denied: one.denied, Would: one.would,
			LastErr: one.lastErr, MeanUS: us(one.total) / float64(one.calls), P95US: us(recent[(n*95+99)/100-1]),
			MaxUS: us(one.max),
		})
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].MeanUS*float64(list[i].Calls) > list[j].MeanUS*float64(list[j].Calls)
	})
	return list
}

// Methods returns the methods about what hooks cost.
func (s *HookStats) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodStats: {Run: func(json.RawMessage, proc.Cred) (any, *wire.Error) {
			return s.List(), nil
		}},
	}
}
