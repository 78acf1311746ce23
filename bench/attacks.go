//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/module"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// attackModule does harm when a command asks for it.
const attackModule = `const held: any[] = [];
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

// attackTime is the deadline of the call that nobody would ever answer.
const attackTime = 2 * time.Second

// moduleAttacks lets a file in a hub misbehave, over and over. Every call must
// be refused, and in time: what computes within its slice, or on a busy machine
// within the few slices a watchdog waits until it got to compute; what waits
// within its deadline and the margin a client has on top. Then the hub's memory
// is looked at.
func (b *bench) moduleAttacks(ctx context.Context) error {
	files := hookFiles(nil)
	files["config/hookmux/hooks/attack.ts"] = attackModule
	p, err := b.startHub(ctx, "module-attacks", files)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.modulesLoaded(ctx, 1); err != nil {
		return err
	}
	slice := module.DefaultLimits.Slice
	attacks := []struct {
		name string
		bar  time.Duration
	}{
		{"busy loop", 6 * slice}, {"catastrophic regex", 6 * slice}, {"array bomb", 6 * slice}, {"deep recursion", 6 * slice}, {"unresolved promise", attackTime + frame.Margin(attackTime)},
	}
	slowest := make([]time.Duration, len(attacks))
	round := func() error {
		for i, attack := range attacks {
			if err := ctx.Err(); err != nil {
				return err
			}
			limit := 30 * time.Second
			if attack.name == "unresolved promise" {
				limit = attackTime
			}
			took, err := refused(p, attack.name, limit)
			if err != nil {
				return fmt.Errorf("%s: %w", attack.name, err)
			}
			slowest[i] = max(slowest[i], took)
			if _, err := refused(p, "go test ./...", 30*time.Second); !errors.Is(err, errNotRefused) {
				return fmt.Errorf("after a %s a harmless call: %w", attack.name, err)
			}
		}
		return nil
	}
	fresh, err := residentOf(p)
	if err != nil {
		return err
	}
	// The first rounds take what the allocators keep for good.
	for range 2 {
		if err := round(); err != nil {
			return err
		}
	}
	settled := func() (float64, error) {
		if err := p.drained(ctx); err != nil {
			return 0, err
		}
		time.Sleep(2 * time.Second) // a hub tidies up after a while
		return residentOf(p)
	}
	before, err := settled()
	if err != nil {
		return err
	}
	times := min(max(b.rounds/15, 2), 20)
	for range times {
		if err := round(); err != nil {
			return err
		}
	}
	after, err := settled()
	if err != nil {
		return err
	}
	for i, attack := range attacks {
		b.table.atMost("modules: "+attack.name+", refused after at most", slowest[i].Seconds(), attack.bar.Seconds(), "s")
	}
	b.table.note("modules: a hub before it is attacked", fresh/1e6, "MB")
	b.table.note("modules: a hub that was attacked twice by each", before/1e6, "MB")
	b.table.atMost(fmt.Sprintf("modules: more after %d times each", times), max(after-before, 0)/1e6, 8, "MB")
	return nil
}

var errNotRefused = errors.New("was not refused")

// refused makes one deciding call and expects a deny.
func refused(p *place, command string, limit time.Duration) (time.Duration, error) {
	payload, err := json.Marshal(map[string]any{
		"session_id": "attack", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t1", "cwd": filepath.Join(p.dir, "project"), "permission_mode": "default",
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
	r := frame.Request{ID: frame.NewID(), Agent: "claude", Event: "PreToolUse", Cwd: filepath.Join(p.dir, "project"), Payload: payload, Deadline: limit}
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

// modulesLoaded waits until n files are in force.
func (p *place) modulesLoaded(ctx context.Context, n int) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var list []wire.ModuleInfo
		if err := p.client.Call(ctx, wire.MethodModules, wire.ModulesParams{}, &list); err != nil {
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
			return fmt.Errorf("%d of %d modules are loaded: %s", ready, n, text)
		}
	}
}
