// Package timeline reads and writes recorded sessions: what a real agent reported
// and wrote down in one session, in order and with times, and what a person at the
// screen would have said about it at some moments.
//
// A file has a header and one line for each step:
//
//	# a command fails, the next one succeeds
//	agent claude 2.1.325
//	start 2026-11-16T15:24:00Z
//	0.000 event SessionStart {…}
//	0.900 want running
//	1.200 decided PreToolUse deny
//	1.500 line .claude/projects/-p/1.jsonl {…}
//	1.700 file .grok/sessions/1/summary.json {…}
//	2.000 answered
//	3.000 restarted
//	9.000 want done ok failed=1 title="Run it"
//
// In payloads and lines {base} stands for the folder that holds home and project.
// decided is what hookmux answered to the event before it of that name; answered
// says that signs outside of hooks and records showed an answer in the agent's own
// window; restarted, that another process of the agent has the session from here on.
// A want names the status (several with | between them where a person could
// say either), then how the last turn went (none: it goes on), counts, whether the
// session is ended or open, the title and the agent's final message, as far as they are
// known.
package timeline

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Recording is one session.
type Recording struct {
	About   string
	Agent   string
	Version string
	Start   time.Time
	Steps   []Step
}

// The kinds of steps.
const (
	Event     = "event"
	Line      = "line"
	File      = "file"
	Decided   = "decided"
	Answered  = "answered"
	Restarted = "restarted"
	Wants     = "want"
)

// Step is one thing that happened, or one expectation.
type Step struct {
	After time.Duration // since the start
	Kind  string
	Name  string // of the event, or path of the record below the home
	Text  string // payload, line or verdict
	Want  Want
}

// Want says how a person would describe the session.
type Want struct {
	Status []string // one of these
	Result []string // one of these; none: not said
	Failed int      // calls that failed; -1: not said
	Denied int      // calls that were refused; -1: not said
	Turns  int      // -1: not said
	Title  []string // one of these; none: not said
	Ended  bool
	Open   bool
	Says   string // the agent's final message; empty: not said
}

// NewWant returns a want that says nothing but the status.
func NewWant(status string) Want {
	return Want{Status: strings.Split(status, "|"), Failed: -1, Denied: -1, Turns: -1}
}

// String returns the want as it stands in a file.
func (w Want) String() string {
	words := []string{strings.Join(w.Status, "|")}
	if len(w.Result) > 0 {
		words = append(words, strings.Join(w.Result, "|"))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"failed", w.Failed}, {"denied", w.Denied}, {"turns", w.Turns}} {
		if n.value >= 0 {
			words = append(words, n.name+"="+strconv.Itoa(n.value))
		}
	}
	if w.Ended {
		words = append(words, "ended")
	}
	if w.Open {
		words = append(words, "open")
	}
	for _, title := range w.Title {
		words = append(words, "title="+strconv.Quote(title))
	}
	if w.Says != "" {
		words = append(words, "says="+strconv.Quote(w.Says))
	}
	return strings.Join(words, " ")
}

func parseWant(text string) (Want, error) {
	status, rest, _ := strings.Cut(text, " ")
	w := NewWant(status)
	for rest != "" {
		name, quoted, _ := strings.Cut(rest, "=")
		if name == "title" || name == "says" {
			q, err := strconv.QuotedPrefix(quoted)
			if err != nil {
				return w, fmt.Errorf("%s in %q: %w", name, text, err)
			}
			words, _ := strconv.Unquote(q)
			if name == "title" {
				w.Title = append(w.Title, words)
			} else {
				w.Says = words
			}
			rest = strings.TrimSpace(quoted[len(q):])
			continue
		}
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		name, value, counted := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		switch {
		case counted && err == nil && name == "failed":
			w.Failed = n
		case counted && err == nil && name == "denied":
			w.Denied = n
		case counted && err == nil && name == "turns":
			w.Turns = n
		case word == "ended":
			w.Ended = true
		case word == "open":
			w.Open = true
		case !counted:
			w.Result = strings.Split(word, "|")
		default:
			return w, fmt.Errorf("%q in %q says nothing", word, text)
		}
	}
	return w, nil
}

