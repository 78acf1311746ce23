package frame

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// ParseHeader reads the header line of a request and returns how many bytes of payload and
// environment follow.
func ParseHeader(line []byte) (r Request, payload, env int, err error) {
	p := parser{in: line}
	var deadline int64
	p.object(func(key []byte) {
		switch string(key) {
		case "v":
			r.V = int(p.integer(math.MaxInt32))
		case "id":
			r.ID = p.text()
		case "seq":
			r.Seq = uint64(p.integer(math.MaxInt64))
		case "agent":
			r.Agent = p.text()
		case "event":
			r.Event = p.text()
		case "deadline":
			deadline = p.integer(math.MaxInt64 / int64(time.Millisecond))
		case "cwd":
			r.Cwd = p.text()
		case "ver":
			r.Version = p.text()
		case "truncated":
			r.Truncated = p.boolean()
		case "waits":
			r.Waits = p.boolean()
		case "inner":
			r.Inner = p.boolean()
		case "payload":
			payload = int(p.integer(math.MaxInt32))
		case "env":
			env = int(p.integer(math.MaxInt32))
		default:
			p.skip(0)
		}
	})
	p.end()
	switch {
	case p.err != nil:
		return Request{}, 0, 0, p.err
	case r.V > Version:
		return Request{}, 0, 0, ErrVersion
	case r.V < 1:
		return Request{}, 0, 0, errors.New(`frame: header has no version, expected "v":1`)
	case r.ID == "":
		return Request{}, 0, 0, errors.New("frame: header has no id")
	case len(r.ID) > 128:
		return Request{}, 0, 0, errors.New("frame: id is longer than 128 bytes")
	case r.Agent == "":
		return Request{}, 0, 0, errors.New("frame: header has no agent")
	}
	r.Deadline = time.Duration(deadline) * time.Millisecond
	return r, payload, env, nil
}

// ParseReply reads the header line of a reply and returns how many bytes of stdout and stderr follow.
func ParseReply(line []byte) (r Reply, stdout, stderr int, err error) {
	p := parser{in: line}
	p.object(func(key []byte) {
		switch string(key) {
		case "id":
			r.ID = p.text()
		case "exit":
			r.Exit = int(p.integer(255))
		case "stdout":
			stdout = int(p.integer(math.MaxInt32))
		case "stderr":
			stderr = int(p.integer(math.MaxInt32))
		case "verdict":
			r.Verdict = p.text()
		case "reason":
			r.Reason = p.text()
		default:
			p.skip(0)
		}
	})
	p.end()
	if p.err != nil {
		return Reply{}, 0, 0, p.err
	}
	if r.ID == "" {
		return Reply{}, 0, 0, errors.New("frame: reply has no id")
	}
	return r, stdout, stderr, nil
}

// parser walks one JSON text. After the first error every step does nothing,
// so that callers need to look only once, at the end.
type parser struct {
	in  []byte
	pos int
	err error
}

// maxDepth bounds how deep a value of an unknown key may nest.
const maxDepth = 32

func (p *parser) fail(what string) {
	if p.err == nil {
		p.err = errors.New("frame: header byte " + strconv.Itoa(p.pos) + ": " + what)
		p.pos = len(p.in)
	}
}

