package agents

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/version"
)

// HookState is how an agent of this machine stands: whether hookmux's hooks are
// in its config, and what keeps them from running.
type HookState struct {
	Agent   string `json:"agent"`
	Program string `json:"program,omitempty"`
	Hooked  bool   `json:"hooked"`
	Events  int    `json:"events"` // whose hooks run
	Wrong   string `json:"wrong,omitempty"`
}

// HowMany says how many hooks run of an agent with whose hooks something is wrong.
func (s *HookState) HowMany() string {
	if s.Events == 0 {
		return "none"
	}
	return "not all"
}

// HookStates looks at the agents of this machine. Only files are read.
func HookStates(app *cmdutil.App) ([]HookState, error) {
	dirs, err := app.Dirs()
	if err != nil {
		return nil, err
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	h := install.Host{Dirs: dirs, Project: projectFolder(app.Cwd()), Getenv: app.Getenv, Version: version.String}
	list := []HookState{}
	for _, found := range h.Find(catalogue.Agents()) {
		d := h.Delivery(found.Agent)
		list = append(list, HookState{
			Agent: found.Agent.Name, Program: found.Program, Hooked: d.Ours, Events: len(d.Events), Wrong: d.Why,
		})
	}
	return list, nil
}

// DescribeHookStates says in a few words which agents are hooked.
func DescribeHookStates(list []HookState) string {
	var hooked, silent, wrong, bare []string
	for _, s := range list {
		switch {
		case s.Wrong != "" && s.Events == 0:
			silent = append(silent, s.Agent)
		case s.Wrong != "":
			wrong = append(wrong, s.Agent)
		case s.Hooked:
			hooked = append(hooked, s.Agent)
		default:
			bare = append(bare, s.Agent)
		}
	}
	var parts []string
	add := func(names []string, what string) {
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.Join(names, ", "), what))
		}
	}
	add(hooked, "hooked")
	add(wrong, "hooked, but not all hooks run")
	add(silent, "hooked, but no hooks run")
	add(bare, "not hooked")
	if len(parts) == 0 {
		return "no agent was found"
	}
	return strings.Join(parts, " · ")
}