// Format returns the recording as a file.
func (r *Recording) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\nagent %s %s\nstart %s\n", r.About, r.Agent, r.Version,
		r.Start.UTC().Format(time.RFC3339Nano))
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%.3f %s", s.After.Seconds(), s.Kind)
		if s.Kind == Wants {
			fmt.Fprintf(&b, " %s\n", s.Want)
			continue
		}
		if s.Name != "" {
			b.WriteString(" " + s.Name)
		}
		if s.Text != "" {
			b.WriteString(" " + s.Text)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Parse reads a file.
func Parse(data []byte) (*Recording, error) {
	r := &Recording{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		if err := r.parseLine(lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if r.Agent == "" || r.Start.IsZero() || len(r.Steps) == 0 {
		return nil, fmt.Errorf("a recording names its agent and start, and has steps")
	}
	return r, nil
}

func (r *Recording) parseLine(line string) (err error) {
	head, rest, _ := strings.Cut(line, " ")
	switch head {
	case "":
		return nil
	case "#":
		r.About = rest
		return nil
	case "agent":
		r.Agent, r.Version, _ = strings.Cut(rest, " ")
		return nil
	case "start":
		r.Start, err = time.Parse(time.RFC3339Nano, rest)
		return err
	}
	seconds, err := strconv.ParseFloat(head, 64)
	if err != nil {
		return fmt.Errorf("%q is no time", head)
	}
	s := Step{After: time.Duration(seconds * float64(time.Second))}
	s.Kind, rest, _ = strings.Cut(rest, " ")
	switch s.Kind {
	case Wants:
		s.Want, err = parseWant(rest)
	case Event, Line, File, Decided:
		s.Name, s.Text, _ = strings.Cut(rest, " ")
	case Answered, Restarted:
	default:
		err = fmt.Errorf("there is no step %q", s.Kind)
	}
	r.Steps = append(r.Steps, s)
	return err
}

// Expect puts the wants of a file that holds nothing else in the place of the recording's
// own, each after what happened until then.
func (r *Recording) Expect(data []byte) error {
	wants := &Recording{}
	for n, line := range strings.Split(string(data), "\n") {
		if err := wants.parseLine(line); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	r.Steps = slices.DeleteFunc(r.Steps, func(s Step) bool { return s.Kind == Wants })
	for _, want := range wants.Steps {
		if want.Kind != Wants {
			return fmt.Errorf("%s after %.3f s is no want", want.Kind, want.After.Seconds())
		}
	}
	if len(wants.Steps) == 0 {
		return fmt.Errorf("nothing is wanted")
	}
	r.Steps = append(r.Steps, wants.Steps...)
	slices.SortStableFunc(r.Steps, func(a, b Step) int { return cmp.Compare(a.After, b.After) })
	return nil
}

// Check compares a want with what hookmux says; the result is empty when it is so.
func (w Want) Check(got Reported) string {
	var wrong []string
	differs := func(what string, is any, want any) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, a person would say %v", what, is, want))
	}
	if !contains(w.Status, got.Status) {
		differs("status", got.Status, strings.Join(w.Status, " or "))
	}
	if got.Result == "" {
		got.Result = "none"
	}
	if len(w.Result) > 0 && !contains(w.Result, got.Result) {
		differs("result", got.Result, strings.Join(w.Result, " or "))
	}
	if w.Failed >= 0 && w.Failed != got.Failed {
		differs("the number of failed calls", got.Failed, w.Failed)
	}
	if w.Denied >= 0 && w.Denied != got.Denied {
		differs("the number of denied calls", got.Denied, w.Denied)
	}
	if w.Turns >= 0 && w.Turns != got.Turns {
		differs("the number of turns", got.Turns, w.Turns)
	}
	if len(w.Title) > 0 && !contains(w.Title, got.Title) {
		differs("the title", strconv.Quote(got.Title), w.Title)
	}
	if w.Ended && !got.Ended {
		differs("the session", "open", "ended")
	}
	if w.Open && got.Ended {
		differs("the session", "ended", "open")
	}
	if w.Says != "" && w.Says != got.Says {
		differs("the agent's final message", strconv.Quote(got.Says), strconv.Quote(w.Says))
	}
	return strings.Join(wrong, "; ")
}

// Reported says how hookmux describes a session.
type Reported struct {
	Status, Result, Title, Says string
	Failed, Denied, Turns       int
	Ended                       bool
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}
