package telemetry

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// What begins with gen_ai. is named by the GenAI conventions at
// open-telemetry/semantic-conventions-genai 004902b8cb70aa5ae6ca4ae07132b7daabcd3e10;
// testdata/conventions.json has what they say about it. session.id and error.type are
// general conventions, the rest is hookmux's own.
const (
	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	requestModel   = attribute.Key("gen_ai.request.model")
	agentName      = attribute.Key("gen_ai.agent.name")
	conversationID = attribute.Key("gen_ai.conversation.id")
	inputMessages  = attribute.Key("gen_ai.input.messages")
	outputMessages = attribute.Key("gen_ai.output.messages")
	toolName       = attribute.Key("gen_ai.tool.name")
	toolType       = attribute.Key("gen_ai.tool.type")
	toolCallID     = attribute.Key("gen_ai.tool.call.id")
	toolArguments  = attribute.Key("gen_ai.tool.call.arguments")
	toolResult     = attribute.Key("gen_ai.tool.call.result")
	tokenType      = attribute.Key("gen_ai.token.type")
	inputTokens    = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens   = attribute.Key("gen_ai.usage.output_tokens")
	cacheRead      = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	cacheCreation  = attribute.Key("gen_ai.usage.cache_creation.input_tokens")

	errorType = attribute.Key("error.type")
	sessionID = attribute.Key("session.id")

	ownAgent    = attribute.Key("hookmux.agent") // its name in hookmux
	ownVersion  = attribute.Key("hookmux.agent.version")
	ownEvent    = attribute.Key("hookmux.event.id")
	ownKind     = attribute.Key("hookmux.event.kind")
	ownCost     = attribute.Key("hookmux.cost.usd")
	ownUnpriced = attribute.Key("hookmux.tokens.unpriced")
	ownVerdict  = attribute.Key("hookmux.decision.verdict")
	ownBy       = attribute.Key("hookmux.decision.by")
	ownReason   = attribute.Key("hookmux.decision.reason") // content
	ownHook     = attribute.Key("hookmux.hook.id")
	ownMode     = attribute.Key("hookmux.hook.mode")
	ownTook     = attribute.Key("hookmux.took")
	ownWaited   = attribute.Key("hookmux.wait")
	ownEnd      = attribute.Key("hookmux.wait.end")
	ownSubagent = attribute.Key("hookmux.subagent.type")
)

// The instruments, with the buckets that the conventions recommend.
const (
	tokenUsage        = "gen_ai.client.token.usage"
	agentDuration     = "gen_ai.invoke_agent.duration"
	toolDuration      = "gen_ai.execute_tool.duration"
	costCounter       = "hookmux.cost"
	decisionHistogram = "hookmux.decision.duration"
	waitHistogram     = "hookmux.wait.duration"
)

var (
	tokenBuckets = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	agentBuckets = []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}
	toolBuckets  = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	quickBuckets = []float64{0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 4.096}
	waitBuckets  = []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}
)

// Operations and errors.
const (
	invokeAgent = "invoke_agent"
	executeTool = "execute_tool"
	chat        = "chat"

	errDenied      = "denied"      // hookmux or you denied it
	errFailed      = "failed"      // the agent says so
	errInterrupted = "interrupted" // the user stopped it
	errUnfinished  = "unfinished"  // its end wasn't reported
)

// providers are the beginnings of models' names, by who serves them.
var providers = []struct{ begins, provider string }{
	{"claude", "anthropic"}, {"gpt", "openai"}, {"codex", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini", "gcp.gemini"}, {"grok", "x_ai"}, {"deepseek", "deepseek"}, {"mistral", "mistral_ai"},
	{"codestral", "mistral_ai"}, {"devstral", "mistral_ai"}, {"kimi", "moonshot_ai"}, {"moonshot", "moonshot_ai"},
	{"command", "cohere"}, {"sonar", "perplexity"},
}

// providerOf returns who serves a model, by its name; the agent's name if it doesn't say.
func providerOf(model, agent string) string {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	for _, one := range providers {
		if strings.HasPrefix(name, one.begins) {
			return one.provider
		}
	}
	return agent
}
