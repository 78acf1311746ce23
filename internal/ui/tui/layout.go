package tui

// area is a part of the screen.
type area struct{ left, top, width, height int }

func (a area) contains(x, y int) bool {
	return x >= a.left && x < a.left+a.width && y >= a.top && y < a.top+a.height
}

// areas are the parts of the screen: the head line, the list, the details, and
// two lines at the bottom for what happened and for the keys.
type areas struct {
	list, detail area
	side         bool // the details stand beside the list
}

// sideBySide is the width from which the details stand beside the list.
const sideBySide = 100

// headHeight is how many lines the head takes: none on a very small screen.
func (m *Model) headHeight() int {
	if m.height < 8 {
		return 0
	}
	return 2
}

// bodyHeight is how many lines are left between the head and the two at the bottom.
func (m *Model) bodyHeight() int { return max(m.height-m.headHeight()-2, 0) }

// layout is where things really stand on the screen: what has no line in it is
// not seen. Where both do not fit, the details have the screen.
func (m *Model) layout() areas {
	top, height := m.headHeight(), m.bodyHeight()
	if m.width >= sideBySide {
		left := min(max(m.width*2/5, 40), 70)
		return areas{side: true, list: area{0, top, left, height},
			detail: area{left + 3, top, max(m.width-left-3, 10), height}}
	}
	if height < 7 {
		return areas{detail: area{0, top, m.width, height}}
	}
	list := min(max(len(m.list.lines), 1), max(height*2/5, 3))
	return areas{list: area{0, top, m.width, list}, detail: area{0, top + list + 1, m.width, height - list - 1}}
}

// detailVisible reports whether the details of the selected row are on the screen.
func (m *Model) detailVisible() bool {
	return m.width > 0 && m.height > 0 && m.form == nil && (m.mode == modeList || m.mode == modeTyping)
}
