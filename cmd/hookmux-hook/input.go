package main

import (
	"errors"
	"io"
)

const (
	maxPayload = 16 << 20 // what the daemon takes; more is cut
	cutPayload = 64 << 10 // what is sent of a payload that is too large
	maxEnv     = 1 << 20
)

// readPayload reads stdin to its end. If it is too large for a frame, it keeps the
// beginning, which names session and tool in most agents, and discards the rest.
// begun holds what was read before. A stream that breaks off has ended too, and what came of
// it is treated as cut.
func readPayload(begun []byte, r io.Reader) (payload []byte, truncated bool) {
	buf := begun
	if buf == nil {
		buf = make([]byte, 0, 16<<10)
	}
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > maxPayload {
			drainStream(r)
			return append([]byte(nil), buf[:cutPayload]...), true
		}
		if errors.Is(err, errIdle) {
			if isWhole(buf) {
				return buf, false
			}
			continue
		}
		if err != nil {
			return buf, !errors.Is(err, io.EOF) && !errors.Is(err, errSlow)
		}
		if len(buf) == cap(buf) {
			larger := make([]byte, len(buf), 4*cap(buf))
			copy(larger, buf)
			buf = larger
		}
	}
}

// errIdle says that nothing came for a while.
var errIdle = errors.New("nothing came for a while")

// isWhole reports whether a text is one JSON object or list from beginning to end, as far as
// brackets and strings show: an agent that wrote that much and doesn't close the stream has
// said everything.
func isWhole(text []byte) bool {
	depth, quoted, closed := 0, false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"' && depth > 0:
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if closed {
				return false
			}
			depth++
		case c == '}' || c == ']':
			depth--
			closed = depth == 0
			if depth < 0 {
				return false
			}
		case closed && c != ' ' && c != '\n' && c != '\r' && c != '\t':
			return false
		}
	}
	return closed
}

// errSlow ends a read that would block; reading goes on elsewhere.
var errSlow = errors.New("this takes longer")

// joinEnv puts the environment into the form of a frame. A variable that
// doesn't fit any more is left out.
func joinEnv(env []string) []byte {
	size := 0
	for _, entry := range env {
		size += len(entry) + 1
	}
	out := make([]byte, 0, min(size, maxEnv))
	for _, entry := range env {
		if len(out)+len(entry)+1 > maxEnv {
			continue
		}
		out = append(out, entry...)
		out = append(out, 0)
	}
	return out
}
