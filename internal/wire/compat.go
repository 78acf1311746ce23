package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Mux0Message is one line of mux0's clients: one message per connection, no
// answer.
type Mux0Message struct {
	TerminalID    string  `json:"terminalId"`
	Event         string  `json:"event"` // running, idle, needsInput, finished
	Agent         string  `json:"agent"`
	At            float64 `json:"at"` // epoch seconds
	ExitCode      *int    `json:"exitCode,omitempty"`
	ToolDetail    string  `json:"toolDetail,omitempty"`
	Summary       string  `json:"summary,omitempty"`
	ResumeCommand string  `json:"resumeCommand,omitempty"`
	SessionTitle  string  `json:"sessionTitle,omitempty"`
}

// ParseMux0 reads a mux0 line, or returns what is wrong with it.
func ParseMux0(line []byte) (Mux0Message, error) {
	var m Mux0Message
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("mux0 line: %w", err)
	}
	switch m.Event {
	case "running", "idle", "needsInput":
	case "finished":
		if m.ExitCode == nil {
			return m, errors.New(`mux0 line: "finished" needs an exitCode`)
		}
	default:
		return m, fmt.Errorf("mux0 line: event %q is none of running, idle, needsInput, finished", m.Event)
	}
	if !isUUID(m.TerminalID) {
		return m, fmt.Errorf("mux0 line: terminalId %q is no UUID", m.TerminalID)
	}
	if m.Agent == "" {
		return m, errors.New("mux0 line: agent is missing")
	}
	return m, nil
}

// Time returns when the sender says it happened; the zero time when it does not say
// or says nonsense.
func (m *Mux0Message) Time() time.Time {
	if m.At <= 0 || m.At > 1e11 || math.IsNaN(m.At) {
		return time.Time{}
	}
	return time.UnixMicro(int64(m.At * 1e6))
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range s {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
				return false
			}
		}
	}
	return true
}

// CmuxRequest is cmux's request: no version, an id of any kind.
type CmuxRequest struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

// CmuxReply is cmux's answer.
type CmuxReply struct {
	ID     json.RawMessage `json:"id,omitempty"`
	OK     bool            `json:"ok"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *CmuxError      `json:"error,omitempty"`
}

// CmuxError names an error by a word, as cmux's clients expect it.
type CmuxError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// CmuxCode is cmux's word for one of our error codes.
func CmuxCode(code int) string {
	switch code {
	case CodeNoMethod:
		return "method_not_found"
	case CodeParams, CodeInvalid, CodeParse:
		return "invalid_params"
	case CodeRefused, CodePIN:
		return "access_denied"
	case CodeGone:
		return "not_found"
	case CodeConflict:
		return "conflict"
	case CodeWithdrawn:
		return "unavailable"
	}
	return "internal_error"
}
