//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// gateTSHook is a typical hook: three regexes on a command.
const gateTSHook = `import type { HookAPI } from "hookmux";
const RISKY = [/\bshred\s+(-u|--remove)/i, /\bsudo\b/i, /\b(chmod|chown)\b.*777/i];
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event) => {
    if (event.toolName === "bash" && RISKY.some((shape) => shape.test(event.input.command))) return { block: true, reason: "risky" };
  });
}
`

// manyTSHooks is how many files are loaded at once.
const manyTSHooks = 50

// tsHooks measures hooks in TypeScript: a decision through a warm one, loading,
// and memory.
func (b *bench) tsHooks(ctx context.Context) error {
	for _, part := range b.tsHookParts() {
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// part is one measurement that can be asked for alone.
type part struct {
	name string
	run  func(context.Context) error
}

func (b *bench) tsHookParts() []part {
	return []part{
		{"typescript/calls", b.tsHookCalls}, {"typescript/dispatch", b.tsHookDispatch}, {"typescript/loads", b.tsHookLoads},
		{"typescript/starts", b.tsHookStarts}, {"typescript/memory", b.tsHookMemory}, {"typescript/attacks", b.tsHookAttacks},
	}
}

// tsHookCalls makes calls over the sockets of two daemons in turn: one with a
// built-in that has nothing to say, one with the TypeScript hook.
func (b *bench) tsHookCalls(ctx context.Context) error {
	payload, err := b.stretched("PreToolUse.Bash", "tool_input", "description")
	if err != nil {
		return err
	}
	single := builtins(1, func(int) hook.Role { return hook.Guard })
	quiet, err := b.startDaemon(ctx, "hook-none", hookFiles(single, "off"))
	if err != nil {
		return err
	}
	defer quiet.stop()
	gated, err := b.tsHookDaemon(ctx, "hook-one", 1)
	if err != nil {
		return err
	}
	defer gated.stop()
	call := func(p *place) func() (sample, error) {
		return func() (sample, error) {
			c, err := frameCall(p, payload)
			return sample{wall: c}, err
		}
	}
	results, err := interleave(ctx, b.rounds*5, []contender{{"builtin", call(quiet)}, {"hook", call(gated)}})
	if err != nil {
		return err
	}
	one, other := wallTimes(results[0]), wallTimes(results[1])
	b.table.note("typescript: a call through a built-in, p95", p95(one), "µs")
	b.table.note("typescript: a call through a hook with three regexes, p95", p95(other), "µs")
	b.table.atMost("typescript: p95 through a hook ÷ through a no-op built-in", p95(other)/p95(one), 20, "×")
	return nil
}

// frameCall returns one hook call, without a process of its own.
func frameCall(p *place, payload []byte) (float64, error) {
	began := time.Now()
	conn, err := net.Dial("unix", p.dirs.Socket())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(began.Add(30 * time.Second))
	r := frame.Request{ID: frame.NewID(), Agent: "claude", Event: "PreToolUse", Cwd: filepath.Join(p.dir, "project"),
		Payload: payload, Deadline: 30 * time.Second}
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		return 0, err
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	took := micros(time.Since(began))
	if err == nil && len(reply.Stdout) > 0 {
		err = fmt.Errorf("a harmless call was answered %q", reply.Stdout)
	}
	return took, err
}

// tsHookDispatch returns the same without daemon and sockets.
func (b *bench) tsHookDispatch(ctx context.Context) error {
	engine, dir, done, err := b.newEngine("dispatch")
	if err != nil {
		return err
	}
	defer done()
	file := filepath.Join(dir, "gate.ts")
	if err := os.WriteFile(file, []byte(gateTSHook), 0o600); err != nil {
		return err
	}
	m, err := engine.Load(ctx, tshook.Source{Path: file})
	if err != nil {
		return err
	}
	ev := &event.Event{Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Session: "s", Cwd: dir,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"go test ./..."},
			Input: []byte(`{"command":"go test ./...","description":"x"}`)}}
	nothing := hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) {
		return event.Decision{},
			nil
	})
	var contenders []contender
	for name, run := range map[string]hook.Handler{"builtin": nothing, "hook": m} {
		e, err := hook.NewEntry(hook.Registration{ID: name, Agent: hook.Any, HookType: "tool.before",
			Handler: "builtin", Target: name, Role: hook.Guard}, run, "bench")
		if err != nil {
			return err
		}
		var d hook.Dispatcher
		entries := []*hook.Entry{e}
		contenders = append(contenders, contender{name, func() (sample, error) {
			bounded, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			began, used := time.Now(), ownCPU()
			out := d.Decide(bounded, hook.Call{Event: ev}, entries)
			cost, took := micros(ownCPU()-used), micros(time.Since(began))
			if out.Decision.Verdict != event.None {
				return sample{}, errors.New("a harmless call was refused: " + out.Decision.Reason)
			}
			return sample{wall: took, cpu: cost}, nil
		}})
	}
	slices.SortFunc(contenders, func(a, b contender) int { return len(a.name) - len(b.name) }) // the hook first
	results, err := interleave(ctx, b.rounds*5, contenders)
	if err != nil {
		return err
	}
	b.table.note("typescript: dispatch alone, hook, p95", p95(wallTimes(results[0])), "µs")
	b.table.note("typescript: dispatch alone, no-op built-in, p95", p95(wallTimes(results[1])), "µs")
	b.table.atMost("typescript: dispatch alone, hook ÷ no-op, p95",
		p95(wallTimes(results[0]))/p95(wallTimes(results[1])), 20,
		"×")
	// And in cpu: on a busy machine the longer of two waits for its turn more
	// often, which says nothing about either.
	b.table.atMost("typescript: dispatch alone, hook ÷ no-op, p95 of cpu", p95(cpus(results[0]))/p95(cpus(results[1])),
		20, "×")
	return nil
}

