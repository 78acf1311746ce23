package member

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// hearAnswers receives answers of operators, and whether one looks, until ctx ends.
func (r *run) hearAnswers(ctx context.Context) {
	conn := r.conn.Load()
	answers, err := conn.Subscribe(protocol.AnswerSubject(r.id()), func(msg *nats.Msg) {
		b, err := json.Marshal(r.takeAnswer(ctx, msg.Data))
		if err == nil {
			_ = msg.Respond(b) // who answered asks what became of it
		}
	})
	if err == nil {
		err = answers.SetPendingLimits(64, 4<<20)
	}
	if err == nil {
		_, err = conn.Subscribe(protocol.AttendedSubject, func(msg *nats.Msg) {
			var a protocol.Attended
			if json.Unmarshal(msg.Data, &a) == nil {
				r.attended(a.On)
				r.noteNewest(a.Policy)
			}
		})
	}
	if err != nil {
		r.service.Log.Error("answers of the fleet can't be heard", "error", err)
	}
	<-ctx.Done()
}

// attended notes that an operator looks at requests: agents here wait for an answer then.
func (r *run) attended(on bool) {
	r.mu.Lock()
	left := r.left
	switch {
	case on && left == nil:
		r.left = r.service.Requests.Watch()
		left = nil
	case on:
		left = nil
	default:
		r.left = nil
	}
	r.watchedUntil = time.Now().Add(protocol.StateTTL)
	r.mu.Unlock()
	if left != nil {
		left()
	}
}

// unattend stops noting that an operator looks if the server hasn't renewed that.
func (r *run) unattend(now time.Time) {
	r.mu.Lock()
	over := r.left != nil && now.After(r.watchedUntil)
	r.mu.Unlock()
	if over {
		r.attended(false)
	}
}

// takeAnswer checks an answer from another machine and passes it to the request. Anyone in the
// fleet may have sent the bytes: only the signatures matter.
func (r *run) takeAnswer(ctx context.Context, b []byte) protocol.AnswerResult {
	refuse := func(code int, format string, args ...any) protocol.AnswerResult {
		bad := wire.Errorf(code, format, args...)
		r.service.Log.Warn("an answer of the fleet is refused", "why", bad.Message)
		return protocol.AnswerResult{Error: bad}
	}
	var in protocol.SignedAnswer
	if json.Unmarshal(b, &in) != nil {
		return refuse(wire.CodeParams, "the answer can't be read")
	}
	record, a, message, err := in.Read(&r.operators, r.membership.Fleet)
	switch {
	case err != nil:
		return refuse(wire.CodeRefused, "the answer is refused: %v", err)
	case record.Role != protocol.RoleOperator:
		return refuse(wire.CodeRefused, "%s is no operator of the fleet and can't answer", record.Name)
	case a.Member != r.id():
		return refuse(wire.CodeRefused, "the answer is meant for another machine")
	case a.Reply.SHA256 == "" && !a.Skip:
		return refuse(wire.CodeParams, "the answer doesn't say what was seen")
	case a.Reply.PIN != "":
		return refuse(wire.CodeParams, "the PIN doesn't belong into the signed answer")
	}
	by := fmt.Sprintf("%s on %s (fleet, %s)", termsafe.Line(a.User, 120), record.Name, record.ID)
	if a.Skip {
		params, _ := json.Marshal(wire.InboxIDParams{ID: a.Reply.ID})
		result, bad := r.service.Daemon.Call(ctx, wire.MethodInboxSkip, params)
		if bad != nil {
			return protocol.AnswerResult{Error: bad}
		}
		skipped, _ := result.(wire.InboxReplyResult)
		skipped.By = by
		return protocol.AnswerResult{Result: cleanResult(skipped, r.service.Content())}
	}
	if !r.service.Content() {
		return refuse(wire.CodeRefused, "this machine keeps the content of requests to itself, so they can be answered only there")
	}
	a.Reply.PIN = in.PIN
	result, bad := r.service.Requests.ReplySigned(a.Reply, by,
		ledger.Signature{Device: record.ID, Key: []byte(record.Key), Message: message, Signature: in.Signature})
	if bad != nil {
		return protocol.AnswerResult{Error: bad}
	}
	return protocol.AnswerResult{Result: cleanResult(result, true)}
}

// cleanResult returns a result as it leaves this machine, without what was asked: the machine that
// answered knows that.
func cleanResult(result wire.InboxReplyResult, content bool) *wire.InboxReplyResult {
	short := func(d *wire.InboxDecision) *wire.InboxDecision {
		if d == nil {
			return nil
		}
		return &wire.InboxDecision{Choice: d.Choice, By: d.By, At: d.At, Outcome: d.Outcome}
	}
	if result.Item != nil {
		item := requestThere(*result.Item, false)
		item.Note, item.Shown, item.End, item.EndedAt = "", "", result.Item.End, result.Item.EndedAt
		item.Decision, result.Item = short(result.Item.Decision), &item
	}
	if !content {
		result.Permission = nil
	}
	if result.Permission != nil {
		permission := *result.Permission
		permission.Rule = redact.Text(permission.Rule)
		result.Permission = &permission
	}
	result.Decided = short(result.Decided)
	fleet.Clean(&result)
	return &result
}
