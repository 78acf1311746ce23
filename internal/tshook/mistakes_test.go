package tshook

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// What a handler says by mistake is a failure, which a guard answers with a
// refusal. It is not taken for silence.
func TestMistakenAnswersFail(t *testing.T) {
	s := newHarness(t, nil)
	for name, c := range map[string]struct{ result, fails string }{
		"misspelt member":     {`({ blok: true })`, `unknown member "blok"`},
		"member of others":    {`({ decision: "deny" })`, `unknown member "decision"`},
		"a word":              {`"deny"`, `returned "deny"`},
		"true":                {`/ls/.test(e.input.command)`, `returned true`},
		"misspelt and a word": {`({ block: false, raeson: "x" })`, `unknown member "raeson"`},
		"nothing":             {`undefined`, ""},
		"null":                {`null`, ""},
		"false":               {`false`, ""},
		"a number":            {`[].push(1)`, ""},
		"an empty object":     {`({})`, ""},
		"no block":            {`({ block: false, reason: undefined })`, ""},
		"an absent member":    {`({ block: false, other: undefined })`, ""},
		"a set":               {`new Set([1])`, ""},
	} {
		for _, form := range []string{"(e: any) => ", "async (e: any) => "} {
			m := s.load("mistake.ts", `export default (h: any) => h.on("tool_call", `+form+c.result+`);`)
			d, err := s.handle(m, s.bash("ls"))
			switch {
			case c.fails == "" && (err != nil || d.Verdict != event.None):
				t.Errorf("%s: %v %v, expected no opinion", name, d, err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("%s: %v %v, expected a failure with %q", name, d, err, c.fails)
			}
		}
	}
}

func TestMistakenAnswersToAPromptFail(t *testing.T) {
	s := newHarness(t, nil)
	for result, fails := range map[string]string{
		`({ action: "handle" })`:   `unknown action "handle"`,
		`({ acton: "handled" })`:   `unknown member "acton"`,
		`"handled"`:                `returned "handled"`,
		`({ action: "continue" })`: "",
		`undefined`:                "",
	} {
		m := s.load("mistake.ts", `export default (h: any) => h.on("input", async () => `+result+`);`)
		_, err := s.handle(m, s.claude("UserPromptSubmit", pi.Object{"prompt": "hello"}))
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
			t.Errorf("%s: %v, expected %q", result, err, fails)
		}
	}
}
