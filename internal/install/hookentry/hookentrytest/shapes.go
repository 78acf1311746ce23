// Package hookentrytest holds what tests of hook entries share: every shape in which hooks can be arranged.
package hookentrytest

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Shapes returns all the ways in which hooks can be arranged, in all formats,
// whether or not an agent of today has them.
func Shapes() []*hookentry.Target {
	handler := agent.HandlerSpec{Form: "line", Command: "command", Timeout: "timeout", Unit: "s",
		With: map[string]any{"type": "command"}}
	listed := handler
	listed.Event, listed.With = "event", nil
	inside := handler
	inside.Event, inside.Name, inside.Inside = "event", "name", "action"
	exec := handler
	exec.Form, exec.Args = "exec", "args"
	var out []*hookentry.Target
	for _, format := range []edit.Format{edit.JSON, edit.TOML, edit.YAML} {
		for _, at := range [][]string{{"hooks"}, {"a", "hooks"}, nil} {
			out = append(out,
				&hookentry.Target{Format: format, At: at,
					Spec: &agent.InstallSpec{Shape: agent.ShapeNested, Handler: exec,
						Matcher: agent.MatcherSpec{Key: "matcher", All: "*", Needed: len(at) == 1}}},
				&hookentry.Target{Format: format, At: at,
					Spec: &agent.InstallSpec{Shape: agent.ShapeFlat, Handler: handler}},
			)
			if at != nil {
				out = append(out,
					&hookentry.Target{Format: format, At: at,
						Spec: &agent.InstallSpec{Shape: agent.ShapeList, Handler: listed}},
					&hookentry.Target{Format: format, At: at,
						Spec: &agent.InstallSpec{Shape: agent.ShapeList, Handler: inside}},
					&hookentry.Target{Format: format, At: at,
						Spec: &agent.InstallSpec{Shape: agent.ShapeNamed, Handler: handler}},
					&hookentry.Target{Format: format, At: at,
						Spec: &agent.InstallSpec{Shape: agent.ShapeEvents, Handler: handler}},
				)
			}
		}
	}
	return out
}

// ShapeName names a shape for a subtest.
func ShapeName(t *hookentry.Target) string {
	format := map[edit.Format]string{edit.JSON: "json", edit.TOML: "toml", edit.YAML: "yaml"}[t.Format]
	return format + " " + string(t.Spec.Shape) + t.Spec.Handler.Inside + " at " + strings.Join(t.At, ".")
}

// TheirHandler returns a handler that isn't ours, in the shape.
func TheirHandler(t *hookentry.Target, event, command string) any {
	h := map[string]any{"type": "command", "command": command}
	switch t.Spec.Shape {
	case agent.ShapeNested:
		return map[string]any{"matcher": "X", "hooks": []any{h}}
	case agent.ShapeList:
		if in := t.Spec.Handler.Inside; in != "" {
			return map[string]any{"name": command, "event": event, in: h}
		}
		h["event"] = event
	case agent.ShapeNamed:
		return map[string]any{"name": command, "hooks": map[string]any{event: []any{h}}}
	case agent.ShapeEvents:
		return map[string]any{"name": event, "commands": []any{h}}
	}
	return h
}

// ListFor returns the path of the list that holds an event's hooks.
func ListFor(t *hookentry.Target, event string) []string {
	if t.Spec.Shape == agent.ShapeNested || t.Spec.Shape == agent.ShapeFlat {
		return hookentry.Join(t.At, event)
	}
	return t.At
}
