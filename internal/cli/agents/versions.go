package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/files"
)

// versionsFile remembers what agents' programs reported as their version, as long as the
// programs are the same: some take seconds to report it.
const versionsFile = "versions.json"

// askedProgram is a program that was asked.
type askedProgram struct {
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
	Version string    `json:"version"`
}

// installedVersions returns the versions of agents' programs on PATH, by the agents' names.
// Unchanged programs aren't asked again.
func installedVersions(app *cmdutil.App, agents []*agent.Agent) map[string]string {
	file := ""
	known := map[string]askedProgram{}
	if dirs, err := app.Dirs(); err == nil {
		file = filepath.Join(dirs.State, versionsFile)
		if b, err := files.Read(file, 1<<20); err == nil {
			_ = json.Unmarshal(b, &known) // what is damaged is asked again
		}
	}
	now := map[string]askedProgram{}
	versions := map[string]string{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	asked := false
	for _, a := range agents {
		program, stamp, ok := stampProgram(app, a)
		if !ok {
			continue
		}
		if had, there := known[program]; there && had.Size == stamp.Size && had.Changed.Equal(stamp.Changed) {
			now[program], versions[a.Name] = had, had.Version
			continue
		}
		asked = true
		wait.Go(func() {
			stamp.Version = agentVersion(app, a)
			mu.Lock()
			defer mu.Unlock()
			versions[a.Name] = stamp.Version
			if stamp.Version != "" {
				now[program] = stamp
			}
		})
	}
	wait.Wait()
	if asked && file != "" {
		keepVersions(file, known, now)
	}
	return versions
}

// keepVersions writes down what is known, if there is a state folder.
func keepVersions(file string, known, now map[string]askedProgram) {
	for program, had := range known {
		if _, there := now[program]; !there {
			if _, err := os.Stat(program); err == nil {
				now[program] = had
			}
		}
	}
	b, err := json.Marshal(now)
	if _, there := os.Stat(filepath.Dir(file)); err == nil && there == nil {
		_ = files.Write(file, b) // they are asked again
	}
}

// stampProgram returns the file that an agent's program on PATH really is, and how it
// looks.
func stampProgram(app *cmdutil.App, a *agent.Agent) (program string, stamp askedProgram, ok bool) {
	program = agentProgram(app, a)
	if program == "" {
		return "", stamp, false
	}
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		program = resolved
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", stamp, false
	}
	return program, askedProgram{Size: info.Size(), Changed: info.ModTime()}, true
}
