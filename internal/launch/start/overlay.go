package start

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch"
)

// planOverlay returns the config folder for an agent that ignores hooks on its command line; nil for
// those that don't, and if that can't be found out.
func (s *Starter) planOverlay(a *agent.Agent, program string) *launch.Overlay {
	spec := a.Launch.Overlay
	if spec == nil || s.DirsError != nil {
		return nil
	}
	state := filepath.Join(s.Dirs.State, "overlay")
	user := agent.HookFile{Path: spec.Dir + "/" + spec.File, Env: spec.Env}.Resolve(s.Dirs.Home, "", s.Getenv)
	over := &launch.Overlay{User: filepath.Dir(user), Dir: filepath.Join(state, a.Name), File: spec.File}
	if over.User == over.Dir || !s.passesOver(a, program, filepath.Join(state, a.Name+".json")) {
		return nil // a session inside of one has it already
	}
	over.Merge = func(own []byte) ([]byte, error) {
		h, err := s.Host()
		if err != nil {
			return nil, err
		}
		return h.WithHooks(a, own)
	}
	return over
}

// probed holds what was found out about a program; another file, or another date,
// is another program.
type probed struct {
	Program    string    `json:"program"`
	Size       int64     `json:"size"`
	Time       time.Time `json:"time"`
	PassesOver bool      `json:"passesOver"`
}

// passesOver asks an agent, once for each version, whether it sees a hook that
// is given on its command line.
func (s *Starter) passesOver(a *agent.Agent, program, file string) bool {
	info, err := os.Stat(program)
	if err != nil {
		return false
	}
	is := probed{Program: program, Size: info.Size(), Time: info.ModTime().UTC()}
	if data, err := os.ReadFile(file); err == nil {
		var was probed
		if json.Unmarshal(data, &was) == nil && was.Program == is.Program && was.Size == is.Size &&
			was.Time.Equal(is.Time) {
			return was.PassesOver
		}
	}
	server := install.AppServer{Program: program, Args: []string{"-c", a.Launch.Overlay.Probe, "app-server"},
		Env: s.Environ, Dir: s.Cwd, Timeout: 5 * time.Second}
	hooks, err := server.Hooks(s.Cwd)
	if err != nil {
		return false // it cannot be asked: what it takes today is believed
	}
	is.PassesOver = !slices.ContainsFunc(hooks, func(h install.ListedHook) bool {
		return strings.Contains(h.Command, "hookmux-probe")
	})
	if data, err := json.Marshal(is); err == nil {
		_ = userfile.Store(file, append(data, '\n')) // else it is asked again
	}
	return is.PassesOver
}
