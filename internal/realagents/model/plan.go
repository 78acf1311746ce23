package model

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// conversation is a request of any API, reduced to what planning needs.
type conversation struct {
	model    string
	stream   bool
	tools    []offer
	forced   string // the one tool the agent insists on, for side queries
	schema   json.RawMessage
	messages []Message
	checked  bool // the agent wants the calls of the answer reviewed with it
}

type offer struct {
	name   string
	schema json.RawMessage
}

// reply is the model's reply, before it is put into an API's format.
type reply struct {
	model       string
	text        string
	calls       []call
	inputTokens int
	chunkDelay  time.Duration
	turn        int
	verdicts    obj // of the reviewer, by the id of the call; nil if none was asked for
}

type call struct {
	ToolCall
	id string
}

// input returns the call's arguments, an empty object when the scenario gave none.
func (c call) input() json.RawMessage {
	if len(c.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}

// free returns the text of a free-form call.
func (c call) free() string {
	var s string
	if json.Unmarshal(c.Input, &s) != nil {
		s = string(c.Input)
	}
	return s
}

// number assigns ids to the turn and its calls. The turn is part of the call id, so that a history
// which puts each call next to its own result can still be recognised as one turn (see turns).
func (r *reply) number(turn int) {
	r.turn = turn
	for i := range r.calls {
		r.calls[i].id = fmt.Sprintf("call_hmx%04dx%d", turn, i)
	}
}

var turnInID = lazyregexp.New(`hmx(\d{4,})x\d+`)

type planned struct {
	kind       string
	script     string
	step       int
	reply      reply
	fail       *Fail
	delay      time.Duration
	until      func(context.Context) bool
	notOffered []string
}

const (
	smallUsage  = 1200
	sideText    = "Scripted title"
	sideSummary = "Scripted summary of the conversation."
	plainText   = "Scripted answer."
	overText    = "All scripted steps are done."
)

// sideTask recognises requests that agents make for themselves although they carry tools and the
// conversation: they ask for text only.
var sideTask = lazyregexp.New(`(?i)do not call any tools|respond with (plain )?text only|generate a (short |concise |brief )*title|context checkpoint compaction|handoff summary|create a detailed summary|write an ultra-short dashboard line|^\s*\[suggestion mode`)

// sideSystem recognises the opening of a system prompt that makes the whole
// request one.
var sideSystem = lazyregexp.New(`(?i)^.{0,60}generat(e|ing) (a|the) (short |concise |brief )*(session |conversation |thread )?title`)

// isSideRequest reports whether a request is the agent's own business.
func (c *conversation) isSideRequest() bool {
	if len(c.tools) == 0 || sideTask.MatchString(newestUserText(c.messages)) {
		return true
	}
	if n := len(c.messages); n > 0 && c.messages[n-1].Kind == KindReminder &&
		sideTask.MatchString(c.messages[n-1].Text) {
		return true
	}
	for _, m := range c.messages {
		if (m.Role == RoleSystem || m.Role == RoleDeveloper) && sideSystem.MatchString(m.Text) {
			return true
		}
	}
	return false
}

// plan decides the answer. failed is the number of failures already served, per step.
func plan(c *conversation, sc Scenario, failed map[string]int, body []byte) planned {
	p := planned{reply: reply{inputTokens: smallUsage}}
	if len(c.schema) > 0 {
		p.kind, p.reply.text = ReqSide, compact(fillSchema(c.schema))
		return p
	}
	if c.forced != "" {
		// No agent dictates the tool in a real turn: this wants structured output.
		p.kind = ReqSide
		p.reply.calls = []call{{ToolCall: Call(c.forced, fillSchema(schemaOf(c.tools, c.forced)))}}
		return p
	}
	if c.isSideRequest() {
		p.kind, p.reply.text = ReqSide, sideText
		if strings.Contains(strings.ToLower(newestUserText(c.messages)), "summar") {
			p.reply.text = sideSummary
		}
		return p
	}
	script, at := newestMark(c.messages)
	if at < 0 {
		p.kind, p.reply.text = ReqPlain, plainText
		return p
	}
	p.script, p.step = script, turns(c.messages[at+1:])
	steps, known := sc.Steps, true
	if script != "" {
		steps, known = sc.Named[script]
	}
	if p.step >= len(steps) {
		p.kind, p.reply.text = ReqOver, overText
		if !known {
			p.reply.text = "No script named " + script + "."
		}
		return p
	}
	p.kind = ReqScripted
	st := steps[p.step]
	p.delay, p.until = st.Delay, st.Until
	if p.delay == 0 {
		p.delay = sc.Delay
	}
	if st.Fail != nil {
		key := fmt.Sprintf("%s/%d", script, p.step)
		if st.Fail.Times == 0 || failed[key] < st.Fail.Times {
			failed[key]++
			f := *st.Fail
			if f.Status == 0 {
				f.Status = 500
			}
			if f.Message == "" {
				f.Message = "scripted failure"
			}
			p.fail = &f
			return p
		}
	}
	p.reply.chunkDelay = st.ChunkDelay
	if st.InputTokens > 0 {
		p.reply.inputTokens = st.InputTokens
	}
	vars := findVars(sc.Vars, body)
	p.reply.text = vars.Replace(st.Say)
	for _, tc := range st.Calls {
		tc.Input = json.RawMessage(vars.Replace(string(tc.Input)))
		p.reply.calls = append(p.reply.calls, call{ToolCall: tc})
		if !offered(c.tools, tc) {
			p.notOffered = append(p.notOffered, tc.Name)
		}
	}
	if p.reply.text == "" && len(p.reply.calls) == 0 {
		p.reply.text = plainText // an empty turn is an error to most agents
	}
	return p
}

// offered is lenient with namespaces: agents list those tools in many ways.
func offered(tools []offer, tc ToolCall) bool {
	if tc.Namespace != "" {
		return true
	}
	for _, t := range tools {
		if t.name == tc.Name {
			return true
		}
	}
	return false
}

func schemaOf(tools []offer, name string) json.RawMessage {
	for _, t := range tools {
		if t.name == name {
			return t.schema
		}
	}
	return nil
}

func newestUserText(ms []Message) string {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == RoleUser && ms[i].Kind == KindText {
			return ms[i].Text
		}
	}
	return ""
}

