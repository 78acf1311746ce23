//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/tshook"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// attackTSHook does harm when a command asks for it.
const attackTSHook = `const held: any[] = [];
export default function (hooks: any) {
  hooks.on("tool_call", async (event: any) => {
    switch (event.input.command) {
      case "busy loop": for (;;) {}
      case "catastrophic regex": /^(a+)+$/.test("a".repeat(40) + "!"); break;
      case "array bomb": for (;;) held.push(new Array(1e6).fill(7));
      case "deep recursion": { const deeper = (n: number): number => deeper(n + 1) + 1; deeper(0); break; }
      case "unresolved promise": await new Promise(() => {});
    }
  });
}
`

// attack is one of them, and how soon it must be denied.
type attack struct {
	name  string
	limit time.Duration // the call's deadline
	bar   time.Duration
}

// attacks lists hooks that compute or wait without end. One that computes must end
// within its slice, or on a busy machine within the few slices that the watchdog waits
// for its turn; one that waits must end within its deadline and the margin that a
// client adds.
func attacks() []attack {
	const long, short = 30 * time.Second, 2 * time.Second
	computing := 6 * tshook.DefaultLimits.Slice
	return []attack{
		{"busy loop", long, computing}, {"catastrophic regex", long, computing}, {"array bomb", long, computing},
		{"deep recursion", long, computing},
		{"unresolved promise", short, short + frame.Margin(short)},
	}
}

// again returns the attacks that continue forever: those that take memory, by way of an
// engine that is dropped and one that is kept, and a call that is given up. The
// ones that only take time end like the first.
func again() []attack {
	list := slices.DeleteFunc(attacks(), func(a attack) bool {
		return a.name == "busy loop" ||
			a.name == "catastrophic regex"
	})
	list[len(list)-1].limit = 200 * time.Millisecond // how long it takes isn't measured
	return list
}

// tsHookAttacks lets a file in a daemon misbehave, over and over. Every call must be denied, and in
// time, and the daemon's memory must be where it was when the same file had only behaved.
func (b *bench) tsHookAttacks(ctx context.Context) error {
	files := hookFiles(nil, "off")
	files["config/hookmux/hooks/attack.ts"] = attackTSHook
	p, err := b.startDaemon(ctx, "hook-attacks", files)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.tsHooksLoaded(ctx, 1); err != nil {
		return err
	}
	harmless := func() error {
		if _, err := refused(p, "go test ./...", 30*time.Second); !errors.Is(err, errNotRefused) {
			return fmt.Errorf("a harmless call: %w", cmp.Or(err, errors.New("was refused")))
		}
		return ctx.Err()
	}
	slowest := map[string]time.Duration{}
	every := func(list []attack) error {
		for _, a := range list {
			took, err := refused(p, a.name, a.limit)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			slowest[a.name] = max(slowest[a.name], took)
			if err := harmless(); err != nil {
				return fmt.Errorf("after a %s: %w", a.name, err)
			}
		}
		return nil
	}
	settled := func() (float64, error) {
		if err := p.drained(ctx); err != nil {
			return 0, err
		}
		time.Sleep(2 * time.Second) // a daemon tidies up after a while
		return residentOf(p)
	}

	times := min(max(b.rounds/15, 2), 20)
	for range times {
		if err := harmless(); err != nil {
			return err
		}
	}
	before, err := settled()
	if err != nil {
		return err
	}
	if err := every(attacks()); err != nil {
		return err
	}
	for range times {
		if err := every(again()); err != nil {
			return err
		}
	}
	if err := every(attacks()); err != nil {
		return err
	}
	after, err := settled()
	if err != nil {
		return err
	}
	for _, a := range attacks() {
		b.table.atMost("typescript: "+a.name+", refused after at most", slowest[a.name].Seconds(), a.bar.Seconds(), "s")
	}
	b.table.note("typescript: a daemon whose file behaved", before/1e6, "MB")
	b.table.note(fmt.Sprintf("typescript: a daemon after %d rounds of attacks", times+2), after/1e6, "MB")
	b.table.atMost("typescript: memory attacked ÷ not attacked", after/before, 1.15, "×")
	return nil
}

var errNotRefused = errors.New("was not refused")

// refused makes one deciding call and expects a deny.
func refused(p *place, command string, limit time.Duration) (time.Duration, error) {
	payload, err := json.Marshal(map[string]any{
		"session_id": "attack", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1",
		"cwd": filepath.Join(p.dir, "project"), "permission_mode": "default",
		"tool_input": map[string]any{"command": command},
	})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	conn, err := net.Dial("unix", p.dirs.Socket())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(began.Add(limit + 30*time.Second))
	r := frame.Request{ID: frame.NewID(), Agent: "claude", Event: "PreToolUse", Cwd: filepath.Join(p.dir, "project"),
		Payload: payload, Deadline: limit}
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		return 0, err
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	took := time.Since(began)
	if err != nil {
		return took, err
	}
	if !strings.Contains(string(reply.Stdout), `"deny"`) {
		return took, fmt.Errorf("%w: %q", errNotRefused, reply.Stdout)
	}
	return took, nil
}

// tsHooksLoaded waits until n files are in force.
func (p *place) tsHooksLoaded(ctx context.Context, n int) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var list []wire.TSHookInfo
		if err := p.client.Call(ctx, wire.MethodTSHooks, wire.TSHooksParams{}, &list); err != nil {
			return err
		}
		ready := 0
		for _, m := range list {
			if m.InForce {
				ready++
			}
		}
		if ready == n {
			return nil
		}
		if time.Now().After(end) {
			text, _ := json.Marshal(list)
			return fmt.Errorf("%d of %d TypeScript hooks are loaded: %s", ready, n, text)
		}
	}
}
