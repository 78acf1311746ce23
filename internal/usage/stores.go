package usage

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/agent"
)

// store is where an agent keeps its records.
type store struct {
	agent string
	roots []root
	files []fileKind
}

// root is a folder. Variable is an environment variable with folders that replace it; below is
// the path under it.
type root struct {
	variable string
	home     string // relative to the home directory
	below    string
}

// fileKind is one sort of file below the roots.
type fileKind struct {
	match string // a pattern of doublestar
	not   string
	// session is how many folders above the file the one is that has the session's name; 0 if the rows
	// name it.
	session int
	// folder returns where an agent worked, if the rows don't say it: what is next to a file does.
	folder func(path string) string
	format format
}

var (
	geminiCalls = fields{
		when: map[path]string{"type": "gemini"}, usage: "tokens", id: []path{"id"}, model: "model", at: "timestamp",
		input: "input", output: "output", cacheRead: "cached", cachedInside: true, reasoning: "thoughts",
		more: "tool",
	}
	qwenCalls = fields{
		usage: "usageMetadata", id: []path{"uuid"}, model: "model", session: "sessionId", project: "cwd", at: "timestamp",
		input: "promptTokenCount", output: "candidatesTokenCount", cacheRead: "cachedContentTokenCount",
		cachedInside: true, reasoning: "thoughtsTokenCount", total: "totalTokenCount",
	}
	// An entry of pi's has an id that is only unique in its file; with the time of the
	// answer it is the same in every copy and in no other entry.
	piCalls = fields{
		when: map[path]string{"message.role": "assistant"}, usage: "message.usage",
		id: []path{"id", "message.timestamp", "message.responseId"}, model: "message.model", at: "timestamp",
		input: "input", output: "output", cacheRead: "cacheRead", cacheWrite: "cacheWrite",
		cost: []path{"cost.totalFromProvider", "cost.total"},
	}
	piHeaders = []header{
		{when: map[path]string{"type": "session"}, session: "id", project: "cwd"},
		{when: map[path]string{"type": "model_change"}, model: "modelId"},
	}
	copilotNumbers = fields{
		input: "inputTokens", output: "outputTokens", cacheRead: "cacheReadTokens", cacheWrite: "cacheWriteTokens",
		cachedInside: true,
	}
	copilotCalls = fields{
		when: map[path]string{"type": "session.usage_record"}, usage: "data.usage",
		id: []path{"data.usage.apiCallId", "id"}, model: "data.usage.model", at: "timestamp",
		input: "inputTokens", output: "outputTokens", cacheRead: "cacheReadTokens", cacheWrite: "cacheWriteTokens",
		cachedInside: true,
	}
	copilotHeaders = []header{
		{when: map[path]string{"type": "session.start"}, session: "data.sessionId", project: "data.context.cwd"},
	}
	kimiOldCalls = fields{
		when: map[path]string{"message.type": "StatusUpdate"}, usage: "message.payload.token_usage",
		id: []path{"message.payload.message_id"}, at: "timestamp",
		input: "input_other", output: "output", cacheRead: "input_cache_read", cacheWrite: "input_cache_creation",
	}
	kimiStepCalls = fields{
		when: map[path]string{"event.type": "step.end"}, usage: "event.usage", id: []path{"event.messageId"}, at: "time",
		input: "inputOther", output: "output", cacheRead: "inputCacheRead", cacheWrite: "inputCacheCreation",
	}
	kimiMessageCalls = fields{
		when: map[path]string{"type": "agent.message.appended"}, usage: "message.meta.usage",
		id: []path{"message.meta.messageId"}, at: "time",
		input: "inputOther", output: "output", cacheRead: "inputCacheRead", cacheWrite: "inputCacheCreation",
	}
	kimiRecordCalls = fields{
		when: map[path]string{"type": "usage.record"}, usage: "usage", id: []path{"messageId", "time"}, model: "model",
		at:    "time",
		input: "inputOther", output: "output", cacheRead: "inputCacheRead", cacheWrite: "inputCacheCreation",
	}
	grokCalls = fields{
		usage: "params.update.usage", id: []path{"params.update.prompt_id"}, session: "params.sessionId", at: "timestamp",
		input: "inputTokens", output: "outputTokens", cacheRead: "cachedReadTokens", cacheWrite: "cacheCreationTokens",
		cachedInside: true, reasoning: "reasoningTokens", total: "totalTokens", byModel: "modelUsage",
	}
)

