package usage

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// fileState holds what the part of a file that has been read means for the rest of it. It is stored
// with the file's offset.
type fileState struct {
	Session string     `json:"session,omitempty"`
	Project string     `json:"project,omitempty"`
	Model   string     `json:"model,omitempty"`
	Codex   codexState `json:"codex,omitzero"`
}

// sink receives what is read from one file.
type sink struct {
	agent string
	calls func(Call)
	limit func(Window)
	held  []Call // until it is known whether they are copies
	// doubt is called with the reason why a session may have used more than its records say.
	doubt func(session, project, why string, at time.Time)
	odd   bool // a number of tokens is none
}

func (o *sink) add(c Call) {
	c.Agent = o.agent
	c.Tokens = c.Tokens.bounded()
	if !(c.Cost >= 0 && c.Cost <= maxDollars) {
		c.Cost = 0
	}
	if c.Tokens.Total() > 0 || c.Cost > 0 {
		o.calls(c)
	}
}

// addOwn is add, but holds what may turn out to be a copy until the end of the read.
func (o *sink) addOwn(hold bool, c Call) {
	if hold {
		o.held = append(o.held, c)
		return
	}
	o.add(c)
}

// drop forgets what was held: it was copied from another file.
func (o *sink) drop() { o.held = nil }

func (o *sink) flush() {
	for _, c := range o.held {
		o.add(c)
	}
	o.held = nil
}

// format is how an agent writes a file.
type format struct {
	// markers are the texts of which a line must have one to be looked at.
	markers []string
	// row reads a line, and reports whether it is JSON.
	row func(s *fileState, line []byte, offset int64, out *sink) bool
	// document reads a file that is one document instead.
	document func(s *fileState, doc []byte, name string, out *sink)
	// database reads a database instead: the rows after those that read says were final, or all if it
	// says nothing.
	database func(path string, read rowsRead, out *sink) error
}

// fields are the paths of values in a row. Numbers are relative to usage, everything else to the row.
type fields struct {
	when  map[path]string // what must be there for the row to be a call
	usage path
	// id names the call; several are joined. Copies of a row must have the same.
	id      []path
	model   path
	session path
	project path
	at      path

	input, output, cacheRead, cacheWrite path
	// cachedInside says that the input has what was read from and written to the cache.
	cachedInside bool
	// reasoning is in addition to the output, unless the total shows that it is included in it.
	reasoning, total path
	more             path // input that is counted in addition
	cost             []path
	byModel          path // an object with one usage for each model instead
}

// header holds the paths in a row that precedes the calls of what they lack.
type header struct {
	when                    map[path]string
	session, project, model path
}

func matches(doc []byte, when map[path]string) bool {
	for p, want := range when {
		v := p.in(doc)
		if want == "*" && v != nil {
			continue
		}
		if text(v) != want {
			return false
		}
	}
	return true
}

// rowsOf returns the reader of a file of rows.
func rowsOf(headers []header, calls ...fields) func(*fileState, []byte, int64, *sink) bool {
	return func(s *fileState, line []byte, offset int64, out *sink) bool {
		if !jsontext.Valid(line) {
			return false
		}
		for i := range headers {
			h := &headers[i]
			if !matches(line, h.when) {
				continue
			}
			for _, one := range []struct {
				from path
				into *string
			}{{h.session, &s.Session}, {h.project, &s.Project}, {h.model, &s.Model}} {
				if v := text(one.from.in(line)); v != "" {
					*one.into = v
				}
			}
		}
		for i := range calls {
			if calls[i].read(s, line, offset, out) {
				break
			}
		}
		return true
	}
}

// read reads a row, and reports whether it is a call.
func (f *fields) read(s *fileState, line []byte, offset int64, out *sink) bool {
	usage := f.usage.in(line)
	if len(usage) == 0 || usage[0] != '{' || !matches(line, f.when) {
		return false
	}
	c := Call{Model: text(f.model.in(line)), Session: text(f.session.in(line)), Project: text(f.project.in(line)),
		At: moment(f.at.in(line))}
	if c.Model == "" {
		c.Model = s.Model
	}
	if c.Session == "" {
		c.Session = s.Session
	}
	if c.Project == "" {
		c.Project = s.Project
	}
	var names []string
	for _, p := range f.id {
		if name := word(p.in(line)); name != "" {
			names = append(names, name)
		}
	}
	if c.ID = strings.Join(names, "@"); c.ID == "" {
		c.ID = c.Session + "@" + strconv.FormatInt(offset, 10)
	}
	if models := f.byModel.in(usage); len(models) > 0 && models[0] == '{' {
		_ = jsontext.Object(models, func(key, value []byte) bool {
			one := c
			one.Model, one.Request = string(key), string(key)
			f.numbers(value, &one, out)
			out.add(one)
			return true
		})
		return true
	}
	f.numbers(usage, &c, out)
	out.add(c)
	return true
}

// numbers reads the numbers of a call.
func (f *fields) numbers(usage []byte, c *Call, out *sink) {
	t := Tokens{Input: out.count(f.input.in(usage)), Output: out.count(f.output.in(usage)),
		CacheRead: out.count(f.cacheRead.in(usage)), CacheWrite: out.count(f.cacheWrite.in(usage))}
	plain := t.Input + t.Output
	if f.cachedInside {
		t.CacheRead = min(t.CacheRead, t.Input)
		t.CacheWrite = min(t.CacheWrite, t.Input-t.CacheRead)
		t.Input -= t.CacheRead + t.CacheWrite
	}
	if reasoning := out.count(f.reasoning.in(usage)); reasoning > 0 && out.count(f.total.in(usage)) != plain {
		t.Output += reasoning
	}
	t.Input += out.count(f.more.in(usage))
	c.Tokens = t
	for _, p := range f.cost {
		if c.Cost = dollars(p.in(usage)); c.Cost > 0 {
			break
		}
	}
}

