package hook

import (
	"fmt"
	"maps"
	"net"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
)

// HandlerAHP is the handler of a backend that speaks the Agent Hooks Protocol: a
// program that talks by stdin and stdout, or an address.
const HandlerAHP = "ahp"

// HandlerTypeScript is the handler of a TypeScript or JavaScript file that runs inside the daemon.
const HandlerTypeScript = "typescript"

// AHP is what a registration says about a backend of the Agent Hooks Protocol.
// Secrets stand in variables of the environment: only the names of these are
// written here.
type AHP struct {
	// Version is one of [AHPVersions]; empty: found out at the first event.
	Version string `json:"version,omitempty"`
	// Lifecycle is one of [AHPLifecycles], of a program; empty means persistent.
	Lifecycle string `json:"lifecycle,omitempty"`
	// TokenEnv names the variable that holds the token for an address.
	TokenEnv string `json:"tokenEnv,omitempty"`
	// HeadersEnv names for headers the variables that hold their values.
	HeadersEnv map[string]string `json:"headersEnv,omitempty"`
	// Env names the variables that a program gets in addition to PATH, HOME and their like.
	Env []string `json:"env,omitempty"`
	// IncludeNative sends the agent's own payload, too.
	IncludeNative bool `json:"includeNative,omitempty"`
}

// Variables are the names of the variables whose values the backend gets.
func (o *AHP) Variables() []string {
	if o == nil {
		return nil
	}
	names := append(slices.Sorted(maps.Values(o.HeadersEnv)), o.Env...)
	if o.TokenEnv != "" {
		names = append(names, o.TokenEnv)
	}
	return names
}

// Versions of the protocol and lifecycles of a program, as they are written.
const (
	AHPVersion01    = "0.1"
	AHPVersionDraft = "draft"

	AHPPersistent = "persistent" // one process for many events
	AHPPerEvent   = "per_event"  // a process for each event
)

// AHPVersions are the versions of the protocol that hookmux speaks, the one that
// is tried first at first.
func AHPVersions() []string { return []string{AHPVersionDraft, AHPVersion01} }

// AHPLifecycles are the ways a program is run.
func AHPLifecycles() []string { return []string{AHPPersistent, AHPPerEvent} }

// IsAddress reports whether the target is an address rather than a program.
func (r *Registration) IsAddress() bool {
	return r.Handler == HandlerAHP && strings.Contains(strings.SplitN(strings.TrimSpace(r.Target), " ", 2)[0], "://")
}

// RunsProgram reports whether the handler starts a program of its own.
func (r *Registration) RunsProgram() bool {
	return r.Handler == "command" || r.Handler == "script" || r.Handler == HandlerAHP && !r.IsAddress()
}

// ahpKinds are the kinds of events that each version has a word for.
var ahpKinds = map[string][]event.Kind{
	AHPVersion01: {event.ToolBefore, event.ToolAfter, event.SessionStart, event.SessionEnd},
	AHPVersionDraft: {event.ToolBefore, event.PermissionRequest, event.ToolAfter, event.TurnStart, event.TurnEnd,
		event.SessionEnd, event.UserAttention},
}

// AHPHas reports whether a version of the protocol has an event for a kind.
func AHPHas(version string, kind event.Kind) bool { return slices.Contains(ahpKinds[version], kind) }

