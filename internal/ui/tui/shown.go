package tui

import "time"

// shown keeps track of which part of a text was on the screen, line by line. The screen is
// drawn every frameTime: what was there for a shorter time may never have been drawn, and
// isn't counted.
type shown struct {
	hash     string
	note     string
	width    int
	lines    []bool
	unseen   int       // how many of them were not on the screen yet
	next     int       // the first of these
	narrow   bool      // a character is wider than the screen
	window   window    // what is there now
	drawn    bool      // a frame with it was made
	appeared time.Time // first seen
	complete time.Time // since when all of it was seen; zero: not yet
}

// window is the lines from first to before last, which are on the screen.
type window struct {
	first, last int
	since       time.Time
	drawn       bool // a frame with them was made
}

// noteText starts over if the text is a different one.
func (s *shown) noteText(hash, note string) {
	if s.hash != hash {
		*s = shown{hash: hash, note: note}
	}
	if s.note != note {
		s.note, s.complete, s.lines = note, time.Time{}, nil
	}
}

// noteLines records that the lines from first to before last are on the screen from now on.
// It returns false if the text was wrapped again before all of it was read.
func (s *shown) noteLines(b *body, first, last int, now time.Time) bool {
	again := false
	if s.width != b.width || len(s.lines) != len(b.lines) {
		again = s.lines != nil && s.complete.IsZero()
		s.width, s.lines, s.unseen, s.next = b.width, make([]bool, len(b.lines)), len(b.lines), 0
		s.window = window{}
	}
	s.narrow = b.tooNarrow
	first, last = max(first, 0), min(last, len(b.lines))
	s.noteTime(now)
	if s.window.first != first || s.window.last != last || s.window.since.IsZero() {
		s.window = window{first: first, last: last, since: now}
	}
	return !again
}

// noteTime marks what is on the screen as seen once it was surely drawn.
func (s *shown) noteTime(now time.Time) {
	w := &s.window
	if !w.drawn || now.Sub(w.since) < frameTime {
		return
	}
	for i := w.first; i < w.last; i++ {
		if !s.lines[i] {
			s.lines[i] = true
			s.unseen--
		}
	}
	for s.next < len(s.lines) && s.lines[s.next] {
		s.next++
	}
	if s.unseen == 0 && !s.narrow && s.complete.IsZero() {
		s.complete = w.since
	}
}

// noteHidden records that something else covers the text from now on: the time until it is
// back isn't counted.
func (s *shown) noteHidden(now time.Time) {
	s.noteTime(now)
	s.window = window{}
	if now.Sub(s.appeared) < frameTime {
		s.drawn, s.appeared = false, time.Time{} // it may never have been drawn
	}
}

// noteFrame starts the clock when the frame is made: if that took long, keys pressed in the
// meantime are older than what they would answer.
func (s *shown) noteFrame(now time.Time) {
	if !s.drawn && !s.appeared.IsZero() {
		s.drawn, s.appeared = true, now
	}
	if !s.window.drawn && !s.window.since.IsZero() {
		s.window.drawn, s.window.since = true, now
	}
}

// unread returns how many lines are neither on the screen now nor were before.
func (s *shown) unread() int {
	n := s.unseen
	for i := s.window.first; i < s.window.last && i < len(s.lines); i++ {
		if !s.lines[i] {
			n--
		}
	}
	return max(n, 0)
}

// furthest returns the first line that may be at the top: you can't scroll past what wasn't
// drawn.
func (s *shown) furthest(now time.Time) int {
	s.noteTime(now)
	return s.next
}

// whyNotYet says why a key isn't accepted yet; "" if it is. Only an approval needs all of the
// text to have been shown.
func (s *shown) whyNotYet(approval bool, now time.Time) string {
	s.noteTime(now)
	switch {
	case s.appeared.IsZero() || now.Sub(s.appeared) < settleTime:
		return "Too soon after it came on the screen, so nothing was answered. Press the key again."
	case approval && s.complete.IsZero() && s.narrow:
		return "The window is too narrow to show all of it."
	case approval && s.complete.IsZero() && s.next < s.window.first:
		return "You haven't seen all of it: b goes back. Then you can approve it."
	case approval && s.complete.IsZero() && s.window.last < len(s.lines):
		return "More to read below: Space, then a."
	case approval && (s.complete.IsZero() || now.Sub(s.complete) < settleTime):
		return "Too soon after its end came on the screen, so nothing was answered. Press the key again."
	}
	return ""
}

// noteShown records which lines of the selected request are on the screen now. It runs after
// each message, with the same layout as the next frame.
func (m *Model) noteShown() {
	now := m.opts.Now()
	if m.batch != nil {
		if m.mode == modeBatch {
			m.shown.noteHidden(now)
			m.batch.noteShown(m)
			return
		}
		m.batch.shown.noteHidden(now)
	}
	r := m.selectedRow()
	if r == nil || r.request == nil || !r.request.Answerable() {
		m.shown = shown{}
		return
	}
	if !m.detailVisible() {
		m.shown.noteHidden(now)
		return
	}
	place := m.layout().detail
	body := m.bodyOf(r.request, place.width)
	m.shown.noteText(r.request.SHA256, r.request.Note)
	if m.shown.appeared.IsZero() && place.height > 0 {
		m.shown.appeared = now
	}
	// What is above the text isn't part of it.
	page := m.page(place.width)
	m.scroll = min(m.scroll, max(0, page.length()-place.height))
	first := m.scroll - len(page.head)
	if !m.shown.noteLines(body, first, first+place.height, now) {
		m.scroll = 0 // it is read from the beginning
		m.shown.noteLines(body, -len(page.head), place.height-len(page.head), now)
	}
}

// noteDrawn is called for each frame that was made.
func (m *Model) noteDrawn() {
	if m.batch != nil && m.mode == modeBatch {
		m.batch.shown.noteFrame(m.opts.Now())
		return
	}
	m.shown.noteFrame(m.opts.Now())
}

// whyNotYet says why the selected request cannot be answered by a key now; "" when
// it can.
func (m *Model) whyNotYet(approval bool) string {
	switch {
	case m.problem != "":
		return silentText
	case m.busy:
		return "An answer is on its way."
	}
	if why := m.shown.whyNotYet(approval, m.keyAt); why != "" {
		return why
	}
	if m.pressed.held {
		return heldText
	}
	return ""
}

const silentText = "The daemon doesn't answer, so nothing was decided."