// next returns the first byte after white space, or 0 at the end.
func (p *parser) next() byte {
	for ; p.pos < len(p.in); p.pos++ {
		switch c := p.in[p.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// takeByte steps over c or fails.
func (p *parser) takeByte(c byte) bool {
	if p.next() != c || p.err != nil {
		p.fail("expected " + string(rune(c)))
		return false
	}
	p.pos++
	return true
}

func (p *parser) end() {
	if p.err == nil && p.pos < len(p.in) && p.next() != 0 {
		p.fail("something follows the closing brace")
	}
	if p.err == nil && p.pos < len(p.in) {
		p.fail("a NUL byte follows the closing brace")
	}
}

func (p *parser) object(value func(key []byte)) {
	if !p.takeByte('{') {
		return
	}
	if p.next() == '}' {
		p.pos++
		return
	}
	var room [32]byte
	for {
		key := p.str(room[:0])
		if !p.takeByte(':') {
			return
		}
		value(key)
		switch {
		case p.err != nil:
			return
		case p.next() == ',':
			p.pos++
		default:
			p.takeByte('}')
			return
		}
	}
}

func (p *parser) text() string {
	var room [128]byte
	return string(p.str(room[:0]))
}

// str reads a string. Without escapes the result points into the input, with
// them it is built in dst.
func (p *parser) str(dst []byte) []byte {
	if !p.takeByte('"') {
		return nil
	}
	start := p.pos
	for p.pos < len(p.in) {
		switch c := p.in[p.pos]; {
		case c == '"':
			s := p.in[start:p.pos]
			p.pos++
			return s
		case c == '\\':
			return p.escaped(append(dst, p.in[start:p.pos]...))
		case c < 0x20:
			p.fail("raw control character in a string")
			return nil
		}
		p.pos++
	}
	p.fail("string has no end")
	return nil
}

// escaped reads the rest of a string that has escapes.
func (p *parser) escaped(dst []byte) []byte {
	start := p.pos
	for p.pos < len(p.in) {
		c := p.in[p.pos]
		p.pos++
		switch {
		case c == '"':
			return jsontext.AppendUnescaped(dst, p.in[start:p.pos-1])
		case c < 0x20:
			p.fail("raw control character in a string")
			return nil
		case c == '\\' && p.pos < len(p.in) && !p.passEscape():
			return nil
		}
	}
	p.fail("string has no end")
	return nil
}

// passEscape skips what follows a backslash; it returns false if that is no escape.
func (p *parser) passEscape() bool {
	c := p.in[p.pos]
	p.pos++
	switch {
	case c != 'u' && strings.IndexByte(`"\/bfnrt`, c) < 0:
		p.fail("unknown escape in a string")
		return false
	case c == 'u' && jsontext.Hex4(p.in[p.pos:]) < 0:
		p.fail("unicode escape is not four hexadecimal digits")
		return false
	case c == 'u':
		p.pos += 4
	}
	return true
}

// integer reads a whole number from 0 to high in JSON's own spelling.
func (p *parser) integer(high int64) int64 {
	p.next()
	start := p.pos
	negative := p.pos < len(p.in) && p.in[p.pos] == '-'
	if negative {
		p.pos++
	}
	first := p.pos
	var n int64
	for ; p.pos < len(p.in) && p.in[p.pos] >= '0' && p.in[p.pos] <= '9'; p.pos++ {
		d := int64(p.in[p.pos] - '0')
		if n > (math.MaxInt64-d)/10 {
			p.fail("number is too large")
			return 0
		}
		n = n*10 + d
	}
	switch {
	case p.pos == first:
		p.fail("expected a number")
	case p.in[first] == '0' && p.pos > first+1:
		p.fail("number has a leading zero")
	case p.pos < len(p.in) && (p.in[p.pos] == '.' || p.in[p.pos] == 'e' || p.in[p.pos] == 'E'):
		p.fail("expected a whole number")
	}
	if negative {
		n = -n
	}
	if p.err == nil && (n < 0 || n > high) {
		p.pos = start
		p.fail("number is out of range")
	}
	if p.err != nil {
		return 0
	}
	return n
}

func (p *parser) boolean() bool {
	p.next()
	if p.word("true") {
		return true
	}
	if !p.word("false") {
		p.fail("expected true or false")
	}
	return false
}

func (p *parser) word(w string) bool {
	if len(p.in)-p.pos < len(w) || string(p.in[p.pos:p.pos+len(w)]) != w {
		return false
	}
	p.pos += len(w)
	return true
}

// skip steps over a value of any kind.
func (p *parser) skip(depth int) {
	if depth > maxDepth {
		p.fail("value nests too deep")
		return
	}
	switch p.next() {
	case '"':
		p.str(nil)
	case '{':
		p.object(func([]byte) { p.skip(depth + 1) })
	case '[':
		p.array(depth)
	case 't', 'f':
		p.boolean()
	case 'n':
		if !p.word("null") {
			p.fail("expected null")
		}
	default:
		p.number()
	}
}

func (p *parser) array(depth int) {
	p.pos++
	if p.next() == ']' {
		p.pos++
		return
	}
	for {
		p.skip(depth + 1)
		switch {
		case p.err != nil:
			return
		case p.next() == ',':
			p.pos++
		default:
			p.takeByte(']')
			return
		}
	}
}

// number steps over any number of JSON; its value doesn't matter.
func (p *parser) number() {
	digits := func() {
		from := p.pos
		for p.pos < len(p.in) && p.in[p.pos] >= '0' && p.in[p.pos] <= '9' {
			p.pos++
		}
		if p.pos == from {
			p.fail("expected a value")
		}
	}
	at := func(c byte) bool { return p.pos < len(p.in) && p.in[p.pos] == c }
	if at('-') {
		p.pos++
	}
	from := p.pos
	digits()
	if p.err == nil && p.in[from] == '0' && p.pos > from+1 {
		p.fail("number has a leading zero")
	}
	if at('.') {
		p.pos++
		digits()
	}
	if at('e') || at('E') {
		p.pos++
		if at('+') || at('-') {
			p.pos++
		}
		digits()
	}
}

// appendString writes s as a JSON string. A path that isn't UTF-8 must come
// out of ParseHeader unchanged.
func appendString(dst []byte, s string) []byte { return jsontext.AppendQuoted(dst, s) }
