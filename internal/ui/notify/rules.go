package notify

import (
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// The kinds of notices that aren't requests.
const (
	kindBudget   = "budget"
	kindFinished = "finished"
	kindFailed   = "failed"
	kindSeveral  = "several" // requests that are shown together
)

// rules holds the user's settings at one moment.
type rules struct {
	on        bool
	kinds     func(agent string) []string
	someKinds []string // those of any agent
	channels  func(kind string) []string
	settle    time.Duration
	shortTurn time.Duration // the end of a shorter turn isn't shown
	quiet     []config.QuietTime
	subagents bool
	full      bool
}

// settleTime is how long a request must wait before you're notified: most are answered sooner.
const settleTime = time.Second

func readRules(s *config.Settings) rules {
	var kinds []string
	for _, e := range s.List() {
		if e.Key.Name == config.NotifyKinds || strings.HasPrefix(e.Key.Name, config.NotifyKinds+".") {
			kinds = append(kinds, s.Strings(e.Key.Name)...)
		}
	}
	quiet, _ := config.ParseQuiet(s.Choice(config.NotifyQuiet)) // checked when it was set
	return rules{
		on:        s.Choice(config.Notify) == "on",
		kinds:     func(agent string) []string { return s.Strings(nameFor(config.NotifyKinds, agent)) },
		someKinds: kinds,
		channels:  func(kind string) []string { return s.Strings(nameFor(config.NotifyChannels, kind)) },
		settle:    settleTime,
		shortTurn: s.Span(config.NotifyTurn),
		quiet:     quiet,
		subagents: s.Choice(config.NotifySubagents) == "on",
		full:      s.Choice(config.NotifyText) == "full",
	}
}

// nameFor returns the key for one name, if it can have one.
func nameFor(key, name string) string {
	if _, ok := config.Find(key + "." + name); ok {
		return key + "." + name
	}
	return key
}

// allChannels returns the channels that show one of the kinds.
func (r *rules) allChannels(kinds []string) []string {
	var list []string
	for _, kind := range kinds {
		if !slices.Contains(r.someKinds, kind) {
			continue
		}
		for _, name := range r.channels(kind) {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// verdict says what to do about a notice: show it on channels, check again after a while, or
// neither.
type verdict struct {
	channels []string
	again    time.Duration
}

// How long until it is checked again whether a notice can be shown.
const (
	lookAgain  = 5 * time.Second // while the user looks at the pane
	quietAgain = time.Minute     // in quiet hours
)

// planRequest decides what to do about a request that has waited for the settle time. looked
// reports whether the user looks at the agent's pane now.
func (r *rules) planRequest(item *wire.InboxRequest, now time.Time, looked func() bool) verdict {
	channels := r.channels(item.Kind)
	switch {
	case !r.on, len(channels) == 0, !slices.Contains(r.kinds(item.Agent), item.Kind),
		item.AgentID != "" && !r.subagents:
		return verdict{}
	case r.isQuiet(now):
		return verdict{again: quietAgain}
	case looked():
		return verdict{again: lookAgain}
	}
	return verdict{channels: channels}
}

// planTurn returns on which channels the end of a turn is shown.
func (r *rules) planTurn(one *wire.Session, now time.Time, looked func() bool) []string {
	kind := turnKind(one.Turn)
	if !r.on || kind == "" || !slices.Contains(r.kinds(one.Agent), kind) || r.isQuiet(now) {
		return nil
	}
	if one.Turn.Seconds < r.shortTurn.Seconds() || len(one.Waits) > 0 || looked() {
		return nil
	}
	return r.channels(kind)
}

// turnKind returns the kind of notice for the end of a turn; "" for one that the user ended.
func turnKind(t *wire.Turn) string {
	switch {
	case t == nil || t.Ended == nil || t.Result == wire.ResultInterrupted:
		return ""
	case t.Result == wire.ResultOK:
		return kindFinished
	}
	return kindFailed
}

func (r *rules) isQuiet(now time.Time) bool {
	return slices.ContainsFunc(r.quiet, func(q config.QuietTime) bool { return q.Covers(now) })
}
