package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// oracleRow is one line of a decisions.json: a reply, and what the real agent
// made of it.
type oracleRow struct {
	Event   string          `json:"event"`
	Mode    string          `json:"mode"`
	Setup   string          `json:"setup"`
	Reply   any             `json:"reply"`
	Replies json.RawMessage `json:"replies"`
	Handler json.RawMessage `json:"handler"`
	Fired   *bool           `json:"fired"`
	Exit    *int            `json:"exit"`
	Stderr  string          `json:"stderr"`
	Ran     *bool           `json:"tool_ran"`
	Saw     []string        `json:"model_saw"`
	Effect  string          `json:"effect"`
	Run     string          `json:"run"`
}

func oracle(t *testing.T, agent string) []oracleRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/fixtures", agent, "decisions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []oracleRow `json:"rows"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var rows []oracleRow
	for _, r := range file.Rows {
		if r.Replies != nil || r.Handler != nil && strings.Contains(string(r.Handler), "async") ||
			r.Fired != nil && !*r.Fired || r.Exit == nil {
			continue // no oracle for one answer of one command
		}
		rows = append(rows, r)
	}
	return rows
}

// equals reports whether a row's reply is this answer.
func (r *oracleRow) equals(native string, a neutral.Answer) bool {
	if r.Event != native || *r.Exit != a.Exit || r.Stderr != a.Stderr {
		return false
	}
	if s, ok := r.Reply.(string); ok {
		return s == a.Stdout
	}
	var said any
	return json.Unmarshal([]byte(a.Stdout), &said) == nil && reflect.DeepEqual(said, r.Reply)
}

func js(s string) json.RawMessage { return json.RawMessage(s) }

const changed = `{"command":"echo changed > ran.txt; echo CHANGED","description":"x"}`

// oracleCase is one encoding and its proof.
type oracleCase struct {
	agent, fixture string
	decision       event.Decision
	run            string // decisions.json row; for agents without run names, part of its effect
	ran            string // yes, no, or empty when no tool is at stake
	saw            string // in what the model received
}

// oracleCases: each encoding with the run in which the real agent got exactly
// this answer, and the effect that makes it right.
var oracleCases = []oracleCase{
	{"claude", "PreToolUse.Bash.json", event.Decision{}, "preA_empty", "yes", "ran-ok"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Allow, Reason: "lab allows"}, "pre_allow", "yes", "ran-ok"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab denies"}, "pre_deny", "no", "lab denies"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab denies"}, "preB_deny", "no", "lab denies"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab denies", Context: "CTX-FROM-HOOK"}, "blocked; the context is delivered as well", "no", "CTX-FROM-HOOK"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Ask, Reason: "lab asks"}, "pre_ask", "no", "lab asks"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Ask, Reason: "lab wants you to look"}, "ia_ask", "yes", "safe-ran"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(changed)}, "pre_allow_updated", "yes", "CHANGED"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Allow, Input: js(changed)}, "pre_allow_updated", "yes", "CHANGED"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Modify, Input: js(changed)}, "preA_updated_nodecision", "yes", "CHANGED"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Allow, Context: "CTX-FROM-HOOK"}, "pre_allow_ctx", "yes", "CTX-FROM-HOOK"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Context: "CTX-FROM-HOOK"}, "no decision; context delivered, normal permission flow", "no", "CTX-FROM-HOOK"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Notice: "SYS-MSG"}, "preA_sysmsg", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash.json", event.Decision{}, "perm_empty", "no", ""},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Reason: "not carried"}, "perm_allow", "yes", "ran-ok"},
	{"claude", "PermissionRequest.Bash-in-subagent.json", event.Decision{Verdict: event.Allow}, "subperm_h", "yes", ""},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab says no"}, "perm_deny", "no", "lab says no"},
	{"claude", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(changed)}, "perm_allow_updated", "yes", "CHANGED"},
	{"claude", "PermissionRequest.AskUserQuestion.json", event.Decision{Verdict: event.Deny, Reason: "The user answered elsewhere: SQLite"}, "aq_pr_deny", "no", "answered elsewhere"},
	{"claude", "PermissionRequest.AskUserQuestion.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(`{"answers":{"Which database should we use?":"SQLite"}}`)}, "aq_pr", "yes", "SQLite"},
	{"claude", "PreToolUse.AskUserQuestion.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(`{"answers":{"Which database should we use?":"SQLite"}}`)}, "AskUserQuestion answered from PreToolUse", "yes", "SQLite"},
	{"claude", "PermissionRequest.ExitPlanMode.json", event.Decision{}, "pl_none", "no", ""},
	{"claude", "PermissionRequest.ExitPlanMode.json", event.Decision{Verdict: event.Allow}, "pl_allow_upd", "yes", "approved your plan"},
	{"claude", "PermissionRequest.ExitPlanMode.json", event.Decision{Verdict: event.Deny, Reason: "Please revise step 2"}, "pl_deny", "no", "revise step 2"},
	{"claude", "UserPromptSubmit.json", event.Decision{Verdict: event.Deny, Reason: "no such prompt"}, "ups_block", "", ""},
	{"claude", "UserPromptSubmit.json", event.Decision{Context: "CTX-UPS"}, "ups_ctx", "", "CTX-UPS"},
	{"claude", "UserPromptSubmit.json", event.Decision{Stdout: "PLAIN-STDOUT"}, "ups_plain", "", "PLAIN-STDOUT"},
	{"claude", "UserPromptSubmit.json", event.Decision{Notice: "SM"}, "ups_json_other", "", ""},
	{"claude", "UserPromptExpansion.json", event.Decision{Verdict: event.Deny, Reason: "no expansion"}, "exp_block", "", ""},
	{"claude", "UserPromptExpansion.json", event.Decision{Context: "CTX-EXP"}, "exp_ctx", "", "CTX-EXP"},
	{"claude", "SessionStart.startup.json", event.Decision{Context: "CTX-SS"}, "ss_ctx", "", "CTX-SS"},
	{"claude", "SessionStart.startup.json", event.Decision{Stdout: "PLAIN-SS"}, "ss_plain", "", "PLAIN-SS"},
	{"claude", "PostToolUse.Bash.json", event.Decision{Context: "CTX-POST"}, "post_ctx", "yes", "CTX-POST"},
	{"claude", "PostToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "post block"}, "post_block", "yes", "post block"},
	{"claude", "PostToolUse.Bash.json", event.Decision{Output: js(`{"type":"text","file":{"filePath":"x","content":"REPL","numLines":1,"startLine":1,"totalLines":1}}`)}, "post_updout_obj", "yes", "REPL"},
	{"claude", "PostToolUseFailure.Bash.json", event.Decision{Context: "CTX-F"}, "ptf_ctx", "yes", "CTX-F"},
	{"claude", "PostToolUseFailure.Bash.json", event.Decision{Verdict: event.Deny, Reason: "fail block"}, "ptf_block", "yes", "fail block"},
	{"claude", "PostToolBatch.json", event.Decision{Context: "CTX-BATCH"}, "batch_ctx", "yes", "CTX-BATCH"},
	{"claude", "PostToolBatch.json", event.Decision{Verdict: event.Deny, Reason: "batch block"}, "batch_block", "yes", ""},
	{"claude", "Stop.json", event.Decision{KeepGoing: true, Reason: "keep going please"}, "stop_block_once", "", "keep going please"},
	{"claude", "Stop.json", event.Decision{KeepGoing: true, Context: "keep going please"}, "stop_block_once", "", "keep going please"},
	{"claude", "Stop.json", event.Decision{Verdict: event.Deny, Reason: "keep going please"}, "stop_block_once", "", "keep going please"},
	{"claude", "SubagentStart.json", event.Decision{Context: "CTX-SUBSTART"}, "sas_ctx", "", "CTX-SUBSTART"},
	{"claude", "SubagentStop.json", event.Decision{KeepGoing: true, Reason: "sub keep going"}, "sast_block", "", "sub keep going"},
	{"claude", "PreCompact.auto.json", event.Decision{Verdict: event.Deny, Reason: "do not compact"}, "pc_block", "", ""},
	{"claude", "PreCompact.auto.json", event.Decision{Stdout: "EXTRA COMPACT INSTRUCTIONS"}, "pc_instr", "", "EXTRA COMPACT"},
	{"claude", "PreModelSwitch.json", event.Decision{Verdict: event.Deny, Reason: "no sonnet"}, "pms_deny", "", ""},
	{"claude", "PreModelSwitch.json", event.Decision{Verdict: event.Allow}, "pms_allow", "", ""},
	{"claude", "Elicitation.json", event.Decision{}, "el_none", "", ""},
	{"claude", "Elicitation.json", event.Decision{Verdict: event.Deny, Reason: "not carried"}, "el_decline", "", "decline"},

	{"codex", "PreToolUse.Bash.json", event.Decision{}, "xpo_plain", "yes", "ran-ok"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Allow, Reason: "not carried"}, "xpo_plain", "yes", "ran-ok"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab denies"}, "xp_deny", "no", "lab denies"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Ask, Reason: "lab denies"}, "xp_deny", "no", "lab denies"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "lab denies", Context: "CTX-PRE", Notice: "left out"}, "xp_deny_ctx", "no", "CTX-PRE"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Modify, Input: js(changed)}, "xp_updated_allow", "yes", "CHANGED"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Verdict: event.Modify, Allowed: true, Input: js(changed)}, "xp_updated_allow", "yes", "CHANGED"},
	{"codex", "PreToolUse.Bash-codemode.json", event.Decision{Verdict: event.Modify, Input: js(changed)}, "ye_codeupd", "yes", ""},
	{"codex", "PreToolUse.Bash-codemode.json", event.Decision{Verdict: event.Deny, Reason: "no code"}, "ye_codedeny", "no", "no code"},
	{"codex", "PreToolUse.apply_patch.json", event.Decision{Verdict: event.Modify, Input: js(`{"command":"*** Begin Patch\n*** Add File: other.txt\n+hello\n*** End Patch\n"}`)}, "ye_pupd", "yes", "other.txt"},
	{"codex", "PreToolUse.mcp", event.Decision{Verdict: event.Modify, Input: js(`{"text":"changed"}`)}, "yf_mcppre", "yes", "changed"},
	{"codex", "PreToolUse.mcp", event.Decision{Verdict: event.Deny, Reason: "no mcp"}, "yf_mcpdeny", "no", "no mcp"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Context: "CTX-PRE"}, "xp_ctx", "yes", "CTX-PRE"},
	{"codex", "PreToolUse.Bash.json", event.Decision{Notice: "SYS"}, "xp_sysmsg", "yes", "ran-ok"},
	{"codex", "PermissionRequest.Bash.json", event.Decision{}, "zp_none", "yes", "ran-ok"},
	{"codex", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Allow, Reason: "not carried"}, "zp_sleepallow", "yes", "ran-ok"},
	{"codex", "PermissionRequest.mcp.json", event.Decision{Verdict: event.Allow}, "yf_mcpallow", "yes", "echo: hey"},
	{"codex", "PermissionRequest.Bash.json", event.Decision{Verdict: event.Deny, Reason: "hook says no"}, "zp_deny", "no", "hook says no"},
	{"codex", "UserPromptSubmit.json", event.Decision{Stdout: "PLAIN-UPS"}, "xu_plain", "", "PLAIN-UPS"},
	{"codex", "UserPromptSubmit.json", event.Decision{Context: "CTX-UPS"}, "xu_ctx", "", "CTX-UPS"},
	{"codex", "UserPromptSubmit.json", event.Decision{Verdict: event.Deny, Reason: "no prompt"}, "xu_block", "", ""},
	{"codex", "UserPromptSubmit.json", event.Decision{Notice: "SM"}, "xu_sysmsg", "", ""},
	{"codex", "SessionStart.startup.json", event.Decision{Stdout: "PLAIN-SS"}, "xss_plain", "", "PLAIN-SS"},
	{"codex", "SessionStart.startup.json", event.Decision{Context: "CTX-SS"}, "xss_ctx", "", "CTX-SS"},
	{"codex", "PostToolUse.Bash.json", event.Decision{Context: "CTX-POST"}, "xpo_ctx", "yes", "CTX-POST"},
	{"codex", "PostToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "post block"}, "xpo_block", "yes", "post block"},
	{"codex", "PostToolUse.Bash.json", event.Decision{Output: js(`"post block"`)}, "xpo_block", "yes", "post block"},
	{"codex", "Stop.json", event.Decision{KeepGoing: true, Reason: "keep going please"}, "xst_block_once", "", "keep going please"},
	{"codex", "Stop.json", event.Decision{Verdict: event.Deny, Reason: "keep going please"}, "xst_block_once", "", "keep going please"},
	{"codex", "Stop.json", event.Decision{Notice: "stop noted"}, "zi_msg", "", ""},
	{"codex", "SubagentStart.json", event.Decision{Context: "CTX-SUB"}, "xsa_SubagentStart_ctx", "", "CTX-SUB"},
	{"codex", "SubagentStop.json", event.Decision{KeepGoing: true, Reason: "sub keep going"}, "xsa_SubagentStop_block", "", "sub keep going"},
	{"codex", "PreCompact.manual.json", event.Decision{Verdict: event.Deny, Reason: "no compaction"}, "zc_cf", "", ""},
	{"codex", "Interrupt.json", event.Decision{Notice: "interrupt noted"}, "zi_msg", "", ""},

	{"grok", "PreToolUse.json", event.Decision{Verdict: event.Deny, Reason: "R"}, `blocked; "Hook denied: R"`, "", ""},
	{"grok", "PreToolUse.json", event.Decision{Verdict: event.Ask, Reason: "R"}, "prompt opens with hook name and R", "", ""},
	{"grok", "PreToolUse.json", event.Decision{Verdict: event.Modify, Input: js(`{"command":"echo REWRITTEN","description":"x"}`), Context: "C"}, "input replaced; C delivered", "", ""},
	{"grok", "UserPromptSubmit.json", event.Decision{Verdict: event.Deny, Reason: "R"}, "prompt dropped, no model call", "", ""},
	{"grok", "Stop.json", event.Decision{KeepGoing: true, Reason: "R"}, "continues; user message", "", ""},
	{"grok", "PostToolUse.json", event.Decision{Verdict: event.Deny, Reason: "R", Context: "C"}, "R and C both delivered", "", ""},
}

// mcpPayload is a Codex call of an MCP tool before it runs; the fixtures have
// only its permission request.
const mcpPayload = `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"mcp__labmcp__echo","tool_input":{"text":"hey"},"tool_use_id":"c"}`

func decodeFixture(t *testing.T, agent, file string) event.Event {
	t.Helper()
	native, payload := "PreToolUse", []byte(mcpPayload)
	if strings.HasSuffix(file, ".json") {
		payload = loadFixture(t, agent, file)
		a, _ := Builtin().Agent(agent)
		native = fixtureEvent(a, file, payload)
	}
	return Builtin().Decode(Input{Agent: agent, Event: native, Payload: payload})
}

func TestAnswersAreOnesTheRealAgentHonoured(t *testing.T) {
	rows := map[string][]oracleRow{}
	for _, c := range slices.Concat(oracleCases, moreOracleCases, answerCases) {
		if rows[c.agent] == nil {
			rows[c.agent] = oracle(t, c.agent)
		}
		ev := decodeFixture(t, c.agent, c.fixture)
		answer, sent := Builtin().Encode(&ev, c.decision)
		var found *oracleRow
		for i := range rows[c.agent] {
			r := &rows[c.agent][i]
			if r.equals(ev.Native, answer) && (r.Run == c.run || r.Run == "" && strings.Contains(r.Effect, c.run) ||
				strings.Contains(r.Effect, c.run) && strings.Contains(c.run, " ")) {
				found = r
				break
			}
		}
		if found == nil {
			t.Errorf("%s %s %+v: no run %q with the answer %s (degraded %q)", c.agent, c.fixture, c.decision, c.run,
				answer.Stdout, sent.Degraded)
			continue
		}
		if c.ran != "" && (found.Ran == nil || *found.Ran != (c.ran == "yes")) {
			t.Errorf("%s %s: the tool ran in %s: %v, want %s", c.agent, c.fixture, c.run, found.Ran, c.ran)
		}
		if !strings.Contains(strings.Join(found.Saw, "\n"), c.saw) {
			t.Errorf("%s %s: the model did not see %q in %s: %q", c.agent, c.fixture, c.saw, c.run, found.Saw)
		}
	}
}

// unprovenCase is an encoding and why it may be sent.
type unprovenCase struct {
	agent, fixture string
	decision       event.Decision
	stdout, why    string
}

// unproven are the encodings no run of the lab had, each with what makes it
// safe to send all the same.
var unproven = []unprovenCase{
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Ask, Reason: "look", Input: js(`{"command":"ls"}`)},
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"look","updatedInput":{"command":"ls","description":"Write a marker file"}}}`,
		"the vendor documents it; a person sees the call either way"},
	{"claude", "PreToolUse.Bash.json", event.Decision{Verdict: event.Deny, Reason: "no", Notice: "said"},
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"},"systemMessage":"said"}`,
		"members it does not know are tolerated, so the deny holds"},
	{"claude", "SessionStart.startup.json", event.Decision{Notice: "said"}, `{"systemMessage":"said"}`, "the vendor documents it for every event"},
	{"claude", "PreToolUse.ExitPlanMode.json", event.Decision{Verdict: event.Allow}, "", "the run had another plan; the form is that of its row"},
	{"grok", "PreToolUse.json", event.Decision{Context: "C"},
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"C"}}`, "the run had a changed input beside it"},
	{"grok", "PreToolUse.json", event.Decision{Verdict: event.Modify, Input: js(`{"command":"ls"}`)},
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls","description":"scripted"}}}`, "the run had context beside it"},
	{"grok", "PostToolUse.json", event.Decision{Context: "C"},
		`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"C"}}`, "the run had a block beside it"},
	{"grok", "PostToolUse.json", event.Decision{Verdict: event.Deny, Reason: "R"}, `{"decision":"block","reason":"R"}`, "the run had context beside it"},
	{"grok", "SubagentStop.subagent.json", event.Decision{KeepGoing: true, Reason: "R"}, `{"decision":"block","reason":"R"}`, "the vendor documents it"},
	{"codex", "PostToolUse.Bash.json", event.Decision{Output: js(`{"a":1}`)}, `{"decision":"block","reason":"{\"a\":1}"}`, "a block with another reason (xpo_block)"},
}

