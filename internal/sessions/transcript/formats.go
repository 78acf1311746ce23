package transcript

// formats are the ways agents write their sessions down, by name.
var formats = map[string]format{
	"claude":            {row: claudeRow},
	"codebuddy":         {row: codebuddyRow},
	"codex":             {row: codexRow, reviewerKey: `"approvals_reviewer"`},
	"codex-index":       {row: codexIndexRow},
	"copilot":           {row: copilotRow},
	"copilot-workspace": {row: copilotWorkspace, whole: true},
	"droid":             {row: droidRow},
	"gemini":            {row: geminiRow},
	"grok":              {row: grokRow},
	"grok-history":      {row: grokHistoryRow},
	"grok-summary":      {row: grokSummary, whole: true},
	"kimi":              {row: kimiRow},
	"kimi-state":        {row: kimiState, whole: true},
	"pi":                {row: piRow},
	"qwen":              {row: qwenRow},
}
