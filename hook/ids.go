package hook

import "strings"

// HandlerTypeScript is the handler of a TypeScript or JavaScript file that runs inside the daemon.
const HandlerTypeScript = "typescript"

// GuardPrefix begins the ids of hookmux's own guards, and their settings. No other hook
// may have such an id.
const GuardPrefix = "guard."

const (
	tsHookPrefix = "ts:"
	rulePrefix   = "rule:"
)

// GuardID returns the id of a guard.
func GuardID(name string) string { return GuardPrefix + name }

// GuardName returns the name of the guard with an id. It is the id itself and false when that
// is not a guard's.
func GuardName(id string) (name string, ok bool) { return strings.CutPrefix(id, GuardPrefix) }

// TSHookID returns the id of a TypeScript file.
func TSHookID(file string) string { return tsHookPrefix + file }

// TSHookFile returns the file with an id; the id itself when that is not a file's.
func TSHookFile(id string) string { return strings.TrimPrefix(id, tsHookPrefix) }

// RuleID returns the id that represents one rule among hooks, where a guard's rules
// are listed one by one.
func RuleID(rule string) string { return rulePrefix + rule }

// RuleOf returns the rule behind an id; false when that is not a rule's.
func RuleOf(id string) (rule string, ok bool) { return strings.CutPrefix(id, rulePrefix) }
