// Package wire defines what travels over the daemon's socket in addition to hook frames:
// JSON-RPC 2.0, one message per line, with the parameters and results of its methods, and the two
// older envelopes it also speaks, mux0's and cmux's. docs/contributing/protocol.md describes it
// for other programs. It imports only the standard library and package event.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// MaxLine bounds one line of a peer: more is no message but an attack or a
// mistake.
const MaxLine = 32 << 20

// Request is a JSON-RPC 2.0 request or, without an ID, a notification.
type Request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// Response is the answer to a [Request].
type Response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Error codes: those of JSON-RPC 2.0, and the daemon's own from -32000 up.
const (
	CodeParse     = -32700
	CodeInvalid   = -32600
	CodeNoMethod  = -32601
	CodeParams    = -32602
	CodeInternal  = -32603
	CodeRefused   = -32001 // the peer has not the authority
	CodeGone      = -32002 // what was asked about is no longer there
	CodeConflict  = -32003 // it clashes with what is there
	CodeWithdrawn = -32004 // the daemon is stopping
	CodePIN       = -32005 // an approval needs the PIN, or another one
)

// Errorf returns an [Error].
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Line appends v as one line of JSON.
func Line(dst []byte, v any) ([]byte, error) { return jsonx.AppendLine(dst, v) }

// Protocol names the language of a peer's first line.
type Protocol int

// The languages of the socket.
const (
	Unknown Protocol = iota
	Frame            // a hook frame's header
	RPC              // JSON-RPC 2.0
	Mux0             // {"terminalId":…,"event":…}
	Cmux             // {"id":…,"method":…} without "jsonrpc"
)

// DetectProtocol reads from the first line which language follows. Only the keys at the
// top of the object count: a prompt that mentions "jsonrpc" changes nothing,
// and neither does the order of the keys.
func DetectProtocol(line []byte) Protocol {
	dec := json.NewDecoder(bytes.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return Unknown
	}
	var frame, mux0, cmux bool
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return Unknown
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return Unknown
		}
		switch t {
		case "jsonrpc":
			return RPC
		case "payload": // a frame's header says how long it is; others may carry one
			frame = frame || value[0] >= '0' && value[0] <= '9'
		case "terminalId":
			mux0 = true
		case "method":
			cmux = true
		}
	}
	switch {
	case mux0:
		return Mux0
	case frame:
		return Frame
	case cmux:
		return Cmux
	}
	return Unknown
}
