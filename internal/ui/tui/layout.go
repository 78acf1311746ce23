package tui

// area is a part of the screen.
type area struct{ left, top, width, height int }

func (a area) contains(x, y int) bool {
	return x >= a.left && x < a.left+a.width && y >= a.top && y < a.top+a.height
}

// areas are the parts of the screen between the head and the lines at the bottom: the
// list, the details, and on a wide screen what the session did.
type areas struct {
	list, detail, aside area
	side                bool // they are panels beside each other
}

// The widths from which the details are beside the list, and what the session did
// beside them.
const (
	sideBySide  = 100
	threeColumn = 180
)

// smallScreen is the height below which the head has no lines but its bars.
const smallScreen = 8

// headHeight is how many lines the head takes.
func (m *Model) headHeight() int {
	bars := len(frame{m}.bars())
	if m.height < smallScreen {
		return min(bars, max(m.height-4, 0))
	}
	return 2 + bars
}

// bottomHeight is how many lines the status and the keys take.
func (m *Model) bottomHeight() int { return len(frame{m}.statusLines()) + 1 }

// bodyHeight is how many lines are left between the head and the bottom.
func (m *Model) bodyHeight() int { return max(m.height-m.headHeight()-m.bottomHeight(), 0) }

// layout is where everything is on the screen: what has no line in it isn't seen. Where
// both don't fit, the details get the screen.
func (m *Model) layout() areas {
	top, height := m.headHeight(), m.bodyHeight()
	switch {
	case m.opts.Sidebar:
		return areas{list: area{0, top, m.width, height}}
	case m.width >= sideBySide && m.height >= smallScreen:
		return m.panels(top, max(height-1, 0)) // the last line is their lower edge
	case height < 7:
		return areas{detail: m.detailBelow(top, height)}
	}
	list := min(max(len(m.list.lines), 1), max(height*2/5, 3))
	detail := m.detailBelow(top+list+1, height-list-1)
	return areas{list: area{0, top, detail.left + detail.width, list}, detail: detail}
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

// panels are the insides of the panels that are beside each other.
func (m *Model) panels(top, height int) areas {
	list, aside := min(max(m.width*2/5, 40), 76), 0
	if m.width >= threeColumn {
		list, aside = min(m.width*3/10, 64), min(m.width*3/10, 64)
	}
	place := areas{side: true, list: area{1, top, list - 3, height},
		detail: area{list + 2, top, max(m.width-list-aside-4, 10), height}}
	if aside > 0 {
		place.aside = area{m.width - aside + 2, top, aside - 4, height}
	}
	return place
}

// detailVisible reports whether the details of the selected row are on the screen, with
// nothing above them.
func (m *Model) detailVisible() bool {
	return m.width > 0 && m.height > 0 && !m.opts.Sidebar && (m.mode == modeList || m.mode == modeTyping && m.typing.inline)
}

// room is the inside of a popup. Where a frame around it would leave too little, it is
// the whole body.
type room struct {
	area
	framed bool
}

// widestPopup is how wide a popup gets with its frame. A narrower screen it fills, so that
// no letters are left beside it.
const widestPopup = 100

// popupRoom is the largest inside of a popup.
func (m *Model) popupRoom() room {
	body := area{0, m.headHeight(), m.width, m.bodyHeight()}
	if m.width < 50 || body.height < 10 {
		return room{area: body}
	}
	width := min(m.width, widestPopup) - 4
	return room{area{(m.width - width) / 2, body.top + 1, width, body.height - 2}, true}
}
