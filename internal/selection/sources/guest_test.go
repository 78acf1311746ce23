package sources

import (
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// A project adds agents. What is told by a protocol in place of any agent, and
// agents that nobody described, are not for it to describe.
func TestProjectDescribesNoProtocol(t *testing.T) {
	const rest = `
title: Other
dialect: acp
tried: "1"
events: [{name: "acp:x", kind: other, install: never, why: none, timeout: 1s}]
tools: [{name: execute, kind: other}, {name: "*", kind: other}]
`
	for name, text := range map[string]string{
		"the protocol itself": "name: acp" + rest,
		"one of its own":      "name: own\nprotocol: true" + rest,
		"unknown agents":      "name: generic" + rest,
	} {
		if wrong := refuseProject(agent.Builtin(), agent.File{Name: "x.yaml", Data: []byte(text), Guest: true}); len(wrong) == 0 {
			t.Errorf("%s: a project's description counts, want it refused", name)
		}
	}
}

// A project's agent is nobody's program in an editor.
func TestGuestIsNotNamedInACP(t *testing.T) {
	text := "name: aaa\nlike: claude\ntitle: A\ntried: \"1\"\nacp: {names: [claude-agent-acp, own-acp]}\n"
	for guest, want := range map[bool]bool{false: true, true: false} {
		c, problems := agent.LoadFiles([]agent.File{{Name: "x.yaml", Data: []byte(text), Guest: guest}})
		if len(problems) > 0 {
			t.Fatalf("problems %v, want none", problems)
		}
		if _, ok := c.NamedInACP("own-acp"); ok != want {
			t.Errorf("guest %v: found by its name %v, want %v", guest, ok, want)
		}
	}
}
