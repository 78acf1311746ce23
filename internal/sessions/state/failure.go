package state

import (
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Failing reports whether a finished call failed, why, and with which exit code (0 if it
// isn't known). It recognizes every form in which an agent reports a failure. A search that
// found nothing didn't fail, and neither did a call that you stopped, or a question that you
// didn't want to answer.
func Failing(ev *event.Event) (failed bool, text string, exit int) {
	tool := ev.Tool
	if tool == nil {
		return false, "", 0
	}
	r := resultFacts{failed: tool.Failed, text: ev.Error}
	r.readObject(tool.Output, 0)
	if tool.Kind == event.Shell {
		r.readTrailer(tool.Output)
	}
	if r.exit == 0 && r.text != "" && r.failed {
		r.exit = exitCodeIn(r.text)
	}
	if !r.failed && r.exit == 0 {
		return false, "", 0
	}
	if r.stopped || ev.Interrupted {
		return false, "", 0
	}
	if tool.Kind == event.Question || tool.Kind == event.Plan {
		return false, "", 0 // the user said no, or waved it away
	}
	if tool.Kind == event.Shell && r.exit == 1 && mayHaveFoundNothing(tool.Commands) {
		return false, "", 0
	}
	return true, Fold(r.text, maxSummary), r.exit
}

// resultFacts are what a result says about itself.
type resultFacts struct {
	failed  bool
	stopped bool
	text    string
	exit    int
}

// readObject reads a result; agents put the same fields at different depths.
func (r *resultFacts) readObject(output []byte, depth int) {
	if !jsontext.IsObject(output) || depth > 2 {
		return
	}
	_ = jsontext.Object(output, func(key, value []byte) bool {
		word := string(value)
		switch string(key) {
		case "is_error", "isError", "isFailure", "is_failure":
			r.failed = r.failed || word == "true"
		case "timed_out", "timedOut":
			r.failed = r.failed || word == "true"
		case "interrupted":
			r.stopped = r.stopped || word == "true"
		case "success":
			r.failed = r.failed || word == "false"
		case "error", "error_message", "errorMessage":
			r.readError(value)
		case "exit_code", "exitCode", "exit":
			if n, err := strconv.Atoi(word); err == nil && n != 0 {
				r.exit = n
			}
		case "signal":
			if s, ok := jsontext.String(value); ok && s != "" {
				r.failed = true
			} else if n, err := strconv.Atoi(word); err == nil && n != 0 {
				r.failed = true
			}
		case "status":
			if s, ok := jsontext.String(value); ok && (s == "error" || s == "failed") {
				r.failed = true
			}
		case "resultType", "result_type":
			if s, ok := jsontext.String(value); ok && (s == "failure" || s == "error") {
				r.failed = true
			}
		case "Content", "content", "toolResponse", "metadata", "result", "details":
			r.readObject(value, depth+1)
		}
		return true
	})
}

func (r *resultFacts) readError(value []byte) {
	switch {
	case string(value) == "true":
		r.failed = true
	case jsontext.IsObject(value):
		r.failed = true
		if s, ok := jsontext.String(jsontext.Get(value, "message")); ok && r.text == "" {
			r.text = s
		}
	default:
		if s, ok := jsontext.String(value); ok && strings.TrimSpace(s) != "" {
			r.failed = true
			if r.text == "" {
				r.text = s
			}
		}
	}
}

// exitTrailers are the lines with which agents close a command's output.
var exitTrailers = lazyregexp.New(`(?m)^(?:` + strings.Join([]string{
	`Exit Code: (-?\d+)`, `\[Process exited with code (-?\d+)\]`,
	`<shellId: \S+ \w+ with exit code (-?\d+)>`, `Command exited with code (-?\d+)`,
}, "|") + `)\s*$`)

// readTrailer reads the exit code from the last lines of a command's output.
func (r *resultFacts) readTrailer(output []byte) {
	if r.exit != 0 {
		return
	}
	text, ok := jsontext.String(output)
	if !ok { // a list of parts: the last one closes
		_ = jsontext.Array(output, func(part []byte) bool {
			if s, is := jsontext.String(jsontext.Get(part, "text")); is {
				text, ok = s, true
			}
			return true
		})
	}
	for _, name := range []string{"llmContent", "textResultForLlm", "text_result_for_llm"} {
		if !ok {
			text, ok = jsontext.String(jsontext.Get(output, name))
		}
	}
	if !ok {
		return
	}
	text = text[max(0, len(text)-400):]
	found := exitTrailers.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return
	}
	for _, digits := range found[len(found)-1][1:] {
		if n, err := strconv.Atoi(digits); err == nil {
			r.exit = n
		}
	}
}

var exitPhrase = lazyregexp.New(`(?i)exit(?:ed)?(?: with)?(?: exit)?(?: code| status)[: ]+(-?\d+)`)

// exitCodeIn returns the exit code that the text of an error names.
func exitCodeIn(text string) int {
	if len(text) > 8<<10 {
		text = text[:4<<10] + text[len(text)-4<<10:]
	}
	if m := exitPhrase.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > -1000 && n < 1000 {
			return n
		}
	}
	return 0
}

