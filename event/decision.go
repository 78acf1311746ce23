package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Verdict is the part of a decision that concerns the call.
type Verdict string

// The verdicts, weakest first. None is not Allow: it means no opinion, and
// the agent's own rules apply.
const (
	None   Verdict = ""
	Allow  Verdict = "allow"
	Modify Verdict = "modify"
	Ask    Verdict = "ask"
	Deny   Verdict = "deny"
)

// rank orders verdicts for [Merge].
func (v Verdict) rank() int {
	switch v {
	case Allow:
		return 1
	case Modify:
		return 2
	case Ask:
		return 3
	case Deny:
		return 4
	}
	return 0
}

// Word returns the verdict as it is shown and as programs read it; None is "none".
func (v Verdict) Word() string {
	if v == None {
		return "none"
	}
	return string(v)
}

// ParseVerdict parses what [Verdict.Word] returns.
func ParseVerdict(s string) (Verdict, error) {
	switch v := Verdict(strings.ToLower(strings.TrimSpace(s))); v {
	case None, "none":
		return None, nil
	case Allow, Modify, Ask, Deny:
		return v, nil
	}
	return None, fmt.Errorf("decision %q is none of allow, deny, ask, modify, none", s)
}

// Decision says how the agent continues after an event.
type Decision struct {
	Verdict Verdict
	Reason  string

	// Allowed goes with Modify: the call was approved as changed. A changed call
	// that wasn't approved still goes to the agent's own prompt.
	Allowed bool

	Input   json.RawMessage // changed tool input: an object whose keys replace the call's
	Output  json.RawMessage // changed tool result
	Context string          // said to the model
	Notice  string          // said to the user

	// KeepGoing asks an agent that is about to stop to continue; Reason or
	// Context says with what.
	KeepGoing bool

	ExitCode int    // the first non-zero exit code a handler asked for
	Stdout   string // text a handler wants printed as it is, where the agent takes plain text

	// Answer is the person's reply, when one settled the verdict.
	Answer *Answer
	// Extra is a handler's answer to one agent in that agent's own format and
	// beyond these: members of the answer its dialect writes, where it takes
	// any. Dialects that take none leave it out.
	Extra json.RawMessage

	By       string        // id of the hook that settled the verdict
	Rule     string        // which rule of that guard; "" for other hooks
	Rules    []string      // all rules that match, where one hook stands for several
	Degraded []Degradation // what the agent could not carry
}

// Empty reports whether the decision changes nothing and says nothing.
func (d *Decision) Empty() bool {
	return d.Verdict == None && d.Input == nil && d.Output == nil && d.Context == "" &&
		d.Notice == "" && !d.KeepGoing && d.ExitCode == 0 && d.Stdout == "" && d.Extra == nil
}

// DefaultReason is used if a hook gave no reason: Codex runs a tool that was
// denied without one, so there is always one.
const DefaultReason = "blocked by a hookmux hook"

// OneLine folds a reason into one non-empty line: some agents show only the
// first line, others run the tool when it is empty.
func OneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return DefaultReason
	}
	return s
}

// Normalized returns d with consistent parts: a changed input makes it a
// [Modify], a Modify without one changes nothing, Allowed remains with Modify
// only, and your answer only with the verdict it gives. An input of JSON null is
// no input.
func (d Decision) Normalized() Decision {
	if isNull(d.Input) {
		d.Input = nil
	}
	if isNull(d.Output) {
		d.Output = nil
	}
	if d.Input == nil && d.Verdict == Modify {
		d.Verdict = None
		if d.Allowed {
			d.Verdict = Allow
		}
	}
	if d.Input != nil && (d.Verdict == Allow || d.Verdict == None) {
		d.Verdict, d.Allowed = Modify, d.Verdict == Allow // approved as changed
	}
	d.Allowed = d.Allowed && d.Verdict == Modify
	if d.Answer != nil && !d.Answer.fits(d.Verdict, d.Allowed) {
		d.Answer = nil
	}
	return d
}

func isNull(v json.RawMessage) bool {
	v = bytes.TrimSpace(v)
	return len(v) == 0 || string(v) == "null"
}

