package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// reviewerWindows are how much of a record's end is searched for its reviewer, one after the
// other. The row is at the beginning of a turn, so that a long turn may have much after it.
var reviewerWindows = []int64{tailWindow, 8 << 20}

// NamesReviewer reports whether an agent's records say who decides about its
// permission requests.
func NamesReviewer(spec *agent.TranscriptSpec) bool {
	return spec != nil && formats[spec.Format].reviewerKey != ""
}

// NewestReviewer returns who decides about permission requests, from the newest row of a
// session's record that names a reviewer. It reads only a bounded part of the record's end.
// path is what the agent said its record is, or empty. [event.ReviewerUnknown] means that
// nothing was found.
func NewestReviewer(spec *agent.TranscriptSpec, session, path string, env Env) (event.Reviewer, error) {
	if !NamesReviewer(spec) {
		return event.ReviewerUnknown, ErrUnknown
	}
	reader, err := Open(spec, session, path, env)
	if err != nil {
		return event.ReviewerUnknown, err
	}
	return reader.tails[0].newestReviewer()
}

// newestReviewer searches the end of the file for the reviewer.
func (t *Tail) newestReviewer() (event.Reviewer, error) {
	file, err := openRegular(t.path)
	if err != nil {
		return event.ReviewerUnknown, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return event.ReviewerUnknown, errors.Join(err, os.ErrInvalid)
	}
	// It may have become a link since the path was checked.
	if _, err := realPathWithin(t.root, t.path); err != nil {
		return event.ReviewerUnknown, err
	}
	for _, window := range reviewerWindows {
		length := min(window, info.Size())
		end := make([]byte, length)
		n, err := file.ReadAt(end, info.Size()-length)
		if err != nil && !errors.Is(err, io.EOF) {
			return event.ReviewerUnknown, err
		}
		if found := t.lastReviewer(end[:n], length == info.Size()); found != event.ReviewerUnknown {
			return found, nil
		}
		if length == info.Size() {
			break
		}
	}
	return event.ReviewerUnknown, nil
}

// lastReviewer returns the reviewer that the last row of a text names which names
// one. Only whole rows count; fromStart says that the text begins with one.
func (t *Tail) lastReviewer(text []byte, fromStart bool) event.Reviewer {
	key := []byte(t.format.reviewerKey)
	for rest := text[:bytes.LastIndexByte(text, '\n')+1]; ; {
		at := bytes.LastIndex(rest, key)
		if at < 0 {
			return event.ReviewerUnknown
		}
		begin := bytes.LastIndexByte(rest[:at], '\n') + 1
		if begin == 0 && !fromStart {
			return event.ReviewerUnknown // the row began before the text
		}
		row := text[begin:]
		row = bytes.TrimSpace(row[:bytes.IndexByte(row, '\n')])
		found := event.ReviewerUnknown
		if len(row) > 0 && len(row) <= maxRow && row[0] == '{' {
			t.format.row(row, t.session, func(f Fact) {
				if f.Kind == Reviews {
					found = f.Reviewer
				}
			})
		}
		if found != event.ReviewerUnknown {
			return found
		}
		rest = rest[:begin]
	}
}
