package handler

import (
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/redact"
)

// Builtins is the registry of built-ins, which Go programs may fill too.
type Builtins = hook.Builtins

// NewBuiltins offers the shipped built-ins: log, trace and session-capture.
// It uses StateDir, Report and Redact of deps.
func NewBuiltins(deps Deps) *Builtins {
	if deps.Report == nil {
		deps.Report = func(string, string) {}
	}
	if deps.Redact == nil {
		limits := redact.Limits{String: -1, Output: -1} // the log promises the whole payload
		deps.Redact = func(dst, src []byte) []byte {
			out, _ := redact.AppendJSON(dst, src, limits)
			return out
		}
	}
	b := new(Builtins)
	for _, one := range []struct {
		name, what string
		run        Func
	}{
		{"log", "appends the whole event, secrets taken out, to " + hookLogName + " in the state directory", logEvent(deps)},
		{"trace", "shows one line per event in `hookmux log -f` and the daemon's log", traceEvent(deps)},
		{"session-capture", "appends session id, cwd, transcript and title to " + sessionsName + " in the state directory", sessionCapture(deps)},
	} {
		if err := b.Register(one.name, one.what, hook.HandlerFunc(one.run)); err != nil {
			panic(err) // two shipped built-ins of one name: a broken build
		}
	}
	if err := b.Alias("claude.session-capture", "session-capture"); err != nil {
		panic(err)
	}
	return b
}

// Shipped reports whether r names one of the built-ins that come with hookmux,
// which are quick and cannot hang.
func Shipped(r hook.Registration) bool {
	if r.Handler != "builtin" {
		return false
	}
	switch r.Target {
	case "log", "trace", "session-capture", "claude.session-capture":
		return true
	}
	return false
}
