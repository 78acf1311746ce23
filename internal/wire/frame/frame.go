// Package frame defines the protocol between a hook client and the daemon: one JSON header line,
// then raw bytes whose lengths the header names.
//
//	request  {"v":1,"id":…,"agent":…,"event":…,"deadline":…,"cwd":…,"ver":…,"payload":N,"env":M}\n  N bytes  M bytes
//	reply    {"id":…,"exit":0,"stdout":N,"stderr":M}\n  N bytes  M bytes
//
// A caller that sends "waits":true may get a line before the reply, as soon as you are asked
// about its call:
//
//	waiting  {"id":…,"request":"the request in the inbox","why":…,"input":…}\n
//
// A plugin that sends "inner":true reports something that happens inside its agent and that only
// hooks in TypeScript are shown; the reply's stdout is what they made of it.
//
// The payload stays raw because agents send pretty-printed JSON, byte order marks and broken
// UTF-8, and the daemon must keep what they sent untouched. One request travels per connection.
//
// The header is read and written by hand: the client is started again for every tool call of an
// agent, and encoding/json with its reflection would cost more than the whole exchange. Reading
// is lenient about order, white space, escapes and unknown keys, so that other programs can speak
// this too; it is strict about types, lengths and what comes after the closing brace.
package frame

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"time"
)

// Version is the number this package writes as "v". A reader rejects frames of a higher version;
// there are no lower ones.
const Version = 1

// DebugStart begins what a hook client with HOOKMUX_DEBUG=1 writes on stderr when no
// daemon answered.
const DebugStart = "hookmux-hook: "

// MaxHeader is the longest header line, newline included.
const MaxHeader = 64 << 10

// Limits bounds what a reader accepts. The zero value means Standard.
type Limits struct {
	Payload int // also stdout of a reply
	Env     int // also stderr of a reply
}

// Standard holds the limits of the daemon and its client.
var Standard = Limits{Payload: 16 << 20, Env: 1 << 20}

// Request is one call of a hook.
type Request struct {
	V  int    // protocol version; 0 is written as Version
	ID string // made by the client, the key of this call everywhere
	// Seq numbers the calls of one sender that lives longer than one call (a
	// plugin); 0 and left out by the client.
	Seq   uint64
	Agent string
	Event string
	// Deadline is how much time is left, at the moment of sending, until the
	// reply must have been written. The sender has already taken the answer
	// margin off (see Margin). It travels in whole milliseconds; 0 is unknown.
	Deadline time.Duration
	Cwd      string
	Version  string // the client's own version, "ver" in the header
	// Truncated says that Payload is only the beginning of what the agent
	// sent.
	Truncated bool
	// Waits says that the caller wants to know when you are being asked, because it has a dialog of
	// its own to show meanwhile.
	Waits bool
	// Inner says that the event is for hooks in TypeScript alone: it is neither
	// written down nor does anything else follow it.
	Inner   bool
	Payload []byte
	Env     []byte // NUL separated name=value; never written to disk
}

// Reply is the hook process's answer to the agent.
type Reply struct {
	ID     string
	Exit   int
	Stdout []byte
	Stderr []byte
	// Verdict and Reason are for callers in a container, which take nothing else of a reply:
	// VerdictNone, VerdictAsk or VerdictDeny, and why. Others get neither.
	Verdict, Reason string
}

// The verdicts of a reply.
const (
	VerdictNone = "none"
	VerdictAsk  = "ask"
	VerdictDeny = "deny"
)

// Errors that a reader can distinguish. All of them mean: close the connection.
var (
	ErrHeaderTooLong = errors.New("frame: header line is longer than 64 KiB")
	ErrTooLarge      = errors.New("frame: body is larger than the limit")
	ErrVersion       = errors.New("frame: version is newer than this program; upgrade hookmux")
)

// Margin returns how much of the time that an agent gives a hook must be kept in reserve, so that
// the answer arrives before the agent stops waiting: the larger of two seconds and five percent, a
// quarter if less than five seconds are given.
func Margin(limit time.Duration) time.Duration {
	if limit < 5*time.Second {
		return limit / 4
	}
	return max(2*time.Second, limit/20)
}

// AppendRequest appends the whole frame to dst.
func AppendRequest(dst []byte, r *Request) []byte {
	dst = AppendRequestHeader(dst, r)
	dst = append(dst, r.Payload...)
	return append(dst, r.Env...)
}

// AppendRequestHeader appends only the header line; Payload and Env have to
// follow. It spares a copy of a large payload.
func AppendRequestHeader(dst []byte, r *Request) []byte {
	v := r.V
	if v == 0 {
		v = Version
	}
	dst = append(dst, `{"v":`...)
	dst = strconv.AppendInt(dst, int64(v), 10)
	dst = appendString(append(dst, `,"id":`...), r.ID)
	if r.Seq != 0 {
		dst = strconv.AppendUint(append(dst, `,"seq":`...), r.Seq, 10)
	}
	dst = appendString(append(dst, `,"agent":`...), r.Agent)
	dst = appendString(append(dst, `,"event":`...), r.Event)
	dst = append(dst, `,"deadline":`...)
	dst = strconv.AppendInt(dst, max(0, r.Deadline.Milliseconds()), 10)
	if r.Cwd != "" {
		dst = appendString(append(dst, `,"cwd":`...), r.Cwd)
	}
	if r.Version != "" {
		dst = appendString(append(dst, `,"ver":`...), r.Version)
	}
	if r.Waits {
		dst = append(dst, `,"waits":true`...)
	}
	if r.Inner {
		dst = append(dst, `,"inner":true`...)
	}
	if r.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	dst = strconv.AppendInt(append(dst, `,"payload":`...), int64(len(r.Payload)), 10)
	dst = strconv.AppendInt(append(dst, `,"env":`...), int64(len(r.Env)), 10)
	return append(dst, "}\n"...)
}

