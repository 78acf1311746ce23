package tui

import "time"

// pageTime is how long a page of a request stands before the next one can be
// asked for: of a key that repeats faster, no page would reach the screen.
const pageTime = 50 * time.Millisecond

// shown is what of a text was on the screen, line by line.
type shown struct {
	hash     string
	note     string
	width    int
	lines    []bool
	unseen   int       // how many of them were not on the screen yet
	narrow   bool      // a character is wider than the screen
	drawn    bool      // a frame with it was made
	ended    bool      // a frame was made after all of it was seen
	turned   time.Time // since when this page of it stands
	appeared time.Time // first seen
	complete time.Time // all of it seen; zero: not yet
}

// noteText begins anew when the text is another one.
func (s *shown) noteText(hash, note string, now time.Time) {
	if s.hash != hash {
		*s = shown{hash: hash, note: note, turned: now}
	}
	if s.note != note {
		s.note, s.complete, s.ended, s.lines = note, time.Time{}, false, nil
	}
}

// noteLines takes down that lines from first to before last are on the screen.
func (s *shown) noteLines(b *body, first, last int, now time.Time) {
	if s.width != b.width || len(s.lines) != len(b.lines) {
		s.width, s.lines, s.unseen = b.width, make([]bool, len(b.lines)), len(b.lines)
	}
	s.narrow = b.tooNarrow
	for i := max(first, 0); i < min(last, len(b.lines)); i++ {
		if !s.lines[i] {
			s.lines[i] = true
			s.unseen--
		}
	}
	if s.unseen == 0 && !s.narrow && s.complete.IsZero() {
		s.complete = now
	}
}

// noteFrame starts the clock when the frame is made: where that took long, keys
// pressed meanwhile are older than what they would answer.
func (s *shown) noteFrame(now time.Time) {
	if !s.drawn && !s.appeared.IsZero() {
		s.drawn, s.appeared = true, now
	}
	if !s.ended && !s.complete.IsZero() {
		s.ended, s.complete = true, now
	}
}

// whyNotYet says why a key does not count yet; "" when it does. Only an approval
// needs all of the text to have been shown.
func (s *shown) whyNotYet(approval bool, now time.Time) string {
	switch {
	case s.appeared.IsZero() || now.Sub(s.appeared) < settleTime:
		return "it has only just appeared; nothing was answered"
	case approval && s.complete.IsZero() && s.narrow:
		return "the window is too narrow for all of it"
	case approval && s.complete.IsZero():
		return "there is more of it: space shows the rest; then it can be approved"
	case approval && now.Sub(s.complete) < settleTime:
		return "its end has only just appeared; nothing was answered"
	}
	return ""
}

// noteShown takes down which lines of the selected request are on the screen
// now. It runs after each message, with the same layout as the next frame.
func (m *Model) noteShown() {
	if m.batch != nil && m.mode == modeBatch {
		m.batch.noteShown(m)
		return
	}
	r := m.selectedRow()
	if r == nil || r.request == nil || isWindow(r.request) {
		m.shown = shown{}
		return
	}
	if !m.detailVisible() {
		return
	}
	place, now := m.layout().detail, m.opts.Now()
	body := m.bodyOf(r.request, place.width)
	m.shown.noteText(r.request.SHA256, r.request.Note, now)
	if m.shown.appeared.IsZero() && place.height > 0 {
		m.shown.appeared = now
	}
	// What stands above the text is no part of it.
	m.scroll = min(m.scroll, max(0, m.page(place.width).length()-place.height))
	first := m.scroll - headOfRequest
	m.shown.noteLines(body, first, first+place.height, now)
}

// noteDrawn is told of each frame that was made.
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
		return "an answer is on its way"
	}
	return m.shown.whyNotYet(approval, m.opts.Now())
}

const silentText = "the hub does not answer, so nothing was decided"
