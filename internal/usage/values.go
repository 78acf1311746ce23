package usage

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// maxCount is more than any model call uses. A larger number is a mistake, or an attempt to make
// sums overflow.
const maxCount = 1 << 40

// maxDollars is the same for what a call cost.
const maxDollars = 1e6

// count reads a number of tokens; 0 for anything else.
func count(v []byte) int64 {
	n, _ := readCount(v)
	return n
}

// count is count, and notes something that should be a number and isn't.
func (o *sink) count(v []byte) int64 {
	n, ok := readCount(v)
	o.odd = o.odd || !ok && string(v) != "null"
	return n
}

func readCount(v []byte) (n int64, ok bool) {
	for _, c := range v {
		if c < '0' || c > '9' {
			f, err := strconv.ParseFloat(string(v), 64)
			if err != nil || f < 0 || f > maxCount || f != f {
				return 0, false
			}
			return int64(f), true
		}
		if n = n*10 + int64(c-'0'); n > maxCount {
			return 0, false
		}
	}
	return n, true
}

// dollars reads an amount; 0 for anything else.
func dollars(v []byte) float64 {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < 0 || f > maxDollars || f != f {
		return 0
	}
	return f
}

// text reads a string, bounded; "" for anything else. Names beyond that are nothing
// an agent writes.
func text(v []byte) string {
	if len(v) > 4096 {
		return ""
	}
	s, _ := jsontext.String(v)
	return s
}

// says reports whether v is a string, however it's written.
func says(v []byte, want string) bool {
	if len(v) == len(want)+2 {
		return v[0] == '"' && string(v[1:len(v)-1]) == want
	}
	return bytes.IndexByte(v, '\\') > 0 && text(v) == want
}

// word is a name, or a number that serves as one; "" for anything else.
func word(v []byte) string {
	if t := text(v); t != "" {
		return t
	}
	if len(v) == 0 || len(v) >= 64 || v[0] == '"' || string(v) == "null" {
		return ""
	}
	return string(v)
}

// again returns text, without a copy if it is the one before.
func again(before string, v []byte) string {
	if len(v) == len(before)+2 && v[0] == '"' && string(v[1:len(v)-1]) == before {
		return before
	}
	return text(v)
}

// moment reads a time: RFC 3339, or a number of seconds or milliseconds.
func moment(v []byte) time.Time {
	if len(v) > 0 && v[0] == '"' {
		var t time.Time
		if t.UnmarshalText(v[1:len(v)-1]) == nil {
			return t
		}
		for _, layout := range []string{time.RFC3339, time.DateTime} {
			if t, err := time.Parse(layout, text(v)); err == nil {
				return t
			}
		}
		return time.Time{}
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f <= 0 || f > 1e17 {
		return time.Time{}
	}
	if f > 1e11 {
		return time.UnixMilli(int64(f))
	}
	return time.Unix(0, int64(f*1e9))
}

// path is where a field is, its keys joined by dots; "" is nowhere.
type path string

func (p path) in(doc []byte) []byte {
	if p == "" || doc == nil {
		return nil
	}
	return jsontext.Get(doc, strings.Split(string(p), ".")...)
}
