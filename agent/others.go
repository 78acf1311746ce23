package agent

import "slices"

// Known is an agent that hookmux recognises without having an adapter for it.
type Known struct {
	Name  string `yaml:"name"`
	Marks `yaml:",inline"`
	// HooksOff is how it is started without its hooks; nil if that isn't known.
	HooksOff *HooksOff  `yaml:"hooks_off"`
	Files    []HookFile `yaml:"files"`
	Guarded  Guarded    `yaml:"guarded"`
}

// Others lists the agents outside of the catalogue that are recognised.
func Others() []Known { return readCompiled().Others }

// hooksOff returns how the agent is started without its hooks, with the variables that
// move its files.
func (a *Agent) hooksOff() *HooksOff {
	if a.HooksOff == nil {
		return nil
	}
	off := *a.HooksOff
	for _, f := range a.Files {
		if f.Env != "" && !slices.Contains(off.Moves, f.Env) {
			off.Moves = append(off.Moves[:len(off.Moves):len(off.Moves)], f.Env)
		}
	}
	return &off
}

// HooksOffBy returns the options with which the agent is started without its hooks.
func (a *Agent) HooksOffBy() []string {
	if a.HooksOff == nil {
		return nil
	}
	return a.HooksOff.Options
}

// AllMarks gives the marks of every agent that is recognised: those of the
// catalogue first, as only they can call hooks.
func (c *Catalogue) AllMarks() []Known {
	var all []Known
	seen := map[string]bool{}
	for _, a := range c.agents {
		seen[a.Name] = true
		all = append(all, Known{Name: a.Name, Marks: a.Marks, HooksOff: a.hooksOff(), Files: a.Files,
			Guarded: a.Guarded})
	}
	for _, known := range Others() {
		if !seen[known.Name] {
			all = append(all, known)
		}
	}
	return all
}
