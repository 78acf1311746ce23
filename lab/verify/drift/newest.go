package drift

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/lab/verify/drivers"
)

// Asker asks newest releases. Newest and Install are those of npm when they are
// nil; Verify runs the checks.
type Asker struct {
	// Dir is where releases are installed; each is removed when it was asked.
	Dir string
	// Again asks a release as well that is the recorded one.
	Again bool
	// Newest returns the newest release of a package.
	Newest func(ctx context.Context, pkg string) (string, error)
	// Install installs a release below a folder.
	Install func(ctx context.Context, a realagents.Agent, dir string, progress func(string)) (realagents.Installed, error)
	// Verify asks the program everything, and writes its events into a folder.
	Verify func(ctx context.Context, program, record string) (Asked, error)
	// Recording is compared with the release; nil: the one that comes with hookmux.
	Recording func(name string) (Observed, error)
	Progress  func(string)
}

// Asked holds the answers of the checks.
type Asked struct {
	Rows    []recordings.Row
	Problem string // why nothing could be asked
	Note    string // why its events were not recorded
}

// Ask returns how the newest release of an agent differs.
func (k *Asker) Ask(ctx context.Context, a realagents.Agent) Difference {
	d := Difference{Agent: a.Name, Title: a.Title, Recorded: a.Version}
	progress := k.Progress
	if progress == nil {
		progress = func(string) {}
	}
	recorded := k.Recording
	if recorded == nil {
		recorded = builtinRecording
	}
	before, err := recorded(a.Name)
	if err != nil {
		d.State, d.Why = NotAsked, err.Error()
		return d
	}
	newest := k.Newest
	if newest == nil {
		newest = askRegistry
	}
	progress(a.Name + ": asking the registry for its newest release")
	if d.Newest, err = newest(ctx, a.Package()); err != nil {
		d.State, d.Why = NotInstallable, err.Error()
		return d
	}
	if d.Newest == d.Recorded && !k.Again {
		d.State = Recorded
		return d
	}
	at := filepath.Join(k.Dir, a.Name)
	defer os.RemoveAll(at)
	install := k.Install
	if install == nil {
		install = realagents.InstallAgent
	}
	a.Version = d.Newest
	in, err := install(ctx, a, at, progress)
	if err != nil {
		d.State, d.Why = NotInstallable, err.Error()
		return d
	}
	program, err := putUnderName(in, filepath.Join(at, "bin"))
	if err != nil {
		d.State, d.Why = NotAsked, err.Error()
		return d
	}
	progress(fmt.Sprintf("%s: asking %s", a.Name, d.Newest))
	record := filepath.Join(at, "record")
	asked, err := k.Verify(ctx, program, record)
	switch {
	case err != nil:
		d.State, d.Why = NotAsked, err.Error()
		return d
	case asked.Problem != "":
		d.State, d.Why = NotAsked, asked.Problem
		return d
	case asked.Note != "":
		d.Notes = append(d.Notes, "events were not compared: "+asked.Note)
	}
	now := Observed{Rows: asked.Rows}
	if b, err := os.ReadFile(filepath.Join(record, a.Name+".jsonl")); err == nil {
		if now.Events, err = recordings.Read(b); err != nil {
			d.Notes = append(d.Notes, "events were not compared: "+err.Error())
		}
	}
	driver, _ := drivers.Find(a.Name)
	d.Changes = Compare(before, now, func(event string) bool { return driver.Racy[event] != "" })
	d.NamedEvents = NamedIn(programFiles(in.Argv[len(in.Argv)-1]), knownEvents(a.Name))
	d.State = Same
	if d.Any() {
		d.State = Changed
	}
	return d
}

// builtinRecording returns what comes with hookmux.
func builtinRecording(name string) (Observed, error) {
	summary, err := recordings.SummaryOf(name)
	if err != nil {
		return Observed{}, err
	}
	if summary.Version == "" {
		return Observed{}, fmt.Errorf("nothing is recorded of %s that it could be compared with", name)
	}
	events, err := recordings.Events(name)
	return Observed{Rows: summary.Rows, Events: events}, err
}

// knownEvents returns the names of the catalogue: of events, of those inside the
// agent, and of those that are known and left alone.
func knownEvents(name string) []string {
	a, ok := agent.Builtin().Agent(name)
	if !ok {
		return nil
	}
	var known []string
	for _, e := range a.Events {
		known = append(known, e.Name)
	}
	known = append(known, a.Inner...)
	for event := range a.Unheard {
		known = append(known, event)
	}
	return known
}

// putUnderName makes the program available under the agent's name.
func putUnderName(in realagents.Installed, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	at := filepath.Join(dir, in.Name)
	if len(in.Argv) == 1 {
		return at, os.Symlink(in.Argv[0], at)
	}
	var words []string
	for _, word := range in.Argv {
		words = append(words, shellquote.Single(word))
	}
	script := "#!/bin/sh\nPATH=" + shellquote.Single(filepath.Dir(in.Argv[0])) + ":$PATH exec " + strings.Join(words, " ") +
		" \"$@\"\n"
	return at, os.WriteFile(at, []byte(script), 0o755)
}

// askRegistry asks npm.
func askRegistry(ctx context.Context, pkg string) (string, error) {
	if pkg == "" {
		return "", fmt.Errorf("no package carries its version")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm not found on PATH; install Node.js with npm, the registry is asked by it")
	}
	out, err := exec.CommandContext(ctx, npm, "view", pkg, "dist-tags.latest", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("npm view %s: %w; check the registry with `npm ping`", pkg, err)
	}
	var version string
	if err := json.Unmarshal(out, &version); err != nil || version == "" {
		return "", fmt.Errorf("npm view %s: no version in %q", pkg, out)
	}
	return version, nil
}

// NewestRelease asks npm which release of an agent is the newest.
func NewestRelease(ctx context.Context, a realagents.Agent) (string, error) {
	return askRegistry(ctx, a.Package())
}
