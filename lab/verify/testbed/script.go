package testbed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// MarkedPrompt returns what the user asks; the mark has the model run its script.
func MarkedPrompt(words string) string { return words + " " + model.Mark("") }

// The words that hooks put in. A reason, a context and so on are recognised by them wherever they
// come out.
const (
	WordReason  = "hookmux-verify-reason-"
	WordContext = "hookmux-verify-context-"
	WordOutput  = "hookmux-verify-result-"
	WordKeep    = "hookmux-verify-go-on-"
	WordNotice  = "hookmux-verify-notice-"
)

// WordEnd closes every such word: some names of events begin with another's.
const WordEnd = "."

// WordFor returns a word with the name it is about.
func WordFor(word, name string) string { return word + name + WordEnd }

// GoOn returns what an agent is sent when it is kept going for the nth time.
func GoOn(name string, n int) string { return WordFor(WordKeep, fmt.Sprintf("%s-%d", name, n)) }

// LastWords end a scripted turn.
const LastWords = "The scripted turn is over."

func (st *TestBed) TaggedCall(tag string) model.ToolCall {
	return st.Table.Shell.Call(TaggedCommand(tag))
}

func (st *TestBed) FailingCall(tag string) model.ToolCall {
	return st.Table.Shell.Call(TaggedCommand(tag) + "; exit 3")
}

func CallSteps(calls ...model.ToolCall) []model.Step {
	var out []model.Step
	for _, c := range calls {
		out = append(out, model.Step{Calls: []model.ToolCall{c}})
	}
	return out
}

// SetScript sets what the model does; the subagent's own script is always there.
func (st *TestBed) SetScript(ss []model.Step) {
	sc := model.Scenario{Steps: ss, Vars: st.Driver.ScriptVars(), Named: map[string][]model.Step{
		"sub": {
			{Calls: []model.ToolCall{st.TaggedCall("sub")}},
			{Say: "The scripted helper is done."},
			{Say: "The scripted helper is done again."},
		},
	}}
	st.Model.SetScenario(st.Run, sc)
}

// SubagentSteps returns the steps that start a helper, none if the agent has none.
func (st *TestBed) SubagentSteps() []model.Step {
	if st.Driver.Subagent == nil {
		return nil
	}
	return st.Driver.Subagent("Help with it " + model.Mark("sub"))
}

// StartDaemonWithHooks starts the daemon and installs the hooks.
func (st *TestBed) StartDaemonWithHooks(decide Decide) error {
	if err := st.StartDaemon(decide); err != nil {
		return err
	}
	return st.InstallHooks()
}

func (st *TestBed) FreeCommand(words string) []string {
	return realagents.Headless(st.Driver.Name, MarkedPrompt(words))
}

// EscalatedCall returns a tagged call that needs leave in a strict start.
func (st *TestBed) EscalatedCall(tag string) model.ToolCall {
	c := st.TaggedCall(tag)
	if st.Driver.Escalate != nil {
		c = st.Driver.Escalate(c)
	}
	return c
}

var TagPattern = lazyregexp.New(`\bran-([a-z0-9][a-z0-9-]*[a-z0-9])\b`)

// TagOf returns the tag of the scripted command that an event is about.
func TagOf(ev *event.Event) string {
	if ev.Tool == nil {
		return ""
	}
	for _, c := range ev.Tool.Commands {
		if m := TagPattern.FindStringSubmatch(c[:min(len(c), 4096)]); m != nil {
			return m[1]
		}
	}
	return ""
}

// TaggedCommand returns a scripted command: it leaves a file and says a word.
func TaggedCommand(tag string) string { return "touch ran-" + tag + "; echo out-" + tag }

// ChangedInput puts another command into a call, under the key it came in.
func ChangedInput(ev *event.Event, with string) json.RawMessage {
	var input map[string]json.RawMessage
	if ev.Tool == nil || json.Unmarshal(ev.Tool.Input, &input) != nil {
		return nil
	}
	text, _ := json.Marshal(with)
	for key, value := range input {
		var old string
		if json.Unmarshal(value, &old) == nil && TagPattern.MatchString(old) {
			b, _ := json.Marshal(map[string]json.RawMessage{key: text})
			return b
		}
		var list []string
		if json.Unmarshal(value, &list) == nil && len(list) == 1 && TagPattern.MatchString(list[0]) {
			b, _ := json.Marshal(map[string][]string{key: {with}})
			return b
		}
	}
	return nil
}

// ChangedOutput puts another text into a result, in the form it came in:
// Claude Code insists on the tool's own object.
func ChangedOutput(ev *event.Event, with string) json.RawMessage {
	text, _ := json.Marshal(with)
	var object map[string]json.RawMessage
	if ev.Tool == nil || json.Unmarshal(ev.Tool.Output, &object) != nil || object["stdout"] == nil {
		return text
	}
	object["stdout"] = text
	b, _ := json.Marshal(object)
	return b
}

// EscalateCall makes a call one that needs permission, if that takes more than the call.
func (st *TestBed) EscalateCall(c model.ToolCall) model.ToolCall {
	if st.Driver.Escalate != nil {
		return st.Driver.Escalate(c)
	}
	return c
}

// LeftItsFile reports whether the tagged command left its file.
func (st *TestBed) LeftItsFile(tag string) bool {
	_, err := os.Stat(filepath.Join(st.Project, "ran-"+tag))
	return err == nil
}

// SubSteps are the steps of a subagent.
var SubSteps = []model.ScriptStep{
	{
		Run: []string{TaggedCommand("sub")},
	}, {Say: "The scripted helper is done."}, {Say: "The scripted helper is done again."},
}