// geminiDocument reads the older form of a chat, which is one document.
func geminiDocument(calls fields) func(*fileState, []byte, string, *sink) {
	return func(s *fileState, doc []byte, _ string, out *sink) {
		s.Session = text(jsontext.Get(doc, "sessionId"))
		eachOf(jsontext.Get(doc, "messages"), func(message []byte) { calls.read(s, message, 0, out) })
	}
}

// droidDocument reads the settings of a session, which have its totals.
func droidDocument(s *fileState, doc []byte, name string, out *sink) {
	used := jsontext.Get(doc, "tokenUsage")
	if len(used) == 0 || used[0] != '{' {
		return
	}
	s.Session = strings.TrimSuffix(name, ".settings.json")
	out.add(Call{
		ID: s.Session, Session: s.Session, Project: s.Project, Model: text(jsontext.Get(doc, "model")), Sum: true,
		At: moment(jsontext.Get(doc, "updatedAt")),
		Tokens: Tokens{
			Input: out.count(jsontext.Get(used, "inputTokens")),
			Output: out.count(jsontext.Get(used, "outputTokens")) +
				out.count(jsontext.Get(used, "thinkingTokens")),
			CacheRead:  out.count(jsontext.Get(used, "cacheReadTokens")),
			CacheWrite: out.count(jsontext.Get(used, "cacheCreationTokens")),
		},
	})
}

// ampDocument reads a thread, which contains what each answer used. Until January 2026 Amp also
// kept a ledger of calls, with the time and the helpers' calls, but without the cache; since
// April 2026 it keeps threads at its service only.
func ampDocument(s *fileState, doc []byte, name string, out *sink) {
	s.Session = strings.TrimSuffix(name, ".json")
	if folder, err := url.Parse(text(jsontext.Get(ampFolder(doc), "uri"))); err == nil && folder.Scheme == "file" {
		s.Project = folder.Path
	}
	byAnswer := map[string]Call{}
	var answers []string
	eachOf(jsontext.Get(doc, "messages"), func(m []byte) {
		used := jsontext.Get(m, "usage")
		id := word(jsontext.Get(m, "messageId"))
		if len(used) == 0 || used[0] != '{' || id == "" {
			return
		}
		c := Call{ID: s.Session + "@" + id, Session: s.Session, Project: s.Project, Model: text(jsontext.Get(used, "model")),
			At: moment(jsontext.Get(used, "timestamp"))}
		ampNumbers.numbers(used, &c, out)
		byAnswer[id] = c
		answers = append(answers, id)
	})
	n := 0
	inLedger := map[string]bool{}
	eachOf(jsontext.Get(doc, "usageLedger", "events"), func(e []byte) {
		to := word(jsontext.Get(e, "toMessageId"))
		c := Call{ID: s.Session + "#" + strconv.Itoa(n), Session: s.Session, Project: s.Project} // a helper's, or one that was tried again
		if to != "" && !inLedger[to] {
			c.ID, c.Tokens = s.Session+"@"+to, byAnswer[to].Tokens
			inLedger[to] = true
		}
		n++
		c.Model, c.At = text(jsontext.Get(e, "model")), moment(jsontext.Get(e, "timestamp"))
		c.Tokens.Input, c.Tokens.Output = out.count(jsontext.Get(e, "tokens", "input")), out.count(jsontext.Get(e, "tokens", "output"))
		out.add(c)
	})
	for _, id := range answers {
		if !inLedger[id] {
			out.add(byAnswer[id])
		}
	}
}

var ampNumbers = fields{input: "inputTokens", output: "outputTokens", cacheRead: "cacheReadInputTokens",
	cacheWrite: "cacheCreationInputTokens"}

// ampFolder is the first folder that a thread was begun in.
func ampFolder(doc []byte) (first []byte) {
	eachOf(jsontext.Get(doc, "env", "initial", "trees"), func(tree []byte) {
		if first == nil {
			first = tree
		}
	})
	return first
}

// eachOf calls f for the members of an array; for none of anything else.
func eachOf(list []byte, f func(member []byte)) {
	if len(list) > 0 && list[0] == '[' {
		_ = jsontext.Array(list, func(member []byte) bool { f(member); return true })
	}
}

// copilotShutdown reads the totals that Copilot writes when a session ends.
func copilotShutdown(s *fileState, line []byte, out *sink) {
	if !says(jsontext.Get(line, "type"), "session.shutdown") {
		return
	}
	models := jsontext.Get(line, "data", "modelMetrics")
	if len(models) == 0 || models[0] != '{' {
		return
	}
	at := moment(jsontext.Get(line, "timestamp"))
	_ = jsontext.Object(models, func(model, value []byte) bool {
		c := Call{ID: s.Session + "@" + string(model), Session: s.Session, Project: s.Project, Model: string(model),
			At: at, Sum: true}
		copilotNumbers.numbers(jsontext.Get(value, "usage"), &c, out)
		out.add(c)
		return true
	})
}

// orNow returns t, or now if t isn't known or would be in the future.
func orNow(t, now time.Time) time.Time {
	if t.IsZero() || t.After(now) {
		return now
	}
	return t
}
