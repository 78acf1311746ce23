package event

// Kind names what happened, the same way for every agent. The agent's own name
// for it is kept in [Event.Native].
type Kind string

// The event kinds. Names follow the Agent Hooks Protocol draft where it has
// one.
const (
	SessionStart       Kind = "session.start"
	SessionEnd         Kind = "session.end"
	TurnStart          Kind = "turn.start" // a prompt was submitted
	TurnEnd            Kind = "turn.end"
	ToolBefore         Kind = "tool.before"
	ToolAfter          Kind = "tool.after"
	PermissionRequest  Kind = "tool.permission.request"
	PermissionResolved Kind = "tool.permission.resolved"
	SubagentStart      Kind = "subagent.start"
	SubagentEnd        Kind = "subagent.end"
	CompactBefore      Kind = "context.compact.before"
	CompactAfter       Kind = "context.compact.after"
	UserAttention      Kind = "user.attention"
	UserQuestion       Kind = "user.question"
	UserPlan           Kind = "user.plan"
	SessionTitle       Kind = "session.title"
	ModelBefore        Kind = "model.request.before"
	ModelAfter         Kind = "model.response.after"
	FileChanged        Kind = "file.changed"
	Other              Kind = "other"
)

// Kinds lists every kind in the order in which they usually occur.
func Kinds() []Kind {
	return []Kind{
		SessionStart, SessionEnd, TurnStart, TurnEnd, ToolBefore, ToolAfter,
		PermissionRequest, PermissionResolved, SubagentStart, SubagentEnd,
		CompactBefore, CompactAfter, UserAttention, UserQuestion, UserPlan,
		SessionTitle, ModelBefore, ModelAfter, FileChanged, Other,
	}
}

// Known reports whether k is one of [Kinds].
func (k Kind) Known() bool {
	for _, other := range Kinds() {
		if k == other {
			return true
		}
	}
	return false
}

// Guarded reports whether a hook on k may stop something by default: only
// where a tool is about to run or asks for leave to.
func (k Kind) Guarded() bool { return k == ToolBefore || k == PermissionRequest }

// TakesKeepGoing reports whether k is an end at which a hook may say "go on".
func (k Kind) TakesKeepGoing() bool { return k == TurnEnd || k == SubagentEnd }

// ToolKind names what a tool does, whatever the agent calls it.
type ToolKind string

// The tool kinds.
const (
	Shell     ToolKind = "shell"
	FileRead  ToolKind = "file_read"
	FileWrite ToolKind = "file_write"
	FileEdit  ToolKind = "file_edit"
	Search    ToolKind = "search"
	Fetch     ToolKind = "fetch"
	Task      ToolKind = "task"
	MCP       ToolKind = "mcp"
	Question  ToolKind = "question"
	Plan      ToolKind = "plan"
	OtherTool ToolKind = "other"
)

// ToolKinds lists every tool kind.
func ToolKinds() []ToolKind {
	return []ToolKind{Shell, FileRead, FileWrite, FileEdit, Search, Fetch, Task, MCP, Question, Plan, OtherTool}
}

// Known reports whether k is one of [ToolKinds].
func (k ToolKind) Known() bool {
	for _, other := range ToolKinds() {
		if k == other {
			return true
		}
	}
	return false
}
