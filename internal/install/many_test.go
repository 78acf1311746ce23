package install

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/install/hookentry/hookentrytest"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// manyDocuments returns how many documents of each format are installed into and
// cleaned out again: always the same ones in a plain test run, more and new
// ones with HOOKMUX_LONG=1 or -documents.
func manyDocuments() (n int, seed uint64) {
	switch {
	case *documents > 0:
		return *documents, rand.Uint64()
	case os.Getenv("HOOKMUX_LONG") == "1":
		return 100_000, rand.Uint64()
	case testing.Short():
		return 500, 1
	}
	return 5_000, 1
}

var oneDocument = flag.Uint64("document", 0, "the one document to try, as a failure names it")

// TestManyDocuments installs into documents of each format, random ones and
// real ones that were changed at random: installing twice changes nothing, an
// upgrade or a person's edit may come between, and taking out leaves exactly
// what the user wrote.
func TestManyDocuments(t *testing.T) {
	for _, name := range []string{"jsonc", "toml", "yaml"} {
		format, err := edit.For(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			robots := robotsOf(name)
			samples := realDocuments(t, name)
			n, seed := manyDocuments()
			if *oneDocument != 0 {
				n, seed = 1, *oneDocument
			}
			var done, refused, skipped int
			var mu sync.Mutex
			var wait sync.WaitGroup
			workers := max(1, runtime.GOMAXPROCS(0)/2)
			next := make(chan uint64, workers)
			for range workers {
				wait.Add(1)
				go func() {
					defer wait.Done()
					for s := range next {
						d := &trial{seed: s, rng: rand.New(rand.NewPCG(s, 7)), format: format, samples: samples}
						d.robot = robots[d.rng.IntN(len(robots))]
						outcome, err := d.run()
						mu.Lock()
						switch outcome {
						case tried:
							done++
						case wasRefused:
							refused++
						default:
							skipped++
						}
						if err != nil && !t.Failed() {
							t.Errorf("-document %d: %s %v\nbefore:\n%s\nwith us:\n%s\nnow:\n%s", s,
								d.robot.Install.Shape, err, d.before, d.with, d.mem.text[d.path])
						}
						mu.Unlock()
					}
				}()
			}
			for s := seed; ; s++ {
				mu.Lock()
				enough := done >= n || t.Failed() || *oneDocument != 0 && s > seed || int(s-seed) > 4*n+1000
				mu.Unlock()
				if enough {
					break
				}
				next <- s
			}
			close(next)
			wait.Wait()
			t.Logf("%d documents installed into, %d refused and left alone, %d no documents", done, refused, skipped)
			if done < n && *oneDocument == 0 && !t.Failed() {
				t.Errorf("only %d documents of %d", done, n)
			}
		})
	}
}

