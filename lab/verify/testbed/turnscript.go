package testbed

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// TurnScript is a turn as data: what the model does, and what must be true
// afterwards.
type TurnScript struct {
	Steps []model.ScriptStep
	// Named are the scripts of helpers.
	Named map[string][]model.ScriptStep
	Want  Want
}

// Want must be true when a turn script was run.
type Want struct {
	Files, NoFiles []string // in the project
	Told, NotTold  []string // texts that the model read, or did not
	// Events came in this order, with any others between them.
	Events []event.Kind
	// Tools were called: the event before a tool reported this kind.
	Tools []event.ToolKind
	Exit  *int
}

// ExitsWith is for Want.Exit.
func ExitsWith(code int) *int { return &code }

// modelVocabulary returns how the test bed's agent says things.
func (st *TestBed) modelVocabulary() model.Vocabulary {
	v := st.Driver.Words
	v.Run, v.Subagent = st.Table.Shell.Call, st.Driver.Subagent
	return v
}

// SetTurnScript sets what the model does.
func (st *TestBed) SetTurnScript(s TurnScript) error {
	sc := model.Scenario{Vars: st.Driver.ScriptVars(), Named: map[string][]model.Step{}}
	var err error
	if sc.Steps, err = st.modelVocabulary().Steps(s.Steps); err != nil {
		return err
	}
	for name, script := range s.Named {
		if sc.Named[name], err = st.modelVocabulary().Steps(script); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	st.Model.SetScenario(st.Run, sc)
	return nil
}

// Unmet lists what is not as it must be; empty when all is well.
func (w Want) Unmet(e *Evidence) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, f := range w.Files {
		if _, ok := e.Files[f]; !ok {
			say("%s is not there", f)
		}
	}
	for _, f := range w.NoFiles {
		if _, ok := e.Files[f]; ok {
			say("%s is there", f)
		}
	}
	for _, text := range w.Told {
		if !e.Saw(text) {
			say("the model was not told %q", text)
		}
	}
	for _, text := range w.NotTold {
		if e.Saw(text) {
			say("the model was told %q", text)
		}
	}
	next, came := 0, []string{}
	for _, x := range e.Seen {
		came = append(came, string(x.Event.Kind))
		if next < len(w.Events) && x.Event.Kind == w.Events[next] {
			next++
		}
	}
	if next < len(w.Events) {
		say("no %s in its place; arrived: %s", w.Events[next], strings.Join(came, " "))
	}
	for _, kind := range w.Tools {
		found := false
		for _, x := range e.Seen {
			found = found || x.Event.Kind == event.ToolBefore && x.Event.Tool != nil && x.Event.Tool.Kind == kind
		}
		if !found {
			say("no event before a tool of the kind %s", kind)
		}
	}
	if w.Exit != nil && e.Exit != *w.Exit {
		say("the agent ended with code %d, not %d", e.Exit, *w.Exit)
	}
	return out
}
