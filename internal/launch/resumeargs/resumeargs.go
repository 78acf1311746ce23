// Package resumeargs turns the command line an agent was started with into the one that
// resumes its session, or makes a copy of it.
//
// It is pure and knows no agent: what a flag means is data in the catalogue (resume and
// launch). Its promises: an older session's id, an old prompt and anything that looks like a
// credential are never kept; the permission mode, the config home and every other flag of the
// user's are; a run that isn't resumed (a headless one, a subcommand) returns [ErrOnce]; an id
// gets onto a command line only if it is made of letters, digits, "_" and "-".
//
// Everything is a list of words. Nothing here is ever passed to a shell.
package resumeargs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/redact"
)

// ErrOnce says that a run cannot be resumed.
var ErrOnce = errors.New("a run like this cannot be resumed")

// ErrCannot says that an agent has no way to resume a session.
var ErrCannot = errors.New("cannot resume sessions")

// Start is how a session was started and where it is.
type Start struct {
	Program string   // as the user wrote it when that was a path; "" is the agent's own name
	Args    []string // without the program and without hookmux's own additions
	Dir     string   // where it was started
	Work    string   // where it works now; "" is Dir
	Mode    string   // the permission mode it was last seen in
}

// Plan is how a session is resumed.
type Plan struct {
	Argv []string
	Dir  string
}

