package agents

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/agentfacts"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// showAgentCommand is `hookmux agents show`.
func showAgentCommand(app *cmdutil.App) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "show AGENT",
		Short: "Show one agent: config files, events, what hooks can do, time limits, pitfalls",
		Long: `Shows what hooks can do at an agent, which files they're in, which events hookmux
installs, what to look out for and how to resume a session. --all adds every event,
what a hook can answer to each, time limits and the last test.

Every claim is tested (a real agent did it), documented (its vendor says so) or
untested. ✓ means that the last recorded verify saw it work.`,
		Example: "  hookmux agents show claude\n  hookmux agents show claude --all\n  hookmux agents show codex --json | jq .answers",
		Args:    cmdutil.ExactArgs("AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return showAgent(cmd.Context(), app, args[0], all, asJSON)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also every event, answers, time limits and the last test")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: what hookmux agents --json says of it, and {places, "+
		"files, events, answers, timeouts, notes, resume, proof}")
	return cmd
}

// agentDetail is everything about one agent, for programs.
type agentDetail struct {
	*AgentState
	Aliases  []string            `json:"aliases,omitempty"`
	Places   []agentPlace        `json:"places"`
	Files    []agentPlace        `json:"files"`
	Events   []agentEvent        `json:"events"`
	Answers  []agentfacts.Answer `json:"answers"`
	Timeouts []agentTimeout      `json:"timeouts"`
	Notes    []string            `json:"notes"`
	Resume   *agentResume        `json:"resume,omitempty"`
	Proof    []agentProof        `json:"proof"`
}

type agentPlace struct {
	Scope string `json:"scope"`
	Path  string `json:"path"`
	Env   string `json:"env,omitempty"`
}

type agentEvent struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Install string `json:"install"`
	Why     string `json:"why,omitempty"`
	Mark    string `json:"mark,omitempty"`
}

type agentTimeout struct {
	Events  []string `json:"events"`
	Default float64  `json:"default"` // seconds; 0: not known
	Asked   float64  `json:"asked"`
	Most    float64  `json:"most,omitempty"`
}

type agentResume struct {
	Argv  []string `json:"argv"`
	Fork  []string `json:"fork,omitempty"`
	Keyed string   `json:"keyed"`
}

type agentProof struct {
	Check string `json:"check"`
	Event string `json:"event,omitempty"`
	Claim string `json:"claim,omitempty"`
	Mark  string `json:"mark"`
	Why   string `json:"why,omitempty"`
}

func showAgent(ctx context.Context, app *cmdutil.App, name string, all, asJSON bool) error {
	c, err := app.Catalogue()
	if err != nil {
		return err
	}
	a, ok := c.Agent(name)
	if !ok {
		app.PrintNotes(problemLines(app.CatalogueProblems()))
		return cmdutil.UnknownAgent(c, name)
	}
	list, err := agentStates(ctx, app, c)
	if err != nil {
		return err
	}
	var state *AgentState
	for _, one := range list {
		if one.Name == a.Name {
			state = one
		}
	}
	if asJSON {
		return app.PrintJSON(detailOf(state))
	}
	app.Style().Sections(app.Stdout, sectionsOf(app, state, all))
	if !all {
		app.Say("`hookmux agents show %s --all` shows all notes, events, time limits and tests", a.Name)
	}
	return nil
}

func detailOf(state *AgentState) agentDetail {
	f := state.facts
	a := f.Agent
	d := agentDetail{
		AgentState: state, Aliases: a.Aliases, Places: []agentPlace{}, Files: []agentPlace{}, Events: []agentEvent{},
		Answers: emptyNotNil(f.Answers()), Timeouts: []agentTimeout{}, Notes: emptyNotNil(a.Notes),
		Proof: []agentProof{},
	}
	if a.Install != nil {
		for _, p := range a.Install.Places {
			d.Places = append(d.Places, agentPlace{p.Scope, p.Path, p.Env})
		}
	}
	for _, file := range a.Files {
		d.Files = append(d.Files, agentPlace{file.Scope, file.Path, file.Env})
	}
	for _, e := range a.Events {
		d.Events = append(d.Events, agentEvent{e.Name, string(e.Kind), string(e.Install), e.Why, f.MarkOf(e.Name, "")})
	}
	for _, l := range f.TimeLimits() {
		d.Timeouts = append(d.Timeouts,
			agentTimeout{l.Events, l.Default.Seconds(), l.Asked.Seconds(), l.Most.Seconds()})
	}
	if r := a.Resume; r != nil {
		d.Resume = &agentResume{r.Argv, r.Fork, r.Keyed}
	}
	for _, r := range f.Seen.Rows {
		d.Proof = append(d.Proof, agentProof{r.Check, r.Event, r.Claim, r.Mark, r.Why})
	}
	return d
}

// sectionsOf returns an agent as sections for display.
func sectionsOf(app *cmdutil.App, state *AgentState, all bool) []text.Section {
	f := state.facts
	a := f.Agent
	head := a.Title + " (" + a.Name
	if len(a.Aliases) > 0 {
		head += ", also " + strings.Join(a.Aliases, ", ")
	}
	notes := f.BriefNotes()
	if all {
		notes = a.Notes
	}
	list := []text.Section{
		{Title: termsafe.Line(head+")", 200), Rows: stateRows(app, state)},
		{Title: "places", Rows: placeRows(a)},
		{Title: "good to know", Rows: noteRows(notes)},
		{Title: "events", Rows: eventRows(f, all)},
		{Title: "sessions", Rows: resumeRows(a)},
	}
	if all {
		list = append(list, text.Section{Title: "answers", Rows: answerRows(f)},
			text.Section{Title: "time limits", Rows: limitRows(f)}, text.Section{Title: "last test", Rows: proofRows(f)})
	}
	for _, section := range list {
		for _, row := range section.Rows {
			for i := range row {
				row[i] = termsafe.Line(row[i], 1000)
			}
		}
	}
	return list
}

