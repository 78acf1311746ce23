package pi

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

var (
	importsHooks = lazyregexp.New(`from\s+["']@(mariozechner|earendil-works)/pi-coding-agent/hooks["']`)
	importsPi    = lazyregexp.New(`from\s+["']@(mariozechner|earendil-works)/pi-coding-agent["']`)
	importsOwn   = lazyregexp.New(`from\s+["']hookmux["']`)
	listens      = lazyregexp.New(`\.on\(\s*["'\x60]([a-z_]+)["'\x60]`)
	splitSession = lazyregexp.New(`\.on\(\s*["'\x60]session_[a-z_]+["'\x60]`)
	oneSession   = lazyregexp.New(`\.on\(\s*["'\x60]session["'\x60]`)
	oldMembers   = lazyregexp.New(`\bctx\s*\.\s*exec\s*\(|\bpi\s*\.\s*send\s*\(`)
)

// GenerationOf returns for which of pi's interfaces a text was written. Types are gone when
// it runs, so it goes by the imports and the members used.
func GenerationOf(text string) Generation {
	switch {
	case importsOwn.MatchString(text):
		if oneSession.MatchString(text) {
			return Hooks1
		}
		return Ext
	case importsHooks.MatchString(text):
		if splitSession.MatchString(text) {
			return Hooks2
		}
		return Hooks1
	case importsPi.MatchString(text) && strings.Contains(text, "HookAPI"):
		return Hooks2
	case strings.Contains(text, "ExtensionAPI"):
		return Ext
	case oneSession.MatchString(text) || oldMembers.MatchString(text):
		return Hooks1
	}
	return Ext
}

// MentionedEvents returns the events a text seems to listen to: all that is known about a
// file that doesn't load.
func MentionedEvents(text string) []string {
	var names []string
	seen := map[string]bool{}
	for _, m := range listens.FindAllStringSubmatch(text, -1) {
		if !seen[m[1]] {
			seen[m[1]] = true
			names = append(names, m[1])
		}
	}
	return names
}

var (
	firstComment = lazyregexp.New(`^(?:#![^\n]*\n)?\s*(?:/\*([\s\S]*?)\*/|((?:[ \t]*//[^\n]*(?:\n|$))+))`)
	runtimeWord  = lazyregexp.New(`(?m)\bruntime:\s*([a-z]+)`)
)

// RuntimeOf returns which runtime a file asks for in its first comment.
func RuntimeOf(text string) string {
	m := firstComment.FindStringSubmatch(text)
	if m == nil {
		return "quickjs"
	}
	if word := runtimeWord.FindStringSubmatch(m[1] + m[2]); word != nil && word[1] == "node" {
		return "node"
	}
	return "quickjs"
}

// Generation names which of pi's three hook interfaces a file was written for.
type Generation string

// The generations.
const (
	Hooks1 Generation = "hooks1" // one session event with reasons, ctx.exec, send; dialogs cancel to null
	Hooks2 Generation = "hooks2" // split session events, exec and sendMessage on the API; dialogs cancel to undefined
	Ext    Generation = "ext"    // extensions: tools, commands, input, and hookmux's own files
)
