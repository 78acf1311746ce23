// Package agent knows coding agents: which hooks each has, what its payloads
// mean and which answers it honours. What it knows is data, one YAML file per
// agent under data/, embedded; a user's own files add to it ([Load]).
//
// [Catalogue.Decode] turns the bytes an agent gave its hook into an
// [event.Event], the same for every agent. [Catalogue.Encode] turns an
// [event.Decision] into the bytes and exit code that agent honours, after
// taking out what it cannot carry. Both are pure: no files, no clock, no
// environment other than what is passed in.
//
//	cat := agent.Builtin()
//	ev := cat.Decode(agent.Input{Agent: "claude", Event: "PreToolUse", Payload: stdin})
//	answer, decision := cat.Encode(&ev, event.Decision{Verdict: event.Deny, Reason: "not here"})
//
// Every claim in the catalogue carries its proof: a run of the real agent or
// its vendor's word, and the version it holds for.
package agent

//go:generate go run ../lab/gen/catalogue -agent .
//go:generate go run ../lab/gen/neutral -out neutral/table.go
//go:generate go run ../lab/gen/agentdocs -docs ../docs
