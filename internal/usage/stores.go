package usage

// store is where an agent keeps its records.
type store struct {
	agent string
	roots []root
	files []fileKind
}

// root is a folder. Variable names one in its place; below is what comes under it.
type root struct {
	variable string
	home     string // relative to the home directory
	below    string
}

// fileKind is one sort of file below the roots.
type fileKind struct {
	match string // a pattern of doublestar
	not   string
	// session says how many folders above the file the one is that has the session's
	// name; 0 where the rows name it.
	session int
	format  format
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

// stores are the agents whose records are read.
var stores = []store{
	{agent: "claude", roots: []root{
		{variable: "CLAUDE_CONFIG_DIR", home: ".claude", below: "projects"}, {home: ".config/claude", below: "projects"},
	}, files: []fileKind{{match: "**/*.jsonl", format: format{markers: []string{`"usage"`}, row: claudeRow}}}},

	{agent: "codex", roots: []root{
		{variable: "CODEX_HOME", home: ".codex", below: "sessions"},
		{variable: "CODEX_HOME", home: ".codex", below: "archived_sessions"},
	}, files: []fileKind{{match: "**/*.jsonl{,.zst}", format: format{
		markers: []string{`"token_count"`, `"turn_context"`, `"session_meta"`}, row: codexRow,
	}}}},

	{agent: "gemini", roots: []root{{home: ".gemini/tmp"}}, files: []fileKind{
		{match: "*/chats/**/*.jsonl", format: format{markers: []string{`"tokens"`, `"sessionId"`},
			row: rowsOf([]header{{when: map[path]string{"sessionId": "*"}, session: "sessionId"}}, geminiCalls)}},
		{match: "*/chats/**/*.json", format: format{document: geminiDocument(geminiCalls)}},
	}},

	{agent: "qwen", roots: []root{{variable: "QWEN_DATA_DIR", home: ".qwen", below: "projects"}}, files: []fileKind{
		{match: "*/chats/**/*.jsonl", format: format{markers: []string{`"usageMetadata"`}, row: rowsOf(nil, qwenCalls)}},
	}},

	{agent: "pi", roots: []root{
		{variable: "PI_CODING_AGENT_DIR", home: ".pi/agent", below: "sessions"},
		{variable: "PI_AGENT_DIR", home: ".pi/agent", below: "sessions"},
	}, files: piFiles},
	{agent: "omp", roots: []root{{home: ".omp/agent", below: "sessions"}}, files: piFiles},

	{agent: "openclaw", roots: []root{{home: ".openclaw/agents"}}, files: []fileKind{
		{match: "**/*.jsonl{,.deleted.*,.reset.*}", format: format{
			markers: []string{`"usage"`, `"session"`, `"model_change"`}, row: rowsOf(piHeaders, piCalls),
		}},
	}},

	{agent: "copilot", roots: []root{{variable: "COPILOT_HOME", home: ".copilot", below: "session-state"}},
		files: []fileKind{{match: "**/events.jsonl", format: format{
			markers: []string{`"session.usage_record"`, `"session.shutdown"`, `"session.start"`}, row: copilotRow,
		}}}},

	{agent: "kimi", roots: []root{
		{variable: "KIMI_CODE_HOME", home: ".kimi-code", below: "sessions"},
		{variable: "KIMI_DATA_DIR", home: ".kimi", below: "sessions"},
	}, files: []fileKind{
		{match: "**/agents/*/wire.jsonl", session: 3, format: kimiRows}, {match: "**/wire.jsonl", session: 1, format: kimiRows},
	}},

	{agent: "droid", roots: []root{{variable: "DROID_SESSIONS_DIR", home: ".factory/sessions"}},
		files: []fileKind{{match: "**/*.settings.json", format: format{document: droidDocument}}}},

	{agent: "amp", roots: []root{{variable: "AMP_DATA_DIR", home: ".local/share/amp", below: "threads"}},
		files: []fileKind{{match: "T-*.json", format: format{document: ampDocument}}}},

	{agent: "grok", roots: []root{{variable: "GROK_HOME", home: ".grok", below: "sessions"}}, files: []fileKind{
		{match: "**/updates.jsonl", format: format{markers: []string{`"usage"`}, row: rowsOf(nil, grokCalls)}},
	}},

	{agent: "opencode", roots: []root{{variable: "OPENCODE_DATA_DIR", home: ".local/share/opencode"}},
		files: []fileKind{{match: "opencode*.db", format: format{database: readOpenCode}}}},
	{agent: "kilo", roots: []root{{variable: "KILO_DATA_DIR", home: ".local/share/kilo"}},
		files: []fileKind{{match: "kilo*.db", format: format{database: readOpenCode}}}},
	{agent: "goose", roots: []root{{variable: "GOOSE_PATH_ROOT", home: ".local/share/goose"}},
		files: []fileKind{{match: "**/sessions.db", format: format{database: readGoose}}}},
}

var kimiRows = format{
	markers: []string{`"token_usage"`, `"usage"`},
	row:     rowsOf(nil, kimiOldCalls, kimiStepCalls, kimiMessageCalls, kimiRecordCalls),
}

// piFiles are the files of pi and omp. Artifacts of subagents are second copies in
// another form.
var piFiles = []fileKind{{match: "**/*.jsonl", not: "**/subagent-artifacts/**", format: format{
	markers: []string{`"usage"`, `"session"`}, row: rowsOf(piHeaders, piCalls),
}}}

// copilotRow reads calls, and the totals that include those without a row.
func copilotRow(s *fileState, line []byte, offset int64, out *sink) {
	copilotRows(s, line, offset, out)
	copilotShutdown(s, line, out)
}

var copilotRows = rowsOf(copilotHeaders, copilotCalls)

// Agents are those whose records are read.
func Agents() []string {
	names := make([]string, len(stores))
	for i := range stores {
		names[i] = stores[i].agent
	}
	return names
}
