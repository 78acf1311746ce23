package acp

import (
	"bytes"
	"encoding/json"
)

// Message is what a line says, as far as the proxy looks at it.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
}

// RPCError is why a request failed.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// ReadMessage reads a line. It is false for one that is no message: such a line
// is for whoever reads it next to complain about.
func ReadMessage(line []byte) (Message, bool) {
	var m Message
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &m) != nil {
		return Message{}, false
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return m, m.Method != "" || m.ID != nil
}

// IsRequest reports whether the sender waits for an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether this answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" && m.ID != nil }

// Key is the number of a request or of what it answers, one spelling for each.
func (m *Message) Key() string { return string(bytes.TrimSpace(m.ID)) }

// resultLine answers a request of the other side.
func resultLine(id, result json.RawMessage) []byte {
	return messageLine(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// errorLine refuses a request of the other side.
func errorLine(id json.RawMessage, code int, text string) []byte {
	return messageLine(map[string]any{"jsonrpc": "2.0", "id": id, "error": RPCError{code, text}})
}

// notificationLine tells the other side something.
func notificationLine(method string, params any) []byte {
	return messageLine(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func messageLine(message any) []byte {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line) // ends the line
	encoder.SetEscapeHTML(false)
	if encoder.Encode(message) != nil {
		return nil // only what was JSON before is put into messages
	}
	return line.Bytes()
}
