package transcript

import (
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// maxText is how much of a text a fact carries.
const maxText = 16 << 10

// textAt returns the string at a path of keys; empty when there is none.
func textAt(doc []byte, keys ...string) string {
	s, _ := jsontext.String(jsontext.Get(doc, keys...))
	return termsafe.CutBytes(s, maxText)
}

// isWord reports whether the value at a path of keys is this word.
func isWord(doc []byte, word string, keys ...string) bool {
	return string(jsontext.Get(doc, keys...)) == word
}

// numberAt returns the integer at a path of keys.
func numberAt(doc []byte, keys ...string) (int, bool) {
	n, err := strconv.Atoi(string(jsontext.Get(doc, keys...)))
	return n, err == nil
}

// timeAt returns the time a row says it was written.
func timeAt(doc []byte, keys ...string) time.Time {
	v := jsontext.Get(doc, keys...)
	if s, ok := jsontext.String(v); ok {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return time.Time{}
		}
		return at
	}
	// Some write milliseconds, some seconds with a fraction.
	n, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil || n < 1e9 || n > 1e15:
		return time.Time{}
	case n > 1e11:
		return time.UnixMilli(int64(n)).UTC()
	}
	return time.UnixMicro(int64(n * 1e6)).UTC()
}

// boundedCopy returns an input as a fact keeps it: a copy, or nothing when it is huge.
func boundedCopy(v []byte) []byte {
	if len(v) == 0 || len(v) > maxText {
		return nil
	}
	return append([]byte(nil), v...)
}

// contentText returns the text of a message's content: a string, or a list of parts of
// which those with text count.
func contentText(content []byte) string {
	if s, ok := jsontext.String(content); ok {
		return termsafe.CutBytes(s, maxText)
	}
	if !jsontext.IsArray(content) {
		return ""
	}
	var b strings.Builder
	_ = jsontext.Array(content, func(part []byte) bool {
		s, ok := jsontext.String(part)
		if !ok {
			switch kind := textAt(part, "type"); kind {
			case "", "text", "input_text", "output_text", "Text":
				s, ok = jsontext.String(jsontext.Get(part, "text"))
			}
		}
		if ok && s != "" && !isWord(part, "true", "thought") {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(termsafe.CutBytes(s, maxText))
		}
		return b.Len() < maxText
	})
	return termsafe.CutBytes(b.String(), maxText)
}

// emitText emits a text unless there is none.
func emitText(emit func(Fact), f Fact) {
	if strings.TrimSpace(f.Text) != "" {
		emit(f)
	}
}