// searchPrograms exit with 1 to say "nothing found" or "not the same".
var searchPrograms = map[string]bool{
	"grep": true, "egrep": true, "fgrep": true, "zgrep": true, "rg": true, "ag": true, "ack": true, "ugrep": true,
	"diff": true, "cmp": true, "test": true, "[": true, "[[": true,
	"pgrep": true, "which": true, "command": true, "type": true, "expr": true,
}

// harmlessPrograms are commands before a search that can't be what exited with 1, or whose
// failure wouldn't matter.
var harmlessPrograms = map[string]bool{
	"cd": true, "echo": true, "printf": true, "export": true, "set": true, "true": true, "pushd": true,
	"ls": true, "cat": true, "head": true, "tail": true,
}

// mayHaveFoundNothing reports whether a command line that exited with 1 may just
// have found nothing: its last word is a search's.
func mayHaveFoundNothing(commands []string) bool {
	if len(commands) != 1 || len(commands[0]) > 8<<10 {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(commands[0]), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	return endsWithSearch(file.Stmts[len(file.Stmts)-1])
}

func endsWithSearch(s *syntax.Stmt) bool {
	if s == nil || s.Negated || s.Background {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.Pipe, syntax.PipeAll:
			return endsWithSearch(c.Y)
		case syntax.AndStmt:
			return endsWithSearch(c.Y) && (endsWithSearch(c.X) || onlyHarmless(c.X))
		case syntax.OrStmt:
			return endsWithSearch(c.Y)
		}
	case *syntax.Subshell:
		return len(c.Stmts) > 0 && endsWithSearch(c.Stmts[len(c.Stmts)-1])
	case *syntax.Block:
		return len(c.Stmts) > 0 && endsWithSearch(c.Stmts[len(c.Stmts)-1])
	case *syntax.TestClause:
		return true
	case *syntax.CallExpr:
		return searchPrograms[programName(c)]
	}
	return false
}

func onlyHarmless(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return onlyHarmless(c.X) && onlyHarmless(c.Y)
	case *syntax.CallExpr:
		return harmlessPrograms[programName(c)]
	}
	return false
}

// programName returns what a simple command runs; "git grep" is grep.
func programName(c *syntax.CallExpr) string {
	for i, word := range c.Args {
		name := word.Lit()
		name = name[strings.LastIndexByte(name, '/')+1:]
		if name == "git" {
			for _, next := range c.Args[i+1:] {
				if sub := next.Lit(); sub == "grep" || sub == "diff" {
					return sub
				} else if !strings.HasPrefix(sub, "-") {
					return name
				}
			}
		}
		if name == "command" && i+1 < len(c.Args) && c.Args[i+1].Lit() != "-v" && c.Args[i+1].Lit() != "-V" {
			continue
		}
		return name
	}
	return ""
}