// maxReason keeps a header within its bounds, whatever escapes it needs.
const maxReason = 4 << 10

// AppendReply appends the whole reply to dst.
func AppendReply(dst []byte, r *Reply) []byte {
	dst = appendString(append(dst, `{"id":`...), r.ID)
	dst = strconv.AppendInt(append(dst, `,"exit":`...), int64(r.Exit), 10)
	dst = strconv.AppendInt(append(dst, `,"stdout":`...), int64(len(r.Stdout)), 10)
	dst = strconv.AppendInt(append(dst, `,"stderr":`...), int64(len(r.Stderr)), 10)
	if r.Verdict != "" {
		dst = appendString(append(dst, `,"verdict":`...), r.Verdict)
		dst = appendString(append(dst, `,"reason":`...), r.Reason[:min(len(r.Reason), maxReason)])
	}
	dst = append(dst, "}\n"...)
	dst = append(dst, r.Stdout...)
	return append(dst, r.Stderr...)
}

// ReadLine reads one header line without its newline. The slice is valid
// until the next read from br. A reader smaller than MaxHeader is fine: longer
// lines are put together in memory.
func ReadLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if err == nil {
		return checkLine(line)
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, unexpected(err, len(line))
	}
	whole := append(make([]byte, 0, 4*len(line)), line...)
	for {
		line, err = br.ReadSlice('\n')
		whole = append(whole, line...)
		switch {
		case len(whole) > MaxHeader:
			return nil, ErrHeaderTooLong
		case err == nil:
			return checkLine(whole)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, unexpected(err, len(whole))
		}
	}
}

func checkLine(line []byte) ([]byte, error) {
	if len(line) > MaxHeader {
		return nil, ErrHeaderTooLong
	}
	return line[:len(line)-1], nil
}

// unexpected keeps a plain EOF only for a connection that closed before it
// said anything.
func unexpected(err error, got int) error {
	if errors.Is(err, io.EOF) && got > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ReadRequest reads the frame whose header line the caller already has, or
// reads that too when line is nil. line may point into br's own buffer: it is
// not used any more once the bodies are read.
func ReadRequest(br *bufio.Reader, line []byte, lim Limits) (Request, error) {
	if line == nil {
		var err error
		if line, err = ReadLine(br); err != nil {
			return Request{}, err
		}
	}
	r, payload, env, err := ParseHeader(line)
	if err != nil {
		return Request{}, err
	}
	r.Payload, r.Env, err = ReadBodies(br, payload, env, lim)
	return r, err
}

// ReadBodies reads the two bodies that follow a header. Memory grows with
// what really arrives, so that a peer can't reserve it by announcing.
func ReadBodies(br *bufio.Reader, first, second int, lim Limits) (a, b []byte, err error) {
	return ReadBodiesInto(nil, br, first, second, lim)
}

// ReadBodiesInto is ReadBodies that puts the second body into spare, if it fits its capacity.
func ReadBodiesInto(spare []byte, br *bufio.Reader, first, second int, lim Limits) (a, b []byte, err error) {
	if lim == (Limits{}) {
		lim = Standard
	}
	if first < 0 || second < 0 || first > lim.Payload || second > lim.Env {
		return nil, nil, ErrTooLarge
	}
	if a, err = readN(br, first); err != nil {
		return nil, nil, err
	}
	if second > cap(spare) {
		b, err = readN(br, second)
	} else if _, err = io.ReadFull(br, spare[:second]); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	} else {
		b = spare[:second]
	}
	if err != nil {
		return nil, nil, err
	}
	return a, b, nil
}

// trusted is how much is reserved on the strength of a header alone.
const trusted = 64 << 10

func readN(br *bufio.Reader, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	buf := make([]byte, min(n, trusted))
	for got := 0; ; {
		m, err := io.ReadFull(br, buf[got:])
		got += m
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if got == n {
			return buf, nil
		}
		larger := make([]byte, min(n, 4*len(buf)))
		copy(larger, buf)
		buf = larger
	}
}

// ReadReply reads a whole reply.
func ReadReply(br *bufio.Reader, lim Limits) (Reply, error) {
	line, err := ReadLine(br)
	if err != nil {
		return Reply{}, err
	}
	r, stdout, stderr, err := ParseReply(line)
	if err != nil {
		return Reply{}, err
	}
	r.Stdout, r.Stderr, err = ReadBodies(br, stdout, stderr, lim)
	return r, err
}

// AppendWaiting appends the line that tells a caller which request in the inbox its call waits
// for, why you are asked, and the input as hooks changed it: one JSON value on one line, nil if
// it wasn't changed.
func AppendWaiting(dst []byte, id, request, why string, input []byte) []byte {
	dst = appendString(append(dst, `{"id":`...), id)
	dst = appendString(append(dst, `,"request":`...), request)
	if why != "" {
		dst = appendString(append(dst, `,"why":`...), why)
	}
	if len(input) > 0 {
		dst = append(append(dst, `,"input":`...), input...)
	}
	return append(dst, '}', '\n')
}
