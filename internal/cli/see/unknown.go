package see

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/wire"
)

// checkAgent rejects the name of an agent that hookmux doesn't know.
func checkAgent(app *cmdutil.App, name string) error {
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	if _, ok := catalogue.Agent(name); ok || name == wire.OwnAgent {
		return nil
	}
	known := []string{wire.OwnAgent}
	for _, a := range catalogue.Agents() {
		known = append(known, a.Name)
	}
	return cmdutil.UnknownName("agent", name, known, "hookmux agents --all")
}

// ownNames returns hookmux's names for agents: claude for claude-code, its alias.
func ownNames(app *cmdutil.App, names []string) ([]string, error) {
	if len(names) == 0 { // reading the catalogue takes longer than all the rest of `ps`
		return nil, nil
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	var own []string
	for _, name := range names {
		if a, ok := catalogue.Agent(name); ok {
			name = a.Name
		}
		own = append(own, name)
	}
	return own, nil
}

// checkSessionAgents rejects agents that hookmux doesn't know and that have no session:
// any program may report one under a name of its own.
func checkSessionAgents(ctx context.Context, app *cmdutil.App, names []string) error {
	for _, name := range names {
		unknown := checkAgent(app, name)
		if unknown == nil {
			continue
		}
		c, err := askDaemon(ctx, app)
		if err != nil {
			return err
		}
		if c == nil {
			return unknown
		}
		list, err := c.Sessions(ctx, wire.SessionsParams{All: true, Agents: []string{name}})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return unknown
		}
	}
	return nil
}

// checkKind rejects what is neither a kind of event nor an agent's own name for one.
func checkKind(app *cmdutil.App, kind string) error {
	catalogue, err := app.Catalogue()
	if err != nil {
		return err
	}
	if _, ok := catalogue.Protocol(kind); ok {
		return nil
	}
	var kinds []string
	for _, k := range event.Kinds() {
		kinds = append(kinds, string(k))
	}
	known := append(slices.Clone(kinds), wire.ProbeEvent, wire.OwnRefused, wire.OwnDecision, wire.OwnHook)
	for _, a := range catalogue.Agents() {
		for _, e := range a.Events {
			known = append(known, e.Name)
		}
	}
	if slices.Contains(known, kind) {
		return nil
	}
	err = cmdutil.UnknownName("kind of event", kind, known, "")
	if !strings.Contains(err.Error(), "did you mean") {
		return cmdutil.UsageError("%v; kinds are %s, or an agent's own names", err, strings.Join(kinds, ", "))
	}
	return err
}

// checkNames rejects agents and kinds that hookmux doesn't know and never recorded: any
// program may report events under a name of its own.
func (f *logFlags) checkNames(ctx context.Context, app *cmdutil.App) error {
	recorded := func(filter wire.Filter) (found bool, err error) {
		each := func(client.Entry) bool { found = true; return false }
		q := wire.QueryParams{Filter: filter, Limit: 1, Newest: true}
		c, err := askDaemon(ctx, app)
		switch {
		case err != nil:
		case c == nil:
			_, err = queryStored(ctx, app, q, each)
		default:
			err = c.Query(ctx, q, each)
		}
		return found, err
	}
	for _, name := range f.agents {
		if unknown := checkAgent(app, name); unknown != nil {
			if found, err := recorded(wire.Filter{Agents: []string{name}}); err != nil || !found {
				return unknown
			}
		}
	}
	for _, kind := range f.kinds {
		if unknown := checkKind(app, kind); unknown != nil {
			if found, err := recorded(wire.Filter{Kinds: []string{kind}}); err != nil || !found {
				return unknown
			}
		}
	}
	return f.checkSessionAndTool(ctx, app, recorded)
}

// isSessionID reports whether a session's ID begins with word.
func isSessionID(ctx context.Context, app *cmdutil.App, word string) bool {
	c, err := askDaemon(ctx, app)
	if err != nil || len(word) < 4 {
		return false
	}
	var d *client.SessionDetail
	if c != nil {
		d, err = c.Session(ctx, word)
	} else {
		d, err = storedSession(app, word)
	}
	return err == nil && strings.HasPrefix(d.ID, word)
}

// checkSessionAndTool rejects a session that doesn't exist and a tool that no recorded call
// used. While you follow, either may still come.
func (f *logFlags) checkSessionAndTool(ctx context.Context, app *cmdutil.App, recorded func(wire.Filter) (bool, error)) error {
	if f.session != "" {
		id := f.session
		c, err := askDaemon(ctx, app)
		if err != nil {
			return err
		}
		listed := false
		if c != nil {
			var d *client.SessionDetail
			if d, err = c.Session(ctx, id); err == nil {
				id, listed = d.ID, true
			}
		} else if d, err := storedSession(app, id); err == nil {
			id = d.ID
		}
		found, err := recorded(wire.Filter{Session: id})
		if err != nil {
			return err
		}
		if !found && !f.follow || !found && c != nil && !listed {
			return cmdutil.UnknownName("session", f.session, nil, "hookmux ps --all")
		}
	}
	if f.tool != "" && !f.follow {
		if found, err := recorded(wire.Filter{Tool: f.tool}); err != nil || found {
			return err
		}
		known := map[string]bool{}
		catalogue, err := app.Catalogue()
		if err != nil {
			return err
		}
		for _, a := range catalogue.Agents() {
			for _, tool := range a.Tools {
				known[tool.Name] = true
			}
		}
		names := slices.Sorted(maps.Keys(known))
		for _, name := range names { // agents spell them differently: Bash, bash
			if strings.EqualFold(name, f.tool) && name != f.tool {
				if found, err := recorded(wire.Filter{Tool: name}); err != nil {
					return err
				} else if found {
					return cmdutil.UsageError("no call used a tool %q; did you mean %q?", f.tool, name)
				}
			}
		}
		if slices.Contains(names, f.tool) {
			return nil
		}
		if near := similar.Nearest(f.tool, names); near != "" {
			return cmdutil.UnknownName("tool", f.tool, []string{near}, "")
		}
		return cmdutil.UsageError("no recorded call used the tool %q; `hookmux log` shows the tools that agents used", f.tool)
	}
	return nil
}