func stateRows(app *cmdutil.App, state *AgentState) [][]string {
	here := "no"
	switch {
	case state.Program != "":
		here = app.Shorten(state.Program)
	case state.Config != "":
		here = "only its config, in " + app.Shorten(state.Config)
	}
	if state.Version != "" {
		here += ", version " + state.Version
	}
	hooked := "no; run `hookmux install " + state.Name + "`"
	switch {
	case state.facts.Agent.Install == nil:
		hooked = "no; hookmux can't install hooks there"
	case state.Wrong != "":
		hooked = "yes, but some hooks don't run: " + app.Shorten(state.Wrong)
	case state.Hooked:
		hooked = "yes"
	}
	rows := [][]string{{"here", here}, {"hooked", hooked}, {"hooks can", canDo(state.facts)}}
	if state.Last != nil {
		rows = append(rows, []string{"last event", text.Moment(*state.Last, time.Now())})
	}
	known := string(state.Evidence) + ": " + evidenceText[state.Evidence]
	if state.Verified != "" {
		known += "; last verified with " + state.Verified + " on " + state.Day
	} else if state.Tried != "" {
		known += "; tried with " + state.Tried
	}
	rows = append(rows, []string{"support", known})
	if state.Newer {
		rows = append(rows, []string{"newer", fmt.Sprintf("%s is newer than the version we tested (%s); run `hookmux verify %s`",
			state.Version, state.Tried, state.Name)})
	}
	return rows
}

// canDo lists what hooks can do at an agent, with what was proven.
func canDo(f agentfacts.Facts) string {
	var can []string
	for _, ability := range agentfacts.Abilities() {
		switch {
		case f.Proven(ability.Claim):
			can = append(can, ability.Verb+" ✓")
		case f.Claims(ability.Claim):
			can = append(can, ability.Verb)
		}
	}
	if len(can) == 0 {
		return string(f.ClaimedPower())
	}
	return string(f.ClaimedPower()) + ": " + strings.Join(can, ", ")
}

var evidenceText = map[agentfacts.Evidence]string{
	agentfacts.Tested:     "hooks worked with a real one",
	agentfacts.Documented: "its vendor says so; no run is recorded",
	agentfacts.Untested:   "no run is recorded",
}

func placeRows(a *agent.Agent) (rows [][]string) {
	if a.Install == nil {
		return nil
	}
	for _, p := range a.Install.Places {
		at := p.Path
		if p.Env != "" {
			at += " (or where " + p.Env + " says)"
		}
		rows = append(rows, []string{p.Scope, at})
	}
	rows = append(rows, []string{"active", a.Install.Pickup.Say})
	if a.Install.Trust.Say != "" {
		rows = append(rows, []string{"trust", a.Install.Trust.Say})
	}
	return rows
}

func noteRows(notes []string) (rows [][]string) {
	for _, n := range notes {
		rows = append(rows, []string{"-", n})
	}
	return rows
}

func eventRows(f agentfacts.Facts, all bool) (rows [][]string) {
	for _, e := range f.Agent.Events {
		if !all && e.Install != agent.InstallDefault {
			continue
		}
		how := "by default"
		if e.Install != agent.InstallDefault {
			how = string(e.Install) + ": " + e.Why
		}
		rows = append(rows, []string{e.Name, dash(f.MarkOf(e.Name, "")), string(e.Kind), how})
	}
	return rows
}

func answerRows(f agentfacts.Facts) (rows [][]string) {
	answers := f.Answers()
	for _, ability := range agentfacts.Abilities() {
		for _, one := range answers {
			if one.Claim == ability.Claim {
				rows = append(rows, []string{one.Event, dash(one.Mark), one.Words() + " (" + one.Proof + ")"})
			}
		}
	}
	return rows
}

func limitRows(f agentfacts.Facts) (rows [][]string) {
	for _, l := range f.TimeLimits() {
		words := "waits " + seconds(l.Default) + ", hookmux asks for " + seconds(l.Asked)
		if l.Most != 0 {
			words += ", at most " + seconds(l.Most)
		}
		rows = append(rows, []string{words + ": " + strings.Join(l.Events, " ")})
	}
	return rows
}

func seconds(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " s"
}

func resumeRows(a *agent.Agent) [][]string {
	r := a.Resume
	if r == nil {
		return [][]string{{"resume", "hookmux can't resume its sessions"}}
	}
	rows := [][]string{{"resume", strings.Join(r.Argv, " ")}}
	if len(r.Fork) > 0 {
		rows = append(rows, []string{"copy", strings.Join(r.Fork, " ")})
	}
	if r.Keyed == "directory" {
		rows = append(rows, []string{"where", "in the folder it was started in"})
	}
	return rows
}

func proofRows(f agentfacts.Facts) (rows [][]string) {
	if f.Seen.Version == "" {
		return [][]string{{"no verification is recorded"}}
	}
	rows = append(rows, []string{"", "", fmt.Sprintf("version %s on %s (%s): %d ✓, %d ✗, %d –", f.Seen.Version,
		f.Seen.Day, f.Seen.Platform, f.Count("✓"), f.Count("✗"), f.Count("–"))})
	for _, r := range f.Seen.Rows {
		if r.Event == "" {
			rows = append(rows, []string{r.Mark, r.Check, r.Why})
		}
	}
	return rows
}

func dash(s string) string {
	if s == "" {
		return " "
	}
	return s
}
