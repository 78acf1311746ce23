package daemon

import (
	"path/filepath"

	"github.com/hookmux/hookmux/internal/pipeline"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/telemetry"
	"github.com/hookmux/hookmux/internal/usage"
	"github.com/hookmux/hookmux/internal/wire"
)

// telemetrySettings returns those in force.
func (h *Daemon) telemetrySettings() telemetry.Settings {
	s := h.selection.Config.Settings()
	headers, err := config.ReadSecret(s.Choice(config.TelemetryHeaders), h.deps.Dirs.Home)
	if err != nil {
		h.deps.Problems.Set("telemetry-headers", config.TelemetryHeaders+" can't be read: "+err.Error(), "correct the path, or the file")
	} else if h.deps.Problems.Any() {
		h.deps.Problems.Clear("telemetry-headers")
	}
	return telemetry.Settings{Endpoint: s.Choice(config.TelemetryEndpoint), Headers: headers,
		Content: s.Choice(config.TelemetryContent) == "on"}
}

// telemetryCalls passes answered calls to telemetry.
type telemetryCalls struct{ *telemetry.Service }

// NoteAnswer implements [pipeline.Telemetry].
func (t telemetryCalls) NoteAnswer(a *pipeline.Answered) {
	c := telemetry.Call{Event: a.Event, Took: a.Took, Decision: a.Decision, Steps: a.Steps,
		Parent: proc.LookupEnv(a.Env)("TRACEPARENT")}
	if a.Asked != nil {
		c.Waited, c.Ended = a.Asked.Took, a.Asked.End.Code()
	}
	t.Note(c)
}

// noteUse passes what was used to telemetry.
func (h *Daemon) noteUse(was, is *usage.Call) {
	if !h.telemetry.Wanted() || is.Replay {
		return
	}
	more := is.Tokens
	use := telemetry.Use{Agent: is.Agent, Session: is.Session, Model: is.Model, At: is.At,
		ID: is.Agent + "\x00" + is.ID + "\x00" + is.Request}
	cost, priced := h.usage.Prices().Cost(is)
	if was != nil {
		before, _ := h.usage.Prices().Cost(was)
		more, cost = is.Tokens.Minus(was.Tokens), max(0, cost-before)
	}
	use.Input, use.Output = more.Prompt(), more.Output
	use.CacheRead, use.CacheWrite = more.CacheRead, more.CacheWrite+more.CacheWrite1h
	use.Dollars, use.Priced = wire.RoundUSD(cost), priced
	h.telemetry.NoteUse(use)
}

// noteBudgets notifies you of budgets that are nearly or wholly used up.
func (h *Daemon) noteBudgets() {
	h.selection.NoteBudgets(h.sessions.List(false), func(b *budget.Budget, level budget.Level, words string) bool {
		return h.notify.BudgetReached(b.ID(), level == budget.Blocks, words)
	})
}

// pricesFile reads your own table of prices: cheaper ones would make budgets looser, so
// it's used as you accepted it.
func (h *Daemon) pricesFile() func() ([]byte, error) {
	if h.accepted == nil {
		return func() ([]byte, error) { return usage.LoadPrices(h.deps.Dirs.Config) }
	}
	file := h.accepted.File(filepath.Join(h.deps.Dirs.Config, usage.PricesFile), usage.MaxPricesFile,
		func(have, _ []byte, _ accepted.State) []byte { return have }, usage.CheckPrices)
	return func() ([]byte, error) {
		view, _ := file.Read()
		return view.InForce, nil
	}
}