// realDocuments are files as people have them.
func realDocuments(t *testing.T, format string) []string {
	t.Helper()
	ends := map[string][]string{"jsonc": {".json", ".jsonc"}, "toml": {".toml"}, "yaml": {".yaml", ".yml"}}[format]
	names, err := filepath.Glob(filepath.Join("..", "edit", "testdata", "real", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		if slices.Contains(ends, filepath.Ext(name)) {
			out = append(out, read(t, name))
		}
	}
	if len(out) == 0 {
		t.Fatalf("no real %s; want len(out) != 0", format)
	}
	return out
}

// robotsOf are agents of all shapes that keep their hooks in a format.
func robotsOf(format string) []*agent.Agent {
	var out []*agent.Agent
	for _, s := range hookentrytest.Shapes() {
		if want, _ := edit.For(format); s.Format != want {
			continue
		}
		spec := *s.Spec
		spec.Way = agent.WayEntries
		spec.Places = []agent.InstallPlace{{HookFile: agent.HookFile{Scope: User, Path: "~/.robot/config",
			Format: format}, At: strings.Join(s.At, ".")}}
		claude, _ := agent.Builtin().Agent("claude")
		robot := *claude // an agent that was loaded, with other ways
		robot.Name, robot.Title, robot.Aliases, robot.Install = "robot", "Robot", nil, &spec
		out = append(out, &robot)
	}
	return out
}

func robotEvents(names ...string) []*agent.EventSpec {
	var out []*agent.EventSpec
	for _, name := range names {
		out = append(out, &agent.EventSpec{Name: name, Kind: event.Other, Install: agent.InstallDefault})
	}
	return out
}

// trial is one document on its way in and out.
type trial struct {
	seed    uint64
	rng     *rand.Rand
	format  edit.Format
	samples []string
	robot   *agent.Agent

	mem          *memory
	host         *Host
	path         string
	before, with string
}

type outcome int

const (
	noDocument outcome = iota
	wasRefused
	tried
)

const robotHome = "/r"

func (d *trial) run() (outcome, error) {
	a := *d.robot
	a.Events = robotEvents("Before", "After")[:1+d.rng.IntN(8)/7]
	d.robot = &a
	d.before = d.document()
	d.path = robotHome + "/.robot/config"
	d.mem = newMemory(filepath.Dir(d.path))
	d.mem.text[d.path] = []byte(d.before)
	dirs := paths.Dirs{Home: robotHome, Data: robotHome + "/.local/share/hookmux",
		State: robotHome + "/.local/state/hookmux"}
	d.host = &Host{Dirs: dirs, Getenv: func(string) string { return "" }, Hook: "/opt/" + hookentry.HookName,
		Version: "1", files: d.mem}
	t, err := d.host.target(d.path, a.Install.Places[0], a.Install)
	if err != nil {
		return noDocument, err
	}
	if _, err := t.ParseText([]byte(d.before)); err != nil {
		return noDocument, nil
	}
	kind := max(0, d.rng.IntN(6)-2) // half of them just go in and out
	first := &a
	if kind == 1 { // an upgrade is to come
		older := a
		older.Events = robotEvents("Before", "Gone")
		first = &older
	}
	if err := d.install(first); err != nil {
		if string(d.mem.text[d.path]) != d.before {
			return wasRefused, fmt.Errorf("refused, and changed: %w", err)
		}
		return wasRefused, nil
	}
	d.with = string(d.mem.text[d.path])
	if plan, err := d.host.Install(Options{Agents: []*agent.Agent{first}, Scope: User}); err != nil {
		return tried, fmt.Errorf("installing twice: %w", err)
	} else if len(plan.Steps) > 0 {
		return tried, fmt.Errorf("installing twice: %d steps, expected none", len(plan.Steps))
	}
	want, exactly := d.before, true
	switch kind {
	case 1:
		delete(d.mem.links, Shim(d.host.Dirs))
		d.host.Dirs.Data = robotHome + "/elsewhere"
		if err := d.install(&a); err != nil {
			return tried, fmt.Errorf("the upgrade: %w", err)
		}
		if text := string(d.mem.text[d.path]); strings.Contains(text, "Gone") && !strings.Contains(d.before, "Gone") ||
			d.count(t) != len(a.Events) {
			return tried, fmt.Errorf("not upgraded")
		}
	case 2:
		changed, expected, ok := d.besides(t)
		if !ok {
			return noDocument, nil
		}
		d.mem.text[d.path], want = changed, expected
	case 3:
		changed, expected, ok := d.among(t)
		if !ok {
			return noDocument, nil
		}
		d.mem.text[d.path], want, exactly = changed, expected, false
	}
	d.with = string(d.mem.text[d.path])
	plan, err := d.host.Uninstall([]*agent.Agent{&a})
	if err == nil {
		err = plan.Apply(d.mem)
	}
	if err != nil {
		return tried, fmt.Errorf("uninstall: %w", err)
	}
	if len(plan.Left) > 0 {
		return tried, fmt.Errorf("uninstall leaves %v: %v", plan.Left, plan.Notes)
	}
	now := string(d.mem.text[d.path])
	switch {
	case exactly && now != want:
		return tried, fmt.Errorf("is not what the user wrote (%d), which is\n%s", kind, want)
	case !exactly && !d.same(t, now, want):
		return tried, fmt.Errorf("does not say what the user wrote (%d), which is\n%s", kind, want)
	case strings.Contains(now, hookentry.HookName) && !strings.Contains(d.before, hookentry.HookName):
		return tried, fmt.Errorf("hookmux is still in it")
	case len(d.mem.text) != 1 || len(d.mem.links) != 0:
		return tried, fmt.Errorf("something is left: %v", d.mem.links)
	}
	return tried, nil
}

func (d *trial) install(a *agent.Agent) error {
	plan, err := d.host.Install(Options{Agents: []*agent.Agent{a}, Scope: User})
	if err != nil {
		return err
	}
	return plan.Apply(d.mem)
}

func (d *trial) count(t *hookentry.Target) (n int) {
	r, err := t.ParseText(d.mem.text[d.path])
	if err != nil {
		return -1
	}
	for _, s := range t.Handlers(r) {
		if hookentry.IsFor(s, d.robot) {
			n++
		}
	}
	return n
}

// same compares meanings; nothing at all and an empty table are alike.
func (d *trial) same(t *hookentry.Target, x, y string) bool {
	meaning := func(text string) string {
		r, err := t.ParseText([]byte(text))
		if err != nil {
			return "broken: " + err.Error()
		}
		var v any
		if raw := r.Raw(); raw != nil && json.Unmarshal(raw, &v) != nil {
			return "broken: " + string(raw)
		}
		if v == nil {
			v = map[string]any{}
		}
		return string(hookentry.AsJSON(v))
	}
	return meaning(x) == meaning(y)
}

// besides is a person's edit elsewhere in the file: the same one is made to the
// file as it was, and must be all that is left.
func (d *trial) besides(t *hookentry.Target) (changed []byte, expected string, ok bool) {
	do := func(src []byte) ([]byte, error) { return append(slices.Clone(src), ""...), nil }
	switch d.rng.IntN(3) {
	case 0: // a line of their own at the top
		comment := map[bool]string{true: "// theirs\n", false: "# theirs\n"}[d.format == edit.JSON]
		if bytes.HasPrefix([]byte(d.before), []byte("\ufeff")) || strings.TrimSpace(d.before) == "" ||
			strings.HasPrefix(d.before, "---") || strings.HasPrefix(d.before, "%") {
			return nil, "", false
		}
		do = func(src []byte) ([]byte, error) { return append([]byte(comment), src...), nil }
	case 1: // a setting
		key := []string{"their" + strconv.Itoa(d.rng.IntN(100))}
		do = func(src []byte) ([]byte, error) { return t.Format.Set(src, key, map[string]any{"v": 1}) }
		if r, err := t.ParseText([]byte(d.before)); err != nil || len(hookentry.KeysOf(r, nil)) == 0 || len(t.At) == 0 {
			return nil, "", false // how the first setting looks depends on what is there
		}
	case 2: // one setting less
		r, err := t.ParseText([]byte(d.before))
		if err != nil {
			return nil, "", false
		}
		keys := slices.DeleteFunc(hookentry.KeysOf(r, nil),
			func(k string) bool { return len(t.At) == 0 || k == t.At[0] })
		if len(keys) < 2 {
			return nil, "", false
		}
		key := keys[d.rng.IntN(len(keys))]
		do = func(src []byte) ([]byte, error) { return t.Format.Remove(src, []string{key}) }
	}
	changed, err := do(slices.Clone(d.mem.text[d.path]))
	if err != nil {
		return nil, "", false
	}
	plain, err := do([]byte(d.before))
	return changed, string(plain), err == nil
}

// among is a person's edit in our own list: a hook of theirs before ours or
// behind it. How the list looks is then nobody's alone, so meanings count.
func (d *trial) among(t *hookentry.Target) (changed []byte, expected string, ok bool) {
	src := d.mem.text[d.path]
	r, err := t.ParseText(src)
	if err != nil {
		return nil, "", false
	}
	var ours *hookentry.Handler
	for _, s := range t.Handlers(r) {
		if hookentry.IsFor(s, d.robot) && s.Event == "Before" {
			ours = s
		}
	}
	if ours == nil {
		return nil, "", false
	}
	list, theirs := hookentrytest.ListFor(t, "Before"), hookentrytest.TheirHandler(t, "Before", "theirs")
	plain, err := t.Format.Append([]byte(d.before), list, theirs)
	if err != nil {
		return nil, "", false
	}
	if d.rng.IntN(2) == 0 || d.inTheirElement(t) {
		changed, err = t.Format.Append(src, list, theirs)
		return changed, string(plain), err == nil
	}
	// Before ours: in the place ours has, which is then written behind it.
	group := ours.Group
	if t.Spec.Shape == agent.ShapeNamed || t.Spec.Shape == agent.ShapeEvents {
		group = ours.Path[:len(t.At)+1]
	}
	raw := r.Raw(group...)
	if changed, err = t.Format.Set(src, group, theirs); err == nil {
		changed, err = t.Format.Append(changed, list, raw)
	}
	return changed, string(plain), err == nil
}

// inTheirElement reports whether the user had an element for the event, so that ours is among their
// commands and has no place of its own in the list.
func (d *trial) inTheirElement(t *hookentry.Target) bool {
	r, err := t.ParseText([]byte(d.before))
	if t.Spec.Shape != agent.ShapeEvents || err != nil {
		return false
	}
	for i := range max(0, r.Len(t.At...)) {
		var name string
		if r.Decode(&name, hookentry.Join(t.At, strconv.Itoa(i), "name")...) == nil && name == "Before" {
			return true
		}
	}
	return false
}

// document returns a text that somebody could have.
func (d *trial) document() string {
	var text string
	if d.rng.IntN(3) == 0 {
		text = d.mutated(d.samples[d.rng.IntN(len(d.samples))])
	} else {
		text = d.made()
	}
	if d.rng.IntN(4) == 0 {
		text = strings.TrimRight(text, "\n")
	}
	if d.rng.IntN(5) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if d.rng.IntN(10) == 0 {
		text = "\ufeff" + text
	}
	return text
}

// mutated returns a real text with a few lines changed.
func (d *trial) mutated(text string) string {
	comment := map[bool]string{true: "// c", false: "# c"}[d.format == edit.JSON]
	lines := strings.SplitAfter(text, "\n")
	for range d.rng.IntN(4) {
		i := d.rng.IntN(len(lines))
		switch d.rng.IntN(4) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, i, comment+"\n")
		case 2:
			lines = slices.Insert(lines, i, "\n")
		case 3:
			lines[i] = strings.TrimSuffix(lines[i], "\n") + " " + comment + "\n"
		}
		if len(lines) == 0 {
			return ""
		}
	}
	return strings.Join(lines, "")
}

