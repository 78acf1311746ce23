package tui

import "time"

// pageTime is how long a page of a request stands before the next one can be
// asked for: of a key that repeats faster, no page would reach the screen.
const pageTime = 50 * time.Millisecond

// shown is what of the selected request was on the screen, line by line.
type shown struct {
	hash     string
	width    int
	note     string
	lines    []bool
	drawn    bool      // a frame with it was made
	ended    bool      // a frame was made after all of it was seen
	turned   time.Time // since when this page of it stands
	appeared time.Time // first seen
	complete time.Time // all of it seen; zero: not yet
}

// noteShown takes down which lines of the selected request are on the screen
// now. It runs after each message, with the same layout as the next frame.
func (m *Model) noteShown() {
	r := m.selectedRow()
	if r == nil || r.request == nil || isWindow(r.request) {
		m.shown = shown{}
		return
	}
	if !m.detailVisible() {
		return
	}
	place := m.layout().detail
	body := m.bodyOf(r.request, place.width)
	lines := len(body.lines) // what stands above them is no part of the request
	now := m.opts.Now()
	if m.shown.hash != r.request.SHA256 {
		m.shown = shown{hash: r.request.SHA256, turned: now}
	}
	if m.shown.note != r.request.Note {
		m.shown.note, m.shown.complete, m.shown.lines = r.request.Note, time.Time{}, nil
	}
	if m.shown.appeared.IsZero() && place.height > 0 {
		m.shown.appeared = now
	}
	if m.shown.width != place.width || len(m.shown.lines) != lines {
		m.shown.width, m.shown.lines = place.width, make([]bool, lines)
	}
	m.scroll = min(m.scroll, max(0, headOfRequest+lines-place.height))
	all := !body.tooNarrow
	for i := range lines {
		if at := i + headOfRequest; at >= m.scroll && at < m.scroll+place.height {
			m.shown.lines[i] = true
		}
		all = all && m.shown.lines[i]
	}
	if all && m.shown.complete.IsZero() {
		m.shown.complete = now
	}
}

// noteDrawn starts the clock when the frame is made: where that took long, keys
// pressed meanwhile are older than what they would answer.
func (m *Model) noteDrawn() {
	now := m.opts.Now()
	if !m.shown.drawn && !m.shown.appeared.IsZero() {
		m.shown.drawn, m.shown.appeared = true, now
	}
	if !m.shown.ended && !m.shown.complete.IsZero() {
		m.shown.ended, m.shown.complete = true, now
	}
}

// whyNotYet says why the selected request cannot be answered by a key now; "" when
// it can. Only an approval needs all of the request to have been shown.
func (m *Model) whyNotYet(approval bool) string {
	now := m.opts.Now()
	switch {
	case m.problem != "":
		return "the hub does not answer, so nothing was decided"
	case m.busy:
		return "an answer is on its way"
	case m.shown.appeared.IsZero() || now.Sub(m.shown.appeared) < settleTime:
		return "it has only just appeared; nothing was answered"
	case approval && m.shown.complete.IsZero() && m.body.tooNarrow:
		return "the window is too narrow for all of it"
	case approval && m.shown.complete.IsZero():
		return "there is more of it: space shows the rest; then it can be approved"
	case approval && now.Sub(m.shown.complete) < settleTime:
		return "its end has only just appeared; nothing was answered"
	}
	return ""
}