// checkAHP says what is wrong with the part for the Agent Hooks Protocol.
func (r *Registration) checkAHP() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	o := r.AHP
	if r.Handler != HandlerAHP {
		if o != nil {
			bad("ahp is for the handler ahp only; take it out, or write \"handler\": \"ahp\"")
		}
		return errs
	}
	if r.Format != Unified {
		bad("format %q does not go with the handler ahp, which has its own; leave it out", r.Format)
	}
	if o == nil {
		o = &AHP{}
	}
	if o.Version != "" && !slices.Contains(AHPVersions(), o.Version) {
		bad("ahp.version %q is none of %s; leave it out to have it found out", o.Version,
			strings.Join(AHPVersions(), ", "))
	}
	if o.Lifecycle != "" && !slices.Contains(AHPLifecycles(), o.Lifecycle) {
		bad("ahp.lifecycle %q is none of %s", o.Lifecycle, strings.Join(AHPLifecycles(), ", "))
	}
	if kind := event.Kind(r.HookType); kind.Known() && kind != event.Other && !ahpHasAny(o.Version, kind) {
		bad("the Agent Hooks Protocol%s has no event for %s; choose one of %s, or *", versionWords(o.Version), kind,
			strings.Join(kindNames(o.Version), ", "))
	}
	// What stands in place of a name may be the secret: it is not repeated.
	const noName = "%s is no name of a variable; name the variable that holds the value, never the value itself"
	for i, name := range o.Env {
		if !variableName.MatchString(name) {
			bad(noName, fmt.Sprintf("ahp.env[%d]", i))
		}
	}
	if o.TokenEnv != "" && !variableName.MatchString(o.TokenEnv) {
		bad("ahp.tokenEnv is no name of a variable; name the variable that holds the token, never the token itself")
	}
	for _, name := range slices.Sorted(maps.Keys(o.HeadersEnv)) {
		switch canonical := textproto.CanonicalMIMEHeaderKey(name); {
		case !headerName.MatchString(name):
			bad("ahp.headersEnv: %q is no name of a header", name)
		case slices.Contains(ownHeaders, canonical):
			bad("ahp.headersEnv: the header %s is hookmux's own to set%s", canonical, tokenHint(canonical))
		case !variableName.MatchString(o.HeadersEnv[name]):
			bad(noName, "ahp.headersEnv."+name)
		}
	}
	if r.IsAddress() {
		return append(errs, r.checkAddress(o)...)
	}
	if o.TokenEnv != "" || len(o.HeadersEnv) > 0 {
		bad("ahp.tokenEnv and ahp.headersEnv are for addresses; a program gets variables by ahp.env")
	}
	return errs
}

func (r *Registration) checkAddress(o *AHP) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Lifecycle != "" || len(o.Env) > 0 {
		bad("ahp.lifecycle and ahp.env are for programs; an address has neither")
	}
	u, err := url.Parse(strings.TrimSpace(r.Target))
	switch {
	case err != nil || u.Host == "":
		bad("target is no address; write it like https://policy.example.com/hooks")
	case u.User != nil:
		bad("target has a user or a password in its address; name the variable that holds the token in ahp.tokenEnv")
	case u.Scheme == "http" && !isLoopbackName(u.Hostname()):
		bad("target %s would send events unencrypted; write https, or an address of this machine such as "+
			"http://127.0.0.1:8080/", u.Redacted())
	case u.Scheme != "http" && u.Scheme != "https":
		bad("target has the scheme %q; write https, or http for this machine", u.Scheme)
	case u.Fragment != "":
		bad("target has a part behind #, which no server gets to see; take it out")
	}
	return errs
}

// isLoopbackName reports whether a host name means this machine. Names other than
// localhost may mean any machine.
func isLoopbackName(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	ownHeaders   = []string{"Authorization", "Connection", "Content-Length", "Content-Type", "Content-Encoding", "Host",
		"Accept", "Accept-Encoding", "Transfer-Encoding", "Trailer", "Upgrade", "Te", "Expect"}
)

func tokenHint(header string) string {
	if header == "Authorization" {
		return "; name the variable that holds the token in ahp.tokenEnv"
	}
	return ""
}

func ahpHasAny(version string, kind event.Kind) bool {
	if version != "" {
		return AHPHas(version, kind)
	}
	return AHPHas(AHPVersionDraft, kind) || AHPHas(AHPVersion01, kind)
}

func versionWords(version string) string {
	if version == "" {
		return ""
	}
	return " " + version
}

func kindNames(version string) (names []string) {
	for _, k := range event.Kinds() {
		if ahpHasAny(version, k) {
			names = append(names, string(k))
		}
	}
	return names
}