// ValidID reports whether an id may be put on a command line.
func ValidID(id string) bool {
	if id == "" || len(id) > 256 || id[0] == '-' { // a leading dash would be read as a flag
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// Resume plans taking a session up again.
func Resume(a *agent.Agent, session string, s Start) (Plan, error) {
	if a.Resume == nil {
		return Plan{}, fmt.Errorf("%s: %w", a.Name, ErrCannot)
	}
	if !ValidID(session) {
		return Plan{}, fmt.Errorf("%s: session id %.40q is none that may stand on a command line", a.Name, session)
	}
	plan := Plan{Dir: s.Dir}
	if a.Resume.Keyed == "id" && s.Work != "" || plan.Dir == "" {
		plan.Dir = s.Work
	}
	kept, ok := Clean(a, s.Args, plan.Dir)
	if !ok {
		return Plan{}, fmt.Errorf("%s: %w", a.Name, ErrOnce)
	}
	program := a.Resume.Argv[0]
	if strings.ContainsRune(s.Program, filepath.Separator) && s.Program == redact.Text(s.Program) {
		program = s.Program
	}
	plan.Argv = append(plan.Argv, program)
	for _, word := range a.Resume.Argv[1:] {
		plan.Argv = append(plan.Argv, strings.ReplaceAll(word, "{session}", session))
	}
	if extra := a.Resume.Modes[s.Mode]; len(extra) > 0 && !hasFlag(a, kept, a.Resume.ModeFlags) {
		plan.Argv = append(plan.Argv, extra...)
	}
	if add := a.Resume.Add; len(add) > 0 && !slices.ContainsFunc(kept,
		func(arg string) bool { return strings.Contains(arg, a.Resume.Unless) }) {
		plan.Argv = append(plan.Argv, add...)
	}
	plan.Argv = append(plan.Argv, kept...)
	return plan, nil
}

func hasFlag(a *agent.Agent, args, flags []string) bool {
	for _, p := range split(a.Launch.ValueFlags, args) {
		for _, name := range p.flags {
			if slices.Contains(flags, name) {
				return true
			}
		}
	}
	return false
}

// runtimeOnly are flags of the interpreter that show up among an agent's own.
func runtimeOnly() []string { return []string{"--use-system-ca"} }

// Clean returns what is kept of a command line, without the program, when the session is resumed in
// dir. It is false if the run can't be resumed.
func Clean(a *agent.Agent, args []string, dir string) (kept []string, ok bool) {
	spec := a.Resume
	if spec == nil {
		return nil, false
	}
	parts := dropSessionWords(spec.Lead, split(a.Launch.ValueFlags, args))
	first := true // no word was met yet
	kept = []string{}
	for _, p := range parts {
		if p.word {
			if first && slices.Contains(spec.Not, p.args[0]) {
				return nil, false
			}
			if first && spec.KeepWord && !secret(p) {
				kept = append(kept, p.args...)
			}
			first = false
			if !spec.PastWords {
				return kept, !refuses(spec, parts)
			}
			continue
		}
		for _, name := range p.flags {
			if slices.Contains(spec.Refuse, name) {
				return nil, false
			}
		}
		if rest, goes := removeFlags(spec.Drop, p); !goes && !secret(rest) && !onlySaysWhere(spec, rest, dir) &&
			!slices.Contains(runtimeOnly(), rest.args[0]) {
			kept = append(kept, rest.args...)
		}
	}
	return kept, true
}

// Has reports whether one of the flags is among an agent's arguments; what is
// the value of another flag does not count.
func Has(a *agent.Agent, args, flags []string) bool {
	for _, p := range split(a.Launch.ValueFlags, args) {
		for _, name := range p.flags {
			if slices.Contains(flags, name) {
				return true
			}
		}
	}
	return false
}

// refuses also checks the flags after the first word: a run that prints and ends does so
// wherever its flag is.
func refuses(spec *agent.ResumeSpec, parts []part) bool {
	for _, p := range parts {
		for _, name := range p.flags {
			if slices.Contains(spec.Refuse, name) {
				return true
			}
		}
	}
	return false
}

// dropSessionWords removes the words that only said "a session", or named an older one.
func dropSessionWords(leads [][]string, parts []part) []part {
	at := slices.IndexFunc(parts, func(p part) bool { return p.word })
	if at < 0 {
		return parts
	}
	for _, lead := range leads {
		if gone, ok := matchLead(lead, parts, at); ok {
			out := slices.Clone(parts)
			for i := len(gone) - 1; i >= 0; i-- {
				out = slices.Delete(out, gone[i], gone[i]+1)
			}
			return out
		}
	}
	return parts
}

// matchLead finds the words of a row from the first word on; there may be flags between them.
func matchLead(lead []string, parts []part, at int) (gone []int, ok bool) {
	for _, want := range lead {
		for at < len(parts) && !parts[at].word {
			at++
		}
		if at == len(parts) {
			return gone, want == "*?"
		}
		got := parts[at].args[0]
		if prefix, glob := strings.CutSuffix(want, "*"); want != "*?" && want != got &&
			!(glob && strings.HasPrefix(got, prefix)) {
			return nil, false
		}
		gone = append(gone, at)
		at++
	}
	return gone, true
}

// removeFlags removes the dropped flags from a part; goes means that nothing is left.
func removeFlags(drop []string, p part) (rest part, goes bool) {
	if len(p.flags) == 1 || strings.HasPrefix(p.args[0], "--") {
		return p, slices.Contains(drop, p.flags[0])
	}
	// Joined short flags, of which only the last may have a value.
	last := p.flags[len(p.flags)-1]
	letters, dropped := "", false
	for _, name := range p.flags[:len(p.flags)-1] {
		if slices.Contains(drop, name) {
			dropped = true
			continue
		}
		letters += name[1:]
	}
	switch {
	case slices.Contains(drop, last):
		if letters == "" {
			return part{}, true
		}
		return part{flags: p.flags[:len(p.flags)-1], args: []string{"-" + letters}}, false
	case !dropped:
		return p, false
	}
	tail := p.args[0][len(p.flags):] // the last letter and what hangs on it
	args := append([]string{"-" + letters + tail}, p.args[1:]...)
	return part{flags: p.flags, args: args, value: p.value}, false
}

// onlySaysWhere reports whether a flag names the directory the session is resumed in anyway.
func onlySaysWhere(spec *agent.ResumeSpec, p part, dir string) bool {
	return dir != "" && len(p.flags) == 1 && slices.Contains(spec.Cwd, p.flags[0]) &&
		filepath.Clean(p.value) == filepath.Clean(dir)
}

// secret reports whether an argument must not be written down: its name or its value looks
// like a credential.
func secret(p part) bool {
	for _, arg := range p.args {
		if redact.Text(arg) != arg {
			return true
		}
	}
	if len(p.flags) == 0 {
		return false
	}
	name := strings.TrimLeft(p.flags[len(p.flags)-1], "-")
	if p.value == "" {
		return looksSecret(name) // its value was taken for a word and is gone
	}
	pair := name + "=" + p.value
	return redact.Text(pair) != pair || looksSecret(name) || name == "header" || name == "H"
}

// looksSecret recognises credentials by the name of their flag, whatever they look
// like.
func looksSecret(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	for _, word := range []string{"api-key", "apikey", "password", "secret", "credential", "bearer"} {
		if strings.Contains(name, word) && !strings.HasPrefix(name, "secret-env") {
			return true
		}
	}
	return name == "token" || strings.HasSuffix(name, "-token")
}

// Env returns what of an environment comes along: the variables the catalogue
// names, without credentials, sorted.
func Env(a *agent.Agent, environ []string) []string {
	if a.Resume == nil {
		return nil
	}
	var kept []string
	for _, one := range environ {
		name, value, ok := strings.Cut(one, "=")
		if !ok || value == "" || !matchesAny(a.Resume.Env, name) || redact.Text(one) != one ||
			strings.ContainsAny(value, "\x00\n") {
			continue
		}
		kept = append(kept, one)
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(name, prefix) || p == name {
			return true
		}
	}
	return false
}
