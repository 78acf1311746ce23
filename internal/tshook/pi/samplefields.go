package pi

// SampleFields are the fields handlers expect of events that happen inside pi.
var SampleFields = map[string]Object{
	"context": {"messages": []any{}}, "context_with_system": {"messages": []any{}}, "agent_end": {"messages": []any{}},
	"before_agent_start":      {"prompt": "", "systemPrompt": "", "systemPromptOptions": Object{}},
	"before_provider_headers": {"headers": Object{}}, "before_provider_request": {"payload": Object{}},
	"after_provider_response": {"status": 200, "headers": Object{}},
	"message_start":           {"message": Object{"role": "assistant", "content": []any{}}},
	"message_update":          {"message": Object{"role": "assistant", "content": []any{}}},
	"message_end":             {"message": Object{"role": "assistant", "content": []any{}}},
	"turn_start":              {"turnIndex": 0, "timestamp": 0},
	"turn_end":                {"turnIndex": 0, "message": Object{"role": "assistant", "content": []any{}}, "toolResults": []any{}},
	"user_bash":               {"command": "", "excludeFromContext": false},
	"resources_discover":      {"reason": "startup"},
	"session_before_switch":   {"reason": "resume"}, "session_before_fork": {"entryId": "", "position": "before"},
	"session_before_tree": {"preparation": Object{"targetId": "", "oldLeafId": nil, "entriesToSummarize": []any{}, "userWantsSummary": false}},
}
