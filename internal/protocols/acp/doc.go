// Package acp sits between an editor and an agent that talk by the Agent Client Protocol:
// JSON-RPC 2.0, one message per line, over the agent's stdin and stdout.
//
// Every line is passed on byte for byte, except the agent's requests for permission: these
// go through hooks, guards and approvals first. What passes is reported to the daemon, so
// that it knows what the agent is doing.
//
//   - message.go      a line read as a message
//   - conversation.go what messages mean (pure): sessions, turns, tool calls
//   - toolcall.go     a tool call as messages report it, bit by bit
//   - permission.go   requests for permission, and who answered them first
//   - proxy.go        lines both ways
//   - daemon.go       events to the daemon, in order
//   - process.go      the agent's process
package acp
