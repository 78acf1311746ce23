//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
)

// dispatch measures what hooks add to a decision.
func (b *bench) dispatch(ctx context.Context) error {
	payload, err := b.stretched("PreToolUse.Bash", "tool_input", "description")
	if err != nil {
		return err
	}
	half := builtins(20, func(i int) hook.Role {
		if i%2 == 0 {
			return hook.Guard
		}
		return "" // as built-ins come: called, not waited for
	})
	guards := builtins(20, func(int) hook.Role { return hook.Guard })
	always := hook.Registration{ID: "true", Agent: hook.Any, HookType: "tool.before", Handler: "command",
		Target: "true", Role: hook.Guard}
	daemons := []struct {
		name   string
		hooks  []hook.Registration
		guards string // the mode of hookmux's own
	}{
		{"none", nil, "off"}, {"builtins", half, "off"}, {"guards", guards, "off"},
		{"command", append(half[:len(half):len(half)], always), "off"}, {"packs", nil, "block"},
	}
	var contenders []contender
	var places []*place
	defer func() {
		for _, p := range places {
			p.stop()
		}
	}()
	for _, h := range daemons {
		p, err := b.startDaemon(ctx, "hooks-"+h.name, hookFiles(h.hooks, h.guards))
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		places = append(places, p)
		if err := p.inForce(ctx, len(h.hooks)); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		contenders = append(contenders, contender{h.name, p.hook(b, "PreToolUse", payload).run})
	}
	contenders = append(contenders, contender{"spawn", func() (sample, error) { return spawnTrue(places[0], payload) }})
	results, err := interleave(ctx, b.rounds, contenders)
	if err != nil {
		return err
	}
	for i, p := range places {
		if err := p.heard(ctx, warmUp+b.rounds); err != nil {
			return err
		}
		info, err := p.client.Info(ctx)
		if err != nil {
			return err
		}
		if len(info.Problems) > 0 {
			return fmt.Errorf("%s: %s", daemons[i].name, info.Problems[0].What)
		}
	}
	none, some, all, command, spawn := wallTimes(results[0]), wallTimes(results[1]), wallTimes(results[2]),
		wallTimes(results[3]),
		wallTimes(results[5])
	added := median(differences(command, some))
	b.table.note("dispatch: no hooks", median(none), "µs")
	b.table.note("dispatch: 20 built-ins, all waited for ÷ no hooks", median(ratios(all, none)), "×")
	b.table.atMost("dispatch: 20 built-ins, half waited for ÷ no hooks", median(ratios(some, none)), 1.3, "×")
	b.table.atMost("dispatch: all guards on ÷ none", median(ratios(wallTimes(results[4]), none)), 1.3, "×")
	b.table.note("dispatch: spawning true", median(spawn), "µs")
	b.table.note("dispatch: what a true command adds", added, "µs")
	b.table.atMost("dispatch: what a true command adds ÷ spawning true", added/median(spawn), 1.5, "×")
	return nil
}

// builtins registers n of them, in turn of each kind that is shipped.
func builtins(n int, mode func(i int) hook.Role) []hook.Registration {
	targets := []string{"log", "trace", "session-capture"}
	var list []hook.Registration
	for i := range n {
		list = append(list, hook.Registration{
			ID: fmt.Sprintf("builtin-%02d", i), Agent: hook.Any, HookType: "tool.before", Handler: "builtin",
			Target: targets[i%len(targets)], Role: mode(i),
		})
	}
	return list
}

// hookFiles are the user's own files, with all guards in one mode.
func hookFiles(hooks []hook.Registration, guards string) map[string]string {
	settings := map[string]string{}
	for _, g := range names.All() {
		settings[hook.GuardID(g.Name)] = guards
	}
	if guards == "block" {
		settings["guard.loop"] = "log" // it looks, and lets the bench repeat its call
	}
	config, _ := json.Marshal(settings) // plain values: can't fail
	files := map[string]string{"config/hookmux/config.json": string(config)}
	if len(hooks) > 0 {
		text, _ := json.Marshal(map[string]any{"version": 1, "hooks": hooks}) // plain values: can't fail
		files["config/hookmux/hooks.json"] = string(text)
	}
	return files
}

// inForce makes sure that the daemon runs the hooks that were written for it.
func (p *place) inForce(ctx context.Context, want int) error {
	var listed []struct {
		InForce bool `json:"inForce"`
	}
	err := p.client.Call(ctx, "hooks.list", map[string]string{"cwd": filepath.Join(p.dir, "project")}, &listed)
	if err != nil {
		return err
	}
	n := 0
	for _, one := range listed {
		if one.InForce {
			n++
		}
	}
	if n != want {
		return fmt.Errorf("%d hooks are in force instead of %d", n, want)
	}
	return nil
}

// spawnTrue runs true as a plain Go program runs a hook: payload on stdin,
// both outputs caught, a process group of its own.
func spawnTrue(p *place, payload []byte) (sample, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("true")
	cmd.Env, cmd.Dir = p.Env, p.Project
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(payload), &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	// true may be gone before it is written to; os/exec takes that as no error.
	if err := cmd.Run(); err != nil {
		return sample{}, err
	}
	return sample{wall: micros(time.Since(began))}, nil
}
