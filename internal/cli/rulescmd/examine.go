package rulescmd

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// examineEvent prints which guards and rules match an event.
func examineEvent(ctx context.Context, app *cmdutil.App, ev *event.Event, asJSON bool) error {
	j, err := openEvaluator(app)
	if err != nil {
		return err
	}
	j.Spent, j.Lifts = askSpent(ctx, app, ev)
	e := j.Examine(ctx, ev)
	if asJSON {
		return app.PrintJSON(e)
	}
	SayExamination(app, e)
	return nil
}

// SayExamination prints which guards and rules match a call.
func SayExamination(app *cmdutil.App, e *examine.Examination) {
	for _, line := range e.Lines() {
		app.Say("%s", text.Wrap(termsafe.Line(app.Shorten(line), 500), app.Columns(), len("guard ")))
	}
}

// commandEvent returns the call of an agent's shell tool.
func commandEvent(command, cwd, agentName string) *event.Event {
	input, _ := json.Marshal(map[string]string{"command": command})
	return &event.Event{
		ID: frame.NewID(), Time: time.Now(), Kind: event.ToolBefore, Agent: agentName, Native: "PreToolUse", Cwd: cwd,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: input,
			Writes: dialect.PatchedBy(command)},
	}
}

// readEvent reads an event of the journal, or the payload of a hook.
func readEvent(app *cmdutil.App, file, agentName, native string) (*event.Event, error) {
	data, err := userfile.ReadFile(file, 16<<20)
	if err != nil {
		return nil, cmdutil.FileError(file, err)
	}
	var entry struct {
		Kind  event.Kind      `json:"kind"`
		Event json.RawMessage `json:"event"`
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return nil, cmdutil.JSONError(file, data, err)
	}
	if len(entry.Event) > 0 && entry.Event[0] == '{' {
		data = entry.Event
		if err := json.Unmarshal(data, &entry); err != nil {
			return nil, cmdutil.JSONError(file, data, err)
		}
	}
	if entry.Kind != "" {
		var ev event.Event
		if err := json.Unmarshal(data, &ev); err != nil {
			return nil, cmdutil.JSONError(file, data, err)
		}
		return &ev, nil
	}
	catalogue, err := app.Catalogue()
	if err != nil {
		return nil, err
	}
	if _, ok := catalogue.Agent(agentName); !ok {
		return nil, cmdutil.UnknownAgent(catalogue, agentName)
	}
	ev := catalogue.Decode(agent.Input{ID: frame.NewID(), Time: time.Now(), Agent: agentName, Event: native,
		Payload: data, Cwd: app.Cwd(), Env: os.Getenv})
	if ev.Malformed != "" {
		return nil, cmdutil.UsageError("%s: %s", file, ev.Malformed)
	}
	if ev.Tool == nil && ev.Session == "" {
		return nil, cmdutil.UsageError("%s isn't an event from `hookmux log --json`, nor a payload of %s's %s", file,
			agentName, native)
	}
	return &ev, nil
}

// isEventID distinguishes IDs of events from commands.
func isEventID(s string) bool {
	if len(s) < 10 || len(s) > 26 || s[0] != '0' {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// storedCall is an event of the journal with its outcome.
type storedCall struct {
	event   event.Event
	outcome *wire.Outcome
	raw     json.RawMessage
}

// findCall finds an event by its id, or the beginning of it.
func findCall(ctx context.Context, app *cmdutil.App, id string) (*storedCall, error) {
	q := wire.QueryParams{Newest: true, Limit: 2}
	q.ID = id
	return queryCall(ctx, app, q,
		cmdutil.UsageError("there's no event %s; `hookmux log --ids` lists them", id))
}

// queryCall finds the last event of a query.
func queryCall(ctx context.Context, app *cmdutil.App, q wire.QueryParams, none error) (*storedCall, error) {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return nil, err
	}
	var found []*storedCall
	err = c.Query(ctx, q, func(e client.Entry) bool {
		one := &storedCall{outcome: e.Outcome, raw: e.Event}
		if json.Unmarshal(e.Event, &one.event) == nil {
			found = append(found, one)
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, none
	case len(found) > 1 && q.ID != "":
		return nil, cmdutil.UsageError("several events start with %s; give more of the ID", q.ID)
	}
	return found[len(found)-1], nil
}