func (b *bench) newEngine(name string) (*tshook.Engine, string, func(), error) {
	dir, err := os.MkdirTemp(b.temp, "engine-"+name)
	if err != nil {
		return nil, "", nil, err
	}
	e := tshook.New(tshook.Host{CacheDir: filepath.Join(dir, "cache")})
	return e, dir, func() { e.Close(); os.RemoveAll(dir) }, nil
}

// tsHookLoads loads one file and fifty, as a daemon does that runs already, two at
// a time. Each has another content, so that nothing comes from a cache.
func (b *bench) tsHookLoads(ctx context.Context) error {
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // as in the daemon
	serial := 0
	load := func(n int) func() (sample, error) {
		return func() (sample, error) {
			engine, dir, done, err := b.newEngine("load")
			if err != nil {
				return sample{}, err
			}
			defer done()
			files := make(chan string, n)
			for i := range n {
				serial++
				file := filepath.Join(dir, fmt.Sprintf("gate%02d.ts", i))
				if err := os.WriteFile(file, []byte(fmt.Sprintf("// %d\n%s", serial, gateTSHook)), 0o600); err != nil {
					return sample{}, err
				}
				files <- file
			}
			close(files)
			runtime.GC() // each pays for what it leaves behind
			began, used := time.Now(), ownCPU()
			var busy sync.WaitGroup
			failed := make(chan error, n)
			for range 2 {
				busy.Go(func() {
					for file := range files {
						if _, err := engine.Load(ctx, tshook.Source{Path: file}); err != nil {
							failed <- err
						}
					}
				})
			}
			busy.Wait()
			took, cost := micros(time.Since(began)), micros(ownCPU()-used)
			select {
			case err = <-failed:
			default:
			}
			return sample{wall: took, cpu: cost}, err
		}
	}
	results, err := interleave(ctx, max(20, b.rounds/10), []contender{{"one", load(1)}, {"many", load(manyTSHooks)}})
	if err != nil {
		return err
	}
	one, many := results[0], results[1]
	b.table.note("typescript: loading one, cpu", median(cpus(one))/1000, "ms")
	b.table.note(fmt.Sprintf("typescript: loading each of %d, cpu", manyTSHooks), median(cpus(many))/manyTSHooks/1000,
		"ms")
	b.table.atMost(fmt.Sprintf("typescript: loading %d ÷ one, when others are, cpu", manyTSHooks),
		median(cpus(many))/median(cpus(one)), manyTSHooks, "×")
	return nil
}

// tsHookStarts returns the cpu of a daemon until its files are loaded, without those it
// needs for itself: what one file costs that comes first, and what fifty do.
func (b *bench) tsHookStarts(ctx context.Context) error {
	counts := []int{0, 1, manyTSHooks}
	cost := make([][]float64, len(counts))
	for round := range 5 {
		for i, n := range counts {
			p, err := b.tsHookDaemon(ctx, fmt.Sprintf("hook-start-%d-%d", round, n), n)
			if err != nil {
				return err
			}
			cpu, _, err := usage(p.pid())
			p.stop()
			if err != nil {
				return err
			}
			cost[i] = append(cost[i], micros(cpu))
		}
	}
	none := median(cost[0])
	one, many := max(median(cost[1])-none, 10_000), median(cost[2])-none // a tick of the kernel's clock is 10 ms
	b.table.note("typescript: a daemon's first, cpu", one/1000, "ms")
	b.table.atMost(fmt.Sprintf("typescript: %d in a daemon ÷ one, cpu", manyTSHooks), many/one, manyTSHooks, "×")
	return nil
}

// tsHookMemory returns what one more file costs the daemon.
func (b *bench) tsHookMemory(ctx context.Context) error {
	var resident []float64
	for _, n := range []int{1, 1 + manyTSHooks} {
		p, err := b.tsHookDaemon(ctx, fmt.Sprintf("hook-memory-%d", n), n)
		if err != nil {
			return err
		}
		if err := p.drained(ctx); err != nil {
			return err
		}
		bytes, err := residentOf(p)
		p.stop()
		if err != nil {
			return err
		}
		resident = append(resident, bytes/1e6)
	}
	b.table.atMost("typescript: memory of one more", (resident[1]-resident[0])/manyTSHooks, 0.45, "MB")
	return nil
}

// tsHookDaemon starts a daemon with n files in its folder and waits until they are
// loaded.
func (b *bench) tsHookDaemon(ctx context.Context, name string, n int) (*place, error) {
	files := hookFiles(nil, "off")
	for i := range n {
		files[fmt.Sprintf("config/hookmux/hooks/gate%02d.ts", i)] = fmt.Sprintf("// %d\n%s", i, gateTSHook)
	}
	p, err := b.startDaemon(ctx, name, files)
	if err != nil {
		return nil, err
	}
	if err := p.tsHooksLoaded(ctx, n); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func p95(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*95/100]
}
