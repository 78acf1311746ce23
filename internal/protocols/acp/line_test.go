package acp

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

const wanted = `"method":"terminal/create","params":{"sessionId":"s","command":"rm","args":["-rf","/home/dev"]}`

// Lines that another reader could take for a message that hookmux did not see.
var unfitLines = map[string]string{
	"two messages parted by a carriage return": `{"method":"x"}` + "\r" + `{"id":5,` + wanted + "}",
	"a carriage return between two members":    `{"id":5,` + "\r" + wanted + "}",
	"a byte order mark":                        "\ufeff" + `{"id":5,` + wanted + "}",
	"two messages on a line":                   `{"method":"x"} {"id":5,` + wanted + "}",
	"a message and more":                       `{"id":5,` + wanted + "} x",
	"method twice":                             `{"id":5,` + wanted + `,"method":"x"}`,
	"method twice, one escaped":                `{"id":5,` + wanted + `,"meth\u006fd":"x"}`,
	"method twice in different case":           `{"id":5,` + wanted + `,"Method":"x"}`,
	"params twice":                             `{"id":5,` + wanted + `,"params":{}}`,
	"id twice":                                 `{"id":5,"id":6,` + wanted + "}",
	"command twice":                            `{"id":5,"method":"terminal/create","params":{"sessionId":"s","command":"rm","command":"ls"}}`,
	"a name twice far below": `{"id":5,"method":"session/request_permission","params":{"toolCall":{"rawInput":[{"a":[` +
		`{"command":"rm","command":"ls"}]}]}}}`,
	"a method that is no text":     `{"id":5,"method":["terminal/create"]}`,
	"bytes that are not UTF-8":     `{"id":5,` + wanted + `,"x":"` + "\xc0\x8a" + `"}`,
	"a list with a message twice":  `[{"id":5,` + wanted + `,"method":"x"}]`,
	"a list of numbers":            `[1,2]`,
	"an empty list":                `[]`,
	"an object that is no message": `{"a":1}`,
	"a text":                       `"terminal/create"`,
	"words":                        `hello`,
	"half a message":               `{"id":5,` + wanted,
	"a control character":          `{"id":5,"method":"terminal/create","params":"` + "\x1c" + `"}`,
	"nesting without an end":       `{"id":5,"method":"x","params":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
}

// What cannot be read as exactly one message passes in neither direction; its sender
// is told where an answer can be addressed.
func TestLinesThatAreNotOneMessageDoNotPass(t *testing.T) {
	answered := map[string]bool{
		"two messages parted by a carriage return": true, "a carriage return between two members": true,
		"a byte order mark": true, "two messages on a line": true, "method twice": true,
		"method twice, one escaped": true, "method twice in different case": true, "params twice": true,
		"command twice": true, "a name twice far below": true, "a method that is no text": true,
		"bytes that are not UTF-8": true, "a list with a message twice": true, "a message and more": true,
		"nesting without an end": true,
	}
	for name, line := range unfitLines {
		for _, end := range []string{"\n", "\r\n", ""} {
			passed, back, dropped := passFromAgent(t, line+end)
			if passed != "" {
				t.Errorf("%s: the editor got %q, want nothing", name, passed)
			}
			if dropped != 1 {
				t.Errorf("%s: %d lines are said to be dropped, want 1", name, dropped)
			}
			if told := strings.Contains(back, `"id":5`) && strings.Contains(back, "not passed on"); told != answered[name] {
				t.Errorf("%s: the agent got %q, want an answer: %v", name, back, answered[name])
			}
		}
	}
}

// Characters that some readers take for the end of a line are spelled in another way.
func TestSeparatorsAreSpelled(t *testing.T) {
	for _, char := range []string{"\u0085", "\u2028", "\u2029"} {
		line := `{"method":"x","params":{"text":"` + char + `{\"id\":5}` + char + `"}}` + "\n"
		passed, _, _ := passFromAgent(t, line)
		if strings.Contains(passed, char) || !strings.Contains(passed, `"text":"\u`) {
			t.Errorf("%q passed as %q, want the character spelled", line, passed)
		}
	}
}

// passFromAgent returns what the editor and the agent get when an agent says a text.
func passFromAgent(t *testing.T, text string) (passed, back string, dropped int) {
	t.Helper()
	var toEditor, toAgent bytes.Buffer
	p := &Proxy{Conversation: &Conversation{Naming: NameAgent(agent.Builtin(), "", []string{"x"})},
		Daemon: &playedDaemon{asked: make(chan playedAsk, 10)}, FromEditor: blockedReader{t.Context()}, ToEditor: &toEditor,
		FromAgent: strings.NewReader(text), ToAgent: nopCloser{&toAgent},
		OnDropped: func(string, error) { dropped++ }}
	if err := p.Run(t.Context()); err != nil {
		t.Errorf("Run gave %v, want no error", err)
	}
	return toEditor.String(), toAgent.String(), dropped
}

// blockedReader has nothing to say until its test is over.
type blockedReader struct{ ctx context.Context }

func (r blockedReader) Read([]byte) (int, error) { <-r.ctx.Done(); return 0, r.ctx.Err() }

type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }
