package config

import (
	"errors"
	"fmt"
	"maps"

	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
)

// fleetLayer is the settings of guards in the policy of this machine's fleet. They tighten
// whatever the other layers say.
type fleetLayer struct {
	source  fleetpolicy.Source
	layer   layer
	version int64
}

func (f *fleetLayer) reload() bool {
	p, changed, err := f.source.Read()
	if !changed {
		return false
	}
	f.version, f.layer.path = p.Version, p.Where()+fleetpolicy.SettingsFile
	f.layer.values, f.layer.problems = nil, nil
	values, problems, wrong := f.layer.read(p.Settings())
	for _, p := range problems {
		f.layer.problems = append(f.layer.problems, p.Problem)
	}
	if err := errors.Join(err, wrong); err != nil {
		f.layer.problems = append(f.layer.problems, Problem{File: f.layer.path, Text: err.Error()})
	}
	f.layer.values = values
	return true
}

// layOver gives settings as the fleet tightens them.
func (f *fleetLayer) layOver(s *Settings) *Settings {
	s.policy = f.version
	if len(f.layer.values)+len(f.layer.problems) == 0 {
		return s
	}
	out := &Settings{values: maps.Clone(s.values), problems: append(s.Problems(), f.layer.problems...), policy: f.version}
	for _, name := range f.layer.names() {
		wish := f.layer.values[name]
		have, key, _ := s.lookupKey(name)
		value, err := key.tighten(have.value, wish.value, true)
		switch {
		case errors.Is(err, errLooser): // this machine's own is tighter
		case err != nil:
			out.problems = append(out.problems, Problem{File: f.layer.path, Line: wish.origin.Line, Text: err.Error()})
		case Format(value) != Format(have.value):
			out.values[name] = set{value, wish.origin}
		}
	}
	return out
}

// CheckPolicy refuses settings that a fleet's policy can't have: anything but modes that
// refuse more the higher they are.
func CheckPolicy(text []byte) error {
	reader := layer{kind: Fleet, path: fleetpolicy.SettingsFile}
	values, problems, err := reader.read(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", fleetpolicy.SettingsFile, err)
	case len(problems) > 0:
		return problems[0].Problem
	}
	reader.values = values
	for _, name := range reader.names() {
		if key, _ := Find(name); key.Project != Rise {
			return fmt.Errorf("%s: %s can't be set by a fleet, which sets modes of guards", fleetpolicy.SettingsFile, name)
		}
	}
	return nil
}
