package hookentry

import (
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// CodexTrustTable is where trust is kept in the config, and CodexHashField the member of an
// entry that holds the hash.
const (
	CodexTrustTable = "hooks.state"
	CodexHashField  = "trusted_hash"
)

// CodexTrustPath returns the way to the entry of a key in the config.
func CodexTrustPath(key string) []string { return append(strings.Split(CodexTrustTable, "."), key) }

// CodexTrustKey returns the key that trust in a hook is kept under: its position. Source is
// the config file as Codex names it; group and handler are counted from 0.
func CodexTrustKey(source, event, group, handler string) string {
	return source + ":" + snake(event) + ":" + group + ":" + handler
}

// CodexHook is a command hook as Codex sees it when it asks whether you trust it. Codex keeps
// such trust in a table of its config, with a key for the place of each hook and a hash of
// what would run. Timeout is the limit in force, in seconds: what the config says after
// defaults and limits of the event.
type CodexHook struct {
	Event         string // native name, e.g. PreToolUse
	Matcher       *string
	Command       string
	Timeout       int
	Async         bool
	StatusMessage string
	ContextLimit  int // additionalContextLimit; 0 when not set
}

// Hash returns the trusted_hash under which Codex remembers the hook. It covers exactly what
// would run: if command or limit change, the hook has to be trusted again.
func (h CodexHook) Hash() string {
	sum := sha256.Sum256([]byte(h.canonical()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonical returns the text that is hashed: compact JSON with sorted keys and
// nothing escaped that needn't be. encoding/json escapes more.
func (h CodexHook) canonical() string {
	handler := map[string]string{
		"type": quoteJSON("command"), "command": quoteJSON(h.Command),
		"timeout": strconv.Itoa(h.Timeout), "async": strconv.FormatBool(h.Async),
	}
	if h.StatusMessage != "" {
		handler["statusMessage"] = quoteJSON(h.StatusMessage)
	}
	if h.ContextLimit != 0 {
		handler["additionalContextLimit"] = strconv.Itoa(h.ContextLimit)
	}
	whole := map[string]string{
		"event_name": quoteJSON(snake(h.Event)), "hooks": "[" + sortedObject(handler) + "]",
	}
	if h.Matcher != nil {
		whole["matcher"] = quoteJSON(*h.Matcher)
	}
	return sortedObject(whole)
}

// sortedObject joins values that are JSON already.
func sortedObject(m map[string]string) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteJSON(k) + ":" + m[k])
	}
	b.WriteByte('}')
	return b.String()
}

// quoteJSON escapes what JSON demands and nothing else, as Codex spells it: its
// hash is over these very bytes.
func quoteJSON(s string) string {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\b':
			out = append(out, '\\', 'b')
		case c == '\f':
			out = append(out, '\\', 'f')
		case c < 0x20 || c == '"' || c == '\\':
			out = jsontext.AppendEscape(out, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

// snake returns the name in trust keys: PreToolUse → pre_tool_use.
func snake(native string) string {
	var b strings.Builder
	for i, c := range native {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
