package cmux

import (
	"encoding/json"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// Caller calls one of the daemon's methods for the sender of a line.
type Caller func(method string, params json.RawMessage) (json.RawMessage, *wire.Error)

// Answer answers one of cmux's envelopes: the daemon's own methods under their
// names. The answer is nil for a request without an id, to which cmux answers
// nothing.
func Answer(line []byte, call Caller) ([]byte, error) {
	var request wire.CmuxRequest
	reply := wire.CmuxReply{}
	if err := json.Unmarshal(line, &request); err != nil {
		reply.Error = &wire.CmuxError{Code: "invalid_request", Message: "this line is no JSON object: " + err.Error()}
	} else {
		reply.ID = request.ID
		if request.Method == "system.ping" || request.Method == "ping" {
			reply.OK, reply.Result = true, json.RawMessage(`{"pong":true}`)
		} else if result, err := call(request.Method, oneWayParams(&request)); err != nil {
			reply.Error = &wire.CmuxError{Code: wire.CmuxCode(err.Code), Message: err.Message}
		} else {
			reply.OK, reply.Result = true, result
		}
	}
	if request.ID == nil && request.Method != "" {
		return nil, nil
	}
	return wire.Line(nil, reply)
}

// oneWayParams returns the parameters of a request. A push without an id is a notification:
// it must not wait for the user, whose answer couldn't be delivered.
func oneWayParams(request *wire.CmuxRequest) json.RawMessage {
	if request.ID != nil || request.Method != wire.MethodCmuxPush {
		return request.Params
	}
	return event.MergeObjects(request.Params, []byte(`{"wait_timeout_seconds":0}`))
}