func TestUnprovenAnswersAreListed(t *testing.T) {
	for _, c := range slices.Concat(unproven, moreUnproven, unprovenAnswers) {
		ev := decodeFixture(t, c.agent, c.fixture)
		answer, _ := Builtin().Encode(&ev, c.decision)
		if c.stdout != "" && answer.Stdout != c.stdout {
			t.Errorf("%s %s: %s\nwant %s", c.agent, c.fixture, answer.Stdout, c.stdout)
		}
		for _, r := range oracle(t, c.agent) {
			if r.equals(ev.Native, answer) {
				t.Errorf("%s %s is proven by %s %s: move it up", c.agent, c.fixture, r.Run, r.Effect)
			}
		}
	}
}

// Every "lab:" proof of the catalogue names a run that exists; one of `hookmux verify` stands in its recording
// (internal/ui/agentfacts).
func TestProofsNameRealRuns(t *testing.T) {
	for _, a := range Builtin().Agents() {
		if documentedOnly(a) {
			continue
		}
		runs := map[string]bool{}
		data := loadFixture(t, a.Name, "decisions.json")
		var file struct{ Rows []oracleRow }
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		for _, r := range file.Rows {
			if r.Run != "" {
				runs[r.Event+" "+r.Run] = true
			}
		}
		for _, e := range a.Events {
			for _, claim := range e.Claims() {
				kind, run := SplitProof(claim.Capability.Proof)
				if kind == Tested && len(runs) > 0 && !runs[e.Name+" "+run] && !strings.HasPrefix(run, "verify: ") {
					t.Errorf("%s %s: %s is proven by %q, which no row has", a.Name, e.Name, claim.Name, run)
				}
			}
		}
	}
}
