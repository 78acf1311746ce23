package usage

import (
	"strconv"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// codexState holds what lines of a rollout mean for those after them.
type codexState struct {
	Thread string     `json:"thread,omitempty"` // of this file
	Turn   string     `json:"turn,omitempty"`
	Totals codexCount `json:"totals,omitzero"`
	Known  bool       `json:"known,omitempty"` // Totals are those of the line before
	// Copies says that the file may begin with a copy of another thread's history:
	// what it says of calls before the copy ends is another file's.
	Copies  bool      `json:"copies,omitempty"`
	Began   time.Time `json:"began,omitzero"`    // the thread
	OwnFrom int64     `json:"ownFrom,omitempty"` // the first ordinal that isn't a copy
}

// codexCount is Codex's own way to count: what was cached is in the input.
type codexCount struct {
	Input, Cached, Written, Output int64
}

func (o *sink) codexCount(v []byte) (c codexCount, ok bool) {
	if len(v) == 0 || v[0] != '{' {
		return c, false
	}
	err := jsontext.Object(v, func(key, value []byte) bool {
		switch string(key) {
		case "input_tokens":
			c.Input = o.count(value)
		case "cached_input_tokens":
			c.Cached = o.count(value)
		case "cache_write_input_tokens":
			c.Written = o.count(value)
		case "output_tokens":
			c.Output = o.count(value)
		}
		return true
	})
	return c, err == nil
}

func (c codexCount) total() int64 { return c.Input + c.Output }

func (c codexCount) minus(o codexCount) (d codexCount, ok bool) {
	d = codexCount{c.Input - o.Input, c.Cached - o.Cached, c.Written - o.Written, c.Output - o.Output}
	return d, d.Input >= 0 && d.Cached >= 0 && d.Written >= 0 && d.Output >= 0
}

func (c codexCount) tokens() Tokens {
	cached := min(c.Cached, c.Input)
	written := min(c.Written, c.Input-cached)
	return Tokens{Input: c.Input - cached - written, Output: c.Output, CacheRead: cached, CacheWrite: written}
}

// codexRow reads a line of a rollout. Codex writes the sums of the whole thread together with the last
// call, again whenever its rate limits change.
func codexRow(s *fileState, line []byte, _ int64, out *sink) bool {
	var kind string
	var at time.Time
	var payload []byte
	ordinal := int64(-1)
	err := jsontext.Object(line, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = text(value)
		case "timestamp":
			at = moment(value)
		case "ordinal":
			ordinal = count(value)
		case "payload":
			payload = value
		}
		return true
	})
	if err != nil || len(payload) == 0 || payload[0] != '{' {
		return err == nil
	}
	c := &s.Codex
	switch kind {
	case "session_meta":
		c.meta(s, payload, at, out)
	case "turn_context":
		if model := text(jsontext.Get(payload, "model")); model != "" {
			s.Model = model
		}
		c.Turn = text(jsontext.Get(payload, "turn_id"))
		if cwd := text(jsontext.Get(payload, "cwd")); cwd != "" {
			s.Project = cwd
		}
	case "event_msg":
		if says(jsontext.Get(payload, "type"), "token_count") {
			readCodexLimits(jsontext.Get(payload, "rate_limits"), at, out)
			c.tokenCount(s, jsontext.Get(payload, "info"), at, ordinal, out)
		}
	}
	return true
}

func (c *codexState) meta(s *fileState, payload []byte, at time.Time, out *sink) {
	id := text(jsontext.Get(payload, "id"))
	if c.Thread != "" {
		if id != c.Thread && c.Copies {
			out.drop() // the copied history goes at least until here
		}
		return
	}
	c.Thread = id
	if s.Session = text(jsontext.Get(payload, "session_id")); s.Session == "" {
		s.Session = id
	}
	s.Project = text(jsontext.Get(payload, "cwd"))
	parent := text(jsontext.Get(payload, "forked_from_id"))
	if parent == "" {
		parent = text(jsontext.Get(payload, "source", "subagent", "thread_spawn", "parent_thread_id"))
	}
	c.Copies = parent != ""
	if c.Began = moment(jsontext.Get(payload, "timestamp")); c.Began.IsZero() {
		c.Began = at
	}
	c.OwnFrom = count(jsontext.Get(payload, "subagent_history_start_ordinal"))
}

func (c *codexState) tokenCount(s *fileState, info []byte, at time.Time, ordinal int64, out *sink) {
	if len(info) == 0 || info[0] != '{' {
		return // only limits changed
	}
	totals, hasTotals := out.codexCount(jsontext.Get(info, "total_token_usage"))
	last, hasLast := out.codexCount(jsontext.Get(info, "last_token_usage"))
	if hasTotals && c.Known && totals == c.Totals {
		return
	}
	used := last
	if hasTotals {
		since, grew := totals.minus(c.Totals)
		// Lines may be missing: the sums know of their calls, too.
		if c.Known && grew && since.total() > used.total() || !hasLast && grew {
			used = since
		}
		c.Totals, c.Known = totals, true
	}
	if ordinal >= 0 && ordinal < c.OwnFrom || c.Copies && !at.IsZero() && at.Before(c.Began) || used.total() == 0 {
		return
	}
	where := c.Turn
	if where == "" {
		where = c.Thread
	}
	id := where + ":" + strconv.FormatInt(totals.Input, 10) + ":" + strconv.FormatInt(totals.Output, 10)
	if !hasTotals {
		id = where + "@" + at.UTC().Format(time.RFC3339Nano)
	}
	out.addOwn(c.Copies, Call{
		ID: id, Model: s.Model, Session: s.Session, Project: s.Project, At: at, Tokens: used.tokens(),
		Window: count(jsontext.Get(info, "model_context_window")),
	})
}

// readCodexLimits reads how much of a plan is used up. A window that isn't there is
// unknown.
func readCodexLimits(limits []byte, at time.Time, out *sink) {
	if len(limits) == 0 || limits[0] != '{' {
		return
	}
	plan := text(jsontext.Get(limits, "plan_type"))
	for _, which := range []string{"primary", "secondary"} {
		v := jsontext.Get(limits, which)
		if len(v) == 0 || v[0] != '{' {
			continue
		}
		used, err := strconv.ParseFloat(string(jsontext.Get(v, "used_percent")), 64)
		minutes := count(jsontext.Get(v, "window_minutes"))
		if err != nil || used < 0 || minutes <= 0 {
			continue
		}
		length := time.Duration(minutes) * time.Minute
		out.limit(Window{
			Name: WindowName(length), Length: length, Used: used, Plan: plan, Learned: at,
			Resets: moment(jsontext.Get(v, "resets_at")),
		})
	}
}

// WindowName returns a window's length as text: 5h, 7d.
func WindowName(length time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case length >= day && length%day == 0:
		return strconv.Itoa(int(length/day)) + "d"
	case length%time.Hour == 0:
		return strconv.Itoa(int(length/time.Hour)) + "h"
	}
	return strconv.Itoa(int(length/time.Minute)) + "m"
}