// made returns a document written from scratch: settings, hooks, comments.
func (d *trial) made() string {
	w := &writer{rng: d.rng, hooks: d.hooks()}
	at := strings.Split(d.robot.Install.Places[0].At, ".")
	if at[0] == "" {
		at = nil
	}
	root := w.table(2, true)
	if w.hooks != nil && d.rng.IntN(3) > 0 {
		w.put(root, at, w.hooks)
	}
	switch d.format {
	case edit.JSON:
		w.json(root, "", w.pick("  ", "\t", "    ", ""))
		return w.out.String() + "\n"
	case edit.TOML:
		w.toml(root, nil)
	default:
		w.yaml(root, "", w.pick("  ", "    "))
	}
	return w.out.String()
}

// hooks are somebody's own, in the shape of the agent; nil for none.
func (d *trial) hooks() any {
	h := func(i int) any { return pairs{{"type", "command"}, {"command", "theirs-" + strconv.Itoa(i)}} }
	events := []string{"Before", "After", "Other"}
	var list []any
	switch d.robot.Install.Shape {
	case agent.ShapeList:
		for i := range d.rng.IntN(3) {
			list = append(list, pairs{{"event", events[d.rng.IntN(3)]}, {"command", "theirs-" + strconv.Itoa(i)}})
		}
		return list
	case agent.ShapeNamed:
		for i := range d.rng.IntN(3) {
			list = append(list, pairs{{"name", "n" + strconv.Itoa(i)},
				{"hooks", pairs{{events[d.rng.IntN(3)], []any{h(i)}}}}})
		}
		return list
	case agent.ShapeEvents:
		for i := range d.rng.IntN(3) {
			list = append(list, pairs{{"name", events[i]}, {"commands", []any{h(i), h(i + 3)}[:d.rng.IntN(3)]}})
		}
		return list
	}
	var table pairs
	for _, e := range events {
		if d.rng.IntN(2) == 0 {
			continue
		}
		var groups []any
		for i := range d.rng.IntN(3) {
			if d.robot.Install.Shape == agent.ShapeNested {
				groups = append(groups, pairs{{"matcher", "X"}, {"hooks", []any{h(i)}}})
			} else {
				groups = append(groups, h(i))
			}
		}
		table = append(table, pair{e, groups})
	}
	return table
}
