// Package ahp speaks the Agent Hooks Protocol, both ways: JSON-RPC 2.0, one
// message per line or per HTTP request, without a handshake. Every message names
// the version, and every question names the effects that count.
//
// Two versions are spoken, by the names they have on the wire: "0.1", in which a
// backend may refuse a tool call and nothing else, and "draft", which goes on
// changing and of which the parts count that stand here.
//
// Contract: everything here is pure, bytes in and bytes out. Who talks to whom is
// the business of internal/handler (hookmux asks a backend) and of
// internal/protocols/ahp/provider (hookmux is the backend).
//
//   - message.go  a message read strictly: no name twice, nothing behind it
//   - question.go an event as a backend is told of it
//   - answer.go   a backend's answer as a decision
//   - incoming.go what an agent tells hookmux, and hookmux's answer
package ahp
