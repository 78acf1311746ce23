//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
)

// rules measures what users' rules add to deciding about one event, in this process: 1,000 rules,
// of which 200 name the program that runs and 100 are only an expression, compared to none, in cpu.
// Every event runs another command.
func (b *bench) rules(ctx context.Context) error {
	none, err := decider(b.temp, "none", "")
	if err != nil {
		return err
	}
	many, err := decider(b.temp, "many", thousandRules())
	if err != nil {
		return err
	}
	const batch = 100 // one event is too short for a clock
	n := 0
	timed := func(decide func(command string) event.Verdict) func() (sample, error) {
		return func() (sample, error) {
			before := ownCPU()
			for range batch {
				n++
				if v := decide(fmt.Sprintf("cd web && git push origin feature-%d", n)); v != event.None {
					return sample{}, fmt.Errorf("a push of a branch was decided: %s", v.Word())
				}
			}
			return sample{wall: micros(ownCPU()-before) / batch}, nil
		}
	}
	if v := many("git push origin main"); v != event.Deny {
		return fmt.Errorf("a push to main was not stopped: %s", v.Word())
	}
	results, err := interleave(ctx, b.rounds, []contender{{"none", timed(none)}, {"many", timed(many)}})
	if err != nil {
		return err
	}
	without, with := undisturbed(wallTimes(results[0])), undisturbed(wallTimes(results[1]))
	b.table.note("rules: deciding without", without, "µs")
	b.table.atMost("rules: what 1,000 rules add to an event", with-without, 100, "µs")
	return nil
}

// undisturbed returns what the quickest tenth needs at most: what else runs on this
// machine takes caches away, and can only add.
func undisturbed(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/10]
}

// thousandRules returns a file of 1,000 rules: 200 for git, 100 that are expressions, 700
// for other programs, paths and hosts.
func thousandRules() string {
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	add := func(id, what, hit string) {
		fmt.Fprintf(&text, "  - {id: %s, why: a bench, %s, decide: deny, examples: {hit: [%s]}}\n", id, what, hit)
	}
	add("main", "match: {program: git, subcommand: push, args: main}", "git push origin main")
	for i := range 199 {
		match := fmt.Sprintf("match: {program: git, subcommand: push, args: [release-%d, \"*:v%d\"]}", i, i)
		add(fmt.Sprintf("git-%d", i), match, fmt.Sprintf("git push origin release-%d", i))
	}
	for i := range 100 {
		when := fmt.Sprintf("when: 'any(commands, .program == \"tool%d\" && len(.args) > 2)'", i)
		if i%2 == 0 { // one that has to be run
			when = fmt.Sprintf("when: 'tool.kind == \"shell\" && any(commands, .text contains \"tool%d a\")'", i)
		}
		add(fmt.Sprintf("when-%d", i), when, fmt.Sprintf("tool%d a b c", i))
	}
	for i := range 700 {
		add(fmt.Sprintf("other-%d", i), fmt.Sprintf("match: {program: program%d, flags: --force}", i),
			fmt.Sprintf("program%d --force", i))
	}
	return text.String()
}

// decider decides by the rules of one text, in a folder of its own.
func decider(base, name, rules string) (func(command string) event.Verdict, error) {
	root := filepath.Join(base, "rules-"+name)
	dirs := paths.Dirs{Home: root, Config: root + "/config", State: root + "/state", Data: root + "/data",
		Runtime: root + "/run", System: root + "/etc"}
	if err := os.MkdirAll(dirs.Config+"/rules", 0o700); err != nil {
		return nil, err
	}
	files := map[string]string{"/rules/many.yaml": rules, "/config.json": `{"guard.own-files": "off"}`}
	for file, text := range files {
		if err := os.WriteFile(dirs.Config+file, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	s := sources.New(sources.Options{Dirs: dirs, Catalogue: agent.Builtin()})
	if problems := s.Rules.Base().Problems; len(problems) > 0 {
		return nil, fmt.Errorf("%s", problems[0])
	}
	entries := s.Guards(sources.GuardOptions{Settings: [2]*config.Settings{s.Config.Settings()}, Project: root})
	dispatcher := new(hook.Dispatcher)
	return func(command string) event.Verdict {
		input, _ := json.Marshal(map[string]string{"command": command})
		ev := &event.Event{ID: "1", Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Cwd: root,
			Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: input}}
		list := hook.Select(entries, ev, nil)
		return dispatcher.Decide(context.Background(), hook.Call{Event: ev}, list).Decision.Verdict
	}, nil
}