// Merge adds next, a later handler's opinion, to d. Deny beats ask beats modify
// beats allow beats none, and the reason is that of the winning verdict; changed
// inputs merge key by key; contexts, notices and printed texts are joined; the
// last changed result and the first non-zero exit code win. Your answer goes
// with the verdict it gave.
func (d *Decision) Merge(next Decision) {
	next = next.Normalized()
	d.mergeReason(&next)
	if next.Verdict.rank() > d.Verdict.rank() {
		d.Verdict, d.By, d.Rule, d.Answer = next.Verdict, next.By, next.Rule, next.Answer.clone()
		d.Rules = next.Rules
	} else if next.Verdict == Modify || d.Answer == nil && next.Verdict == Allow {
		// Your yes is for the input you saw, so a later change drops it; and it may
		// follow a hook's.
		d.Answer = next.Answer.clone()
	}
	switch next.Verdict {
	case Modify:
		// Approval holds for the input it saw: a later change takes it back
		// unless the changing hook approves as well.
		d.Allowed = next.Allowed
	case Allow:
		d.Allowed = true // a later handler saw the changed input and approved it
	}
	d.Allowed = d.Allowed && d.Verdict == Modify
	if d.Answer != nil && !d.Answer.fits(d.Verdict, d.Allowed) {
		d.Answer = nil
	}
	if next.Input != nil {
		d.Input = MergeObjects(d.Input, next.Input)
	}
	if next.Output != nil {
		d.Output = next.Output
	}
	if next.Extra != nil {
		d.Extra = MergeObjects(d.Extra, next.Extra)
	}
	d.Context = join(d.Context, next.Context)
	d.Notice = join(d.Notice, next.Notice)
	d.Stdout = join(d.Stdout, next.Stdout)
	d.KeepGoing = d.KeepGoing || next.KeepGoing
	if d.ExitCode == 0 {
		d.ExitCode = next.ExitCode
	}
	d.Degraded = append(d.Degraded[:len(d.Degraded):len(d.Degraded)], next.Degraded...)
}

// mergeReason merges the reasons. A reason belongs to its verdict, so a stronger
// verdict brings its own, even an empty one: a hook's "looks fine" must not become
// the reason of a denial. Reasons that keep an agent going are joined.
func (d *Decision) mergeReason(next *Decision) {
	stronger := next.Verdict.rank() - d.Verdict.rank()
	if d.KeepGoing && next.KeepGoing && stronger == 0 {
		d.Reason = join(d.Reason, next.Reason)
		return
	}
	if stronger > 0 {
		if next.Reason != "" || !d.KeepGoing {
			d.Reason = next.Reason
		}
		return
	}
	if d.Reason == "" && (stronger == 0 || next.KeepGoing) {
		d.Reason = next.Reason
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	if b == "" {
		return a
	}
	return a + "\n" + b
}

// MergeObjects overlays base with the keys of patch. If either isn't an object,
// patch replaces base; an empty patch changes nothing. The order is base's, new
// keys follow in the patch's order, and values keep their bytes.
func MergeObjects(base, patch json.RawMessage) json.RawMessage {
	if len(patch) == 0 {
		return base
	}
	if len(base) == 0 {
		return patch
	}
	merged := members{at: map[string]int{}}
	if !merged.add(base) || !merged.add(patch) {
		return patch
	}
	b := make([]byte, 0, len(base)+len(patch))
	b = append(b, '{')
	for i, key := range merged.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, key), ':')
		b = append(b, merged.values[i]...)
	}
	return append(b, '}')
}

// members are an object's keys and values in order; of a repeated key the last
// value counts, as every JSON reader an agent uses has it.
type members struct {
	keys   []string
	values []json.RawMessage
	at     map[string]int // an agent may send very many keys
}

// add lays an object over what is there; false when it is not an object.
func (m *members) add(object json.RawMessage) bool {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return false
		}
		key, ok := t.(string)
		if !ok {
			return false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return false
		}
		if i, known := m.at[key]; known {
			m.values[i] = value
			continue
		}
		m.at[key] = len(m.keys)
		m.keys, m.values = append(m.keys, key), append(m.values, value)
	}
	if _, err := dec.Token(); err != nil {
		return false
	}
	_, err := dec.Token()
	return err == io.EOF
}
