package redact

// finder returns the secrets of one text in order. It keeps what it found
// beyond the last answer, so that no part is searched twice.
type finder struct {
	s      string
	mem    *Memory
	dotenv bool // s belongs to the content of a .env file
	found  [searches + len(phrases)]foundSpan
}

// searches is how many searches there are in addition to those for phrases.
const searches = 4

type foundSpan struct {
	state int
	sp    span
}

const (
	unsearched = iota
	exhausted
	pending
)

// next returns the first secret from index from on.
func (f *finder) next(from int) (first span, ok bool) {
	for i := range f.found {
		one := &f.found[i]
		if one.state == unsearched || one.state == pending && one.sp.start < from {
			one.search(f, i, from)
		}
		if one.state != pending {
			continue
		}
		if !ok || one.sp.start < first.start || one.sp.start == first.start && one.sp.end > first.end {
			first, ok = one.sp, true
		}
	}
	return first, ok
}

func (one *foundSpan) search(f *finder, way, from int) {
	var ok bool
	switch way {
	case 0:
		one.sp, ok = nextAnchored(f.s, from)
	case 1:
		one.sp, ok = nextInWords(f.s, from, f.mem, true)
	case 2:
		one.sp, ok = nextPasswordWord(f.s, from)
	case 3:
		if one.state == unsearched && !f.dotenv {
			f.dotenv = namesDotenv(f.s)
		}
		if f.dotenv {
			one.sp, ok = nextDotenv(f.s, from)
		}
	default:
		one.sp, ok = nextPlaced(&phrases[way-searches], f.s, from)
	}
	one.state = exhausted
	if ok {
		one.state = pending
	}
}
