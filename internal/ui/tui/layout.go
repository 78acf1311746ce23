package tui

// area is a part of the screen.
type area struct{ left, top, width, height int }

func (a area) contains(x, y int) bool {
	return x >= a.left && x < a.left+a.width && y >= a.top && y < a.top+a.height
}

// areas are the parts of the screen between the head and the lines at the bottom: the
// list, the details, and on a wide screen what else is known.
type areas struct {
	list, detail, aside area
	side                bool // they are beside each other; the details and what's beside them have frames
}

// The widths from which the details are next to the list, and what else is known next to
// them.
const (
	sideBySide  = 100
	threeColumn = 180
)

// smallScreen is the height below which the head has no lines but its bars.
const smallScreen = 8

// tallScreen is the height from which there is room for an empty line below the head, and
// for rows of several lines.
const tallScreen = 30

// headHeight returns how many lines the head takes.
func (m *Model) headHeight() int {
	bars := len(frame{m}.bars())
	switch {
	case m.height < smallScreen:
		return min(bars, max(m.height-4, 0))
	case m.height >= tallScreen:
		return 2 + bars
	}
	return 1 + bars
}

// bottomHeight returns how many lines the message and the keys take.
func (m *Model) bottomHeight() int { return len(frame{m}.statusLines()) + 1 }

// bodyHeight returns how many lines are left between the head and the bottom.
func (m *Model) bodyHeight() int { return max(m.height-m.headHeight()-m.bottomHeight(), 0) }

// layout returns where everything is on the screen: what has no line in it isn't seen. If both
// don't fit, the details get the screen.
func (m *Model) layout() areas {
	top, height := m.headHeight(), m.bodyHeight()
	switch {
	case m.opts.Sidebar:
		return areas{list: area{0, top, m.width, height}}
	case m.isSideBySide():
		return m.panels(top, height)
	case height < 7:
		return areas{detail: m.detailBelow(top+1, max(height-1, 0))}
	}
	// A long message takes its lines from the details, so that the list stays where it is.
	list := min(m.listHeight(m.height-m.headHeight()-2), height-3)
	detail := m.detailBelow(top+list+1, height-list-1)
	return areas{list: area{0, top, detail.left + detail.width, list}, detail: detail}
}

func (m *Model) isSideBySide() bool {
	return !m.opts.Sidebar && m.width >= sideBySide && m.height >= smallScreen
}

// listHeight returns how many lines of room a list above the details gets: one of two heights,
// so that it doesn't move with every session that starts or ends.
func (m *Model) listHeight(room int) int {
	most := max(room*2/5, 4)
	if r := m.selectedRow(); r != nil && r.request != nil && m.width > 0 { // the request is what must fit
		width := m.detailBelow(0, 0).width
		if need := len(effectLines(r.request, width)) + len(m.bodyOf(r.request, width).lines) + 2; need > room-most {
			return max(room-need, 4)
		}
	}
	if few := min(max(most/2, 4), most); len(m.list.lines) <= few {
		return few
	}
	return most
}

// detailBelow are lines of the details without a frame, with some air at the sides.
func (m *Model) detailBelow(top, height int) area {
	if !m.hasAir() {
		return area{0, top, m.width, height}
	}
	return area{1, top, m.width - 2, height}
}

// hasAir reports whether there is room for an empty column at both edges.
func (m *Model) hasAir() bool { return m.width >= 60 && !m.opts.Sidebar }

// panels returns the list and the insides of the frames next to it.
func (m *Model) panels(top, height int) areas {
	list, aside := min(max(m.width*35/100, 35), 46), 0
	if m.width >= threeColumn {
		aside = min(max(m.width*27/100, 50), 70)
	}
	inside := max(height-2, 0)
	place := areas{side: true, list: area{0, top, list, height},
		detail: area{list + 2, top + 1, m.width - list - 4, inside}}
	if aside > 0 {
		place.detail.width -= aside + 1
		place.aside = area{m.width - aside + 2, top + 1, aside - 4, inside}
	}
	return place
}

// detailVisible reports whether the details of the selected row are on the screen, with
// nothing above them.
func (m *Model) detailVisible() bool {
	return m.width > 0 && m.height > 0 && !m.opts.Sidebar && (m.mode == modeList || m.mode == modeTyping && m.typing.inline)
}

// room is the inside of a popup. If a frame around it would leave too little, it is the whole
// body.
type room struct {
	area
	framed bool
}

// widestPopup is how wide a popup gets with its frame. It fills a narrower screen, so that no
// letters are left next to it.
const widestPopup = 100

// lowRoom returns the inside of a popup below the selected request: over its last steps, else at
// the bottom.
func (m *Model) lowRoom() room {
	place, in := m.layout(), m.popupRoom()
	if !place.side || m.pendingRequest() == nil {
		return in
	}
	page := m.page(place.detail.width)
	end := min(len(page.head)+len(page.body.lines)+lowHeight, place.detail.height)
	return room{area{place.detail.left + 1, place.detail.top + 1, place.detail.width - 2, max(end-2, 1)}, true}
}

// lowHeight is how many lines a popup below a request takes with its frame.
const lowHeight = 6

// popupRoom returns the largest inside of a popup.
func (m *Model) popupRoom() room {
	body := area{0, m.headHeight(), m.width, m.bodyHeight()}
	if m.width < 50 || body.height < 10 {
		return room{area: body}
	}
	width := min(m.width, widestPopup) - 4
	return room{area{(m.width - width) / 2, body.top + 1, width, body.height - 2}, true}
}
