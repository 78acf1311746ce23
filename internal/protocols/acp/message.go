package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// Message is the part of a line that the proxy looks at.
type Message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *RPCError
}

// RPCError is why a request failed.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// ReadMessage reads a line that passed [checkLine]. It is false for a list of messages, a
// blank line and an answer to nothing.
func ReadMessage(line []byte) (Message, bool) {
	var members map[string]json.RawMessage // names are compared as they are spelled, as in editors
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &members) != nil {
		return Message{}, false
	}
	m := Message{ID: members["id"], Params: members["params"], Result: members["result"]}
	_ = json.Unmarshal(members["method"], &m.Method) // what is no text is no method
	if failure := members["error"]; !isBlank(failure) {
		m.Error = &RPCError{}
		_ = json.Unmarshal(failure, m.Error) // a failure of another shape still is a failure
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return m, m.Method != "" || m.ID != nil
}

// readLoosely reads JSON as far as it has the shape of into. It is false for what isn't JSON.
func readLoosely(data []byte, into any) bool {
	err := json.Unmarshal(data, into)
	var shape *json.UnmarshalTypeError
	return err == nil || errors.As(err, &shape)
}

// readBatch reads a line that holds several messages, each as a line of its own.
func readBatch(line []byte) (lines [][]byte) {
	var list []json.RawMessage
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '[' || json.Unmarshal(line, &list) != nil {
		return nil
	}
	for _, one := range list {
		var flat bytes.Buffer
		if json.Compact(&flat, one) == nil {
			lines = append(lines, append(flat.Bytes(), '\n'))
		}
	}
	return lines
}

// IsRequest reports whether the sender waits for an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether this answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" && m.ID != nil }

// Key returns the number of a request or of what it answers, one spelling for each.
func (m *Message) Key() string {
	var number float64
	var text string
	switch {
	case json.Unmarshal(m.ID, &text) == nil:
		return string(asJSON(text))
	case json.Unmarshal(m.ID, &number) == nil && number == math.Trunc(number) && math.Abs(number) < 1<<53:
		return strconv.FormatInt(int64(number), 10) // 7.0 is answered as 7
	}
	return string(bytes.TrimSpace(m.ID))
}

// resultLine answers a request of the other side.
func resultLine(id, result json.RawMessage) []byte {
	return messageLine(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// errorLine rejects a request of the other side.
func errorLine(id json.RawMessage, code int, text string) []byte {
	return messageLine(map[string]any{"jsonrpc": "2.0", "id": id, "error": RPCError{code, text}})
}

// notificationLine returns a notification to the other side.
func notificationLine(method string, params any) []byte {
	return messageLine(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func messageLine(message any) []byte {
	line, _ := jsonx.AppendLine(nil, message) // only what was JSON before is put into messages
	return line
}
