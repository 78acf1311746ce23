package approvals

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// absence covers the time you're away, and the summary you get when you come back.
type absence struct {
	Options
	flag        *awayFlag
	queue       *queue.Table
	permissions *ledger.Permissions
	decisions   *ledger.Decisions
}

// goAway notes that the user is away: requests wait as long as agents let
// them.
func (a *absence) goAway(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if err := services.ReadParams(params, &struct{}{}); err != nil {
		return nil, err
	}
	state, err := a.flag.set(a.permissions.Hits())
	if err != nil {
		a.Problems.Raise("away", "you are away, but that could not be written down: "+err.Error(),
			"say it again after the daemon restarts")
	}
	return wire.AwayInfo{Away: true, Since: &state.Since}, nil
}

// comeBack ends being away and says what happened meanwhile.
func (a *absence) comeBack(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if err := services.ReadParams(params, &struct{}{}); err != nil {
		return nil, err
	}
	state := a.flag.now.Swap(nil)
	a.Problems.Clear("away")
	if state != nil {
		a.restoreWaitTimes()
	}
	if err := a.flag.clearFile(); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	digest := wire.Digest{Waiting: a.queue.Items(false), Ended: []wire.InboxRequest{}}
	if state == nil {
		return digest, nil
	}
	digest.WasAway, digest.Since = true, &state.Since
	a.addEnded(state, &digest)
	return digest, nil
}

// restoreWaitTimes gives requests the time they would have had without being away.
// Those that hide the agent's own dialog waited as long as the hook may take, and
// the user is at the window again. There is time left to answer them here.
func (a *absence) restoreWaitTimes() {
	now := time.Now()
	a.queue.Shorten(func(r *queue.Request) time.Time {
		entry, ok := a.Catalogue.EntryOf(r.Event.Agent, r.Event.Native)
		if !ok || entry.Inbox == nil || entry.Inbox.WaitAt(r.Event.Native) == agent.WaitDeadline {
			return time.Time{}
		}
		waitFor, chosen := a.Settings.WaitTime(r.Event)
		return now.Add(entry.Inbox.WaitFor(r.Event.Native, waitFor, agent.Wait{Setting: waitFor, Chosen: chosen, Watched: true}))
	})
}

const (
	// digestWaits is how long a digest waits for a journal that still stores
	// what an earlier daemon left, and for the reading of it.
	digestWaits = 3 * time.Second
	// digestReads bounds what is read of the journal, the newest first.
	digestReads = 2000
	// longestAsked is how long before being away a request may have begun that
	// ended meanwhile.
	longestAsked = 24 * time.Hour
)

// addEnded fills in what ended while the user was away: of this daemon from
// memory, which also knows what came of each answer, of earlier ones from the
// journal.
func (a *absence) addEnded(away *awayState, digest *wire.Digest) {
	digest.Permitted = a.permissions.Hits() - away.Hits
	known := map[string]bool{}
	for _, item := range a.queue.Items(true) {
		known[item.EventID] = true
		if item.EndedAt != nil && !item.EndedAt.Before(away.Since) {
			digest.Ended = append(digest.Ended, item)
		}
	}
	ctx, cancel := context.WithTimeout(a.Context, digestWaits)
	defer cancel()
	err := a.Recorder.PastRequests(ctx, away.Since.Add(-longestAsked), digestReads, func(past PastRequest) {
		o := &past.Outcome
		_, isPermitted := event.PermissionOf(past.By)
		ended := o.Time.Add(time.Duration(o.TookUS) * time.Microsecond)
		switch {
		case ended.Before(away.Since) || o.Duplicate != "":
		case o.Inbox != nil && o.Inbox.Request != "" && !known[past.ID]:
			digest.Ended = append(digest.Ended, a.pastItem(&past, ended))
		case o.Inbox == nil && isPermitted && ended.Before(a.Started):
			digest.Permitted++ // what this daemon's own permissions did is counted above
		}
	})
	if err != nil {
		digest.Note = "not everything from before the daemon restarted is here: " + termsafe.FirstLine(err.Error())
	}
	a.addLogOnly(ctx, away.Since, digest)
	a.addRecords(away.Since, digest.Ended, known)
	slices.SortStableFunc(digest.Ended, func(a, b wire.InboxRequest) int { return a.EndedAt.Compare(*b.EndedAt) })
}

