// Package agentrpc calls the methods of an agent's own server: JSON-RPC, over anything that
// carries whole messages.
package agentrpc

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Transport carries messages to the server and back.
type Transport interface {
	Send(message []byte) error
	Receive() ([]byte, error)
}

// maxPassed is how many messages may come before an answer: a server sends every client the
// notifications of all threads.
const maxPassed = 1000

// Client calls one server. It does one call at a time.
type Client struct {
	transport Transport
	id        int
}

// Connect introduces hookmux to the server.
func Connect(t Transport) (*Client, error) {
	c := &Client{transport: t}
	hookmux := map[string]string{"name": "hookmux", "title": "hookmux", "version": "1"}
	if err := c.Call("initialize", map[string]any{"clientInfo": hookmux}, nil); err != nil {
		return nil, err
	}
	return c, c.sendMessage(map[string]any{"method": "initialized"})
}

// Call calls a method and reads the answer into result, unless that is nil.
func (c *Client) Call(method string, params, result any) error {
	c.id++
	if err := c.sendMessage(map[string]any{"id": c.id, "method": method, "params": params}); err != nil {
		return err
	}
	for range maxPassed {
		message, err := c.transport.Receive()
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var answer struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(message, &answer) != nil || answer.Method != "" || string(answer.ID) != strconv.Itoa(c.id) {
			continue // news, a question we cannot answer, or no message at all
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(answer.Result, result); err != nil {
			return fmt.Errorf("%s: the answer cannot be read: %w", method, err)
		}
		return nil
	}
	return fmt.Errorf("%s: the server gives no answer", method)
}

func (c *Client) sendMessage(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return c.transport.Send(b)
}