// newestMark finds the newest user text with a marker; -1 when there is none.
func newestMark(ms []Message) (script string, at int) {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role != RoleUser || ms[i].Kind != KindText {
			continue
		}
		if all := markPattern.FindAllStringSubmatch(ms[i].Text, -1); all != nil {
			return all[len(all)-1][1], i
		}
	}
	return "", -1
}

// turns returns how often the assistant spoke. A run of assistant messages is one turn; so are
// calls of one turn with their results in between.
func turns(ms []Message) int {
	n, speaking := 0, false
	seen := map[string]bool{}
	for _, m := range ms {
		if m.Role != RoleAssistant {
			speaking = false
			continue
		}
		if id := turnInID.FindStringSubmatch(m.ToolCallID); id != nil {
			if seen[id[1]] {
				speaking = true
				continue
			}
			seen[id[1]] = true
		}
		if !speaking {
			n++
		}
		speaking = true
	}
	return n
}

// findVars searches the request for the scenario's variables. A variable that
// is not there stays as it is, so that the failure is visible to the agent.
func findVars(vars map[string]*regexp.Regexp, body []byte) *strings.Replacer {
	var pairs []string
	for name, re := range vars {
		all := re.FindAllSubmatch(body, -1)
		if len(all) == 0 {
			continue
		}
		last := all[len(all)-1]
		pairs = append(pairs, "${"+name+"}", string(last[min(1, len(last)-1)]))
	}
	return strings.NewReplacer(pairs...)
}