// formats are the forms of records that can be read; an agent's entry names one.
var formats = map[string][]fileKind{
	"claude": {{match: "**/*.jsonl", format: format{markers: []string{`"usage"`}, row: claudeRow}}},
	"codex": {{match: "**/*.jsonl{,.zst}", format: format{
		markers: []string{`"token_count"`, `"turn_context"`, `"session_meta"`}, row: codexRow,
	}}},
	"gemini": {
		{match: "*/chats/**/*.jsonl", folder: geminiFolder, format: format{markers: []string{`"tokens"`, `"sessionId"`},
			row: rowsOf([]header{{when: map[path]string{"sessionId": "*"}, session: "sessionId"}}, geminiCalls)}},
		{match: "*/chats/**/*.json", folder: geminiFolder, format: format{document: geminiDocument(geminiCalls)}},
	},
	"qwen": {{match: "*/chats/**/*.jsonl", format: format{
		markers: []string{`"usageMetadata"`}, row: rowsOf(nil, qwenCalls),
	}}},
	// Artifacts of pi's subagents are second copies in another form.
	"pi": {{match: "**/*.jsonl", not: "**/subagent-artifacts/**", format: format{
		markers: []string{`"usage"`, `"session"`}, row: rowsOf(piHeaders, piCalls),
	}}},
	"openclaw": {
		{match: "**/*.jsonl{,.deleted.*,.reset.*}", format: format{
			markers: []string{`"usage"`, `"session"`, `"model_change"`}, row: rowsOf(piHeaders, piCalls),
		}},
		{match: "*/agent/openclaw-agent.sqlite", format: format{database: readOpenClaw}},
	},
	"copilot": {{match: "**/events.jsonl", format: format{
		markers: []string{`"session.usage_record"`, `"session.shutdown"`, `"session.start"`}, row: copilotRow,
	}}},
	"kimi": {
		{match: "**/agents/*/wire.jsonl", session: 3, folder: kimiFolder, format: kimiRows},
		{match: "**/wire.jsonl", session: 1, folder: kimiFolder, format: kimiRows},
	},
	"droid":    {{match: "**/*.settings.json", folder: droidFolder, format: format{document: droidDocument}}},
	"amp":      {{match: "T-*.json", format: format{document: ampDocument}}},
	"grok":     {{match: "**/updates.jsonl", folder: grokFolder, format: format{markers: []string{`"usage"`}, row: rowsOf(nil, grokCalls)}}},
	"opencode": {{match: "{opencode,kilo}*.db", format: format{database: readOpenCode}}},
	"goose":    {{match: "**/sessions.db", format: format{database: readGoose}}},
}

// stores returns the agents whose records are read.
var stores = sync.OnceValue(func() []store {
	var all []store
	for _, a := range agent.Builtin().Agents() {
		if a.Usage == nil {
			continue
		}
		one := store{agent: a.Name, files: formats[a.Usage.Format]}
		for _, f := range a.Usage.Folders {
			one.roots = append(one.roots, root{variable: f.Env, home: f.Home, below: f.Below})
		}
		all = append(all, one)
	}
	return all
})

var kimiRows = format{
	markers: []string{`"token_usage"`, `"usage"`},
	row:     rowsOf(nil, kimiOldCalls, kimiStepCalls, kimiMessageCalls, kimiRecordCalls),
}

// copilotRow reads calls, and the totals that include those without a row.
func copilotRow(s *fileState, line []byte, offset int64, out *sink) bool {
	if !copilotRows(s, line, offset, out) {
		return false
	}
	copilotShutdown(s, line, out)
	return true
}

var copilotRows = rowsOf(copilotHeaders, copilotCalls)

// keepsRecords reports whether an agent writes down here what it uses. Amp has kept that at its
// service since April 2026; what an older one wrote is read.
func keepsRecords(agent string) bool {
	return agent != "amp" && slices.Contains(Agents(), agent)
}

// Agents returns the names of the agents whose records are read.
func Agents() []string {
	var names []string
	for _, one := range stores() {
		names = append(names, one.agent)
	}
	return names
}