// digestLogOnly is how many calls of only logged hooks are listed one by one.
const digestLogOnly = 20

// addLogOnly fills in what only logged hooks would have done.
func (a *absence) addLogOnly(ctx context.Context, since time.Time, digest *wire.Digest) {
	err := a.Recorder.LogOnlyCalls(ctx, since, digestReads, func(one wire.LogOnlyCall) {
		if digest.LogOnlyCount++; len(digest.LogOnly) < digestLogOnly {
			digest.LogOnly = append(digest.LogOnly, one)
		}
	})
	if err != nil && digest.Note == "" {
		digest.Note = "what logOnly hooks would have done is not all here: " + termsafe.FirstLine(err.Error())
	}
}

// pastItem returns a request of an earlier daemon as the journal knows it, without
// secrets. What exactly was shown is in the record of decisions alone.
func (a *absence) pastItem(past *PastRequest, ended time.Time) wire.InboxRequest {
	ev, o := past.Event(), &past.Outcome
	r := queue.Request{Event: &ev}
	r.Need.Kind = policy.Permission
	if kind, ok := policy.KindOf(&ev); ok {
		r.Need.Kind = kind
	}
	queue.Show(&r, a.AgentTitle(ev.Agent), nil)
	end := queue.ParseEnd(o.Inbox.End)
	item := wire.InboxRequest{
		ID: o.Inbox.Request, EventID: ev.ID, Status: string(end.Status()), End: o.Inbox.End, Kind: string(r.Need.Kind),
		Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd, Event: ev.Native, Pane: ev.Where.Pane, Choices: []string{},
		Questions: ev.Questions, Plan: ev.Plan, Shown: r.Shown, CreatedAt: past.Time, Deadline: ended, EndedAt: &ended,
	}
	if t := ev.Tool; t != nil {
		item.Tool, item.ToolKind, item.Input = t.Name, string(t.Kind), event.RawJSON(t.Input)
	}
	if end == queue.Answered {
		var decided event.Decision
		_ = json.Unmarshal(o.Decision, &decided)
		item.Decision = &wire.InboxDecision{By: decided.By, Reason: decided.Reason, At: ended,
			Outcome: string(queue.Delivered)}
		if said := decided.Answer; said != nil {
			item.Decision.Choice, item.Decision.Plan = string(said.Choice), string(said.Plan)
			item.Decision.Answers, item.Decision.Note = said.Answers, said.Note
			item.Decision.Feedback = said.Feedback
		}
	}
	return item
}

// addRecords adds to past requests who answered them, and what was shown.
func (a *absence) addRecords(since time.Time, items []wire.InboxRequest, known map[string]bool) {
	past := slices.ContainsFunc(items, func(i wire.InboxRequest) bool { return !known[i.EventID] })
	if !past {
		return
	}
	list, err := a.decisions.Last(digestReads)
	if err != nil {
		return
	}
	of := map[string]*ledger.Record{}
	for i := range list {
		if !list[i].At.Before(since) {
			of[list[i].EventID+" "+list[i].Request] = &list[i]
		}
	}
	for i := range items {
		item := &items[i]
		r := of[item.EventID+" "+item.ID]
		if r == nil || known[item.EventID] || item.Decision == nil {
			continue
		}
		item.Shown, item.SHA256 = r.Shown, r.SHA256
		item.Decision.By, item.Decision.At, item.Decision.Permission = r.By, r.At, r.Permission
		if item.Decision.Choice == "" {
			item.Decision.Choice = string(r.Answer.Choice)
		}
	}
}
