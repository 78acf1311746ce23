package ahp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// The methods.
const (
	MethodIntercept = "hooks/intercept" // a request: the agent waits for effects
	MethodObserve   = "hooks/observe"   // a notification: nobody answers
)

// Codes of errors: those of JSON-RPC, and the protocol's own.
const (
	CodeNoJSON             = -32700
	CodeNoMessage          = -32600
	CodeNoMethod           = -32601
	CodeParams             = -32602
	CodeUnsupportedVersion = -32001
	CodeUnsupportedEvent   = -32002
	CodeUnavailable        = -32003
	CodeInternal           = -32004
)

// MaxMessage bounds a message, both ways.
const MaxMessage = 4 << 20

// members is an object by its names. A name that stands twice refuses it: nobody
// can know which of the two was meant.
func members(object []byte) (map[string]json.RawMessage, error) {
	list := map[string]json.RawMessage{}
	var twice error
	err := jsontext.Object(object, func(key, value []byte) bool {
		name := string(key)
		if _, there := list[name]; there {
			twice = fmt.Errorf("names %q twice", termsafe.CutMarked(name, 60))
			return false
		}
		list[name] = value
		return true
	})
	if twice != nil {
		return nil, twice
	}
	return list, err
}

// textOf is a member that must be a text where it is there.
func textOf(m map[string]json.RawMessage, name string) (string, error) {
	value, there := m[name]
	if !there || isNull(value) {
		return "", nil
	}
	text, ok := jsontext.String(value)
	if !ok {
		return "", fmt.Errorf("%s is no text", name)
	}
	return text, nil
}

// objectOf is a member that must be an object where it is there.
func objectOf(m map[string]json.RawMessage, name string) (map[string]json.RawMessage, error) {
	value, there := m[name]
	if !there || isNull(value) {
		return nil, nil
	}
	if !jsontext.IsObject(value) {
		return nil, fmt.Errorf("%s is no object", name)
	}
	inner, err := members(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inner, nil
}

func isNull(v []byte) bool { return len(v) == 0 || string(bytes.TrimSpace(v)) == "null" }

// checkEnvelope refuses what is no message of JSON-RPC 2.0.
func checkEnvelope(m map[string]json.RawMessage) error {
	if version, ok := jsontext.String(m["jsonrpc"]); !ok || version != "2.0" {
		return errors.New(`jsonrpc is not "2.0"`)
	}
	return nil
}

// encodeLine writes a message as one line.
func encodeLine(message any) []byte {
	line, _ := jsonx.AppendLine(nil, message) // only what was JSON before is put into messages
	return line
}
