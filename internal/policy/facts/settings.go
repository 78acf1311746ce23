package facts

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// ownNames matches a line of the hosts file that is about this machine.
var ownNames = lazyregexp.New(`^\s*((127\.[0-9.]+|::1|0\.0\.0\.0)\s+[A-Za-z0-9._ -]+|#.*)?$`)

// takenOver finds settings that make later commands run something else: aliases of everyday
// commands, and places that anyone can write to.
var takenOver = lazyregexp.New(`alias (sudo|su|ssh|doas|passwd|gpg|git|ls|cd|cat|rm|which|curl)=["']?[^"' ]*/|` +
	`alias (sudo|su|doas|passwd|ssh)=|/tmp/|/dev/shm|/var/tmp|_PROXY=|_proxy=|TRUSTED_HOST|INDEX_URL|NODE_TLS_REJECT|` +
	`HISTFILE=/dev/null|HISTSIZE=0|PATH=["']?\.?:|GOPROXY=|GONOSUM|curl|wget|` + "`" + `|alias [^\n]*[;&|]`)

// onlySettings reports whether text for a file only sets variables, aliases and options,
// starts what tools usually ask to be put there, or names this machine.
func onlySettings(file, text string) bool {
	if path.Base(file) == "hosts" {
		for _, line := range strings.Split(text, "\n") {
			if !ownNames.MatchString(line) {
				return false
			}
		}
		return true
	}
	if takenOver.MatchString(text) || strings.TrimSpace(text) == "" {
		return false
	}
	script := shell.Parse(text)
	return OnlySets(&script)
}

// writtenText returns what a run writes to a file, as far as that is known.
func writtenText(scope *Scope, r *shell.Run) (string, bool) {
	if r == nil {
		return "", false
	}
	switch {
	case r.HasOutput:
		return r.Output, true
	case r.Name() == "tee" && r.HasInput:
		return r.Input.Text, !r.Input.Dynamic
	case r.Name() == "cat" && r.HasInput && len(r.Args()) == 0:
		return r.Input.Text, !r.Input.Dynamic
	}
	if r.Name() == "tee" {
		if from := scope.RunsIn(r.From); len(from) == 1 && from[0].Name() == "echo" {
			return strings.TrimPrefix(JoinArgs(from[0].Args()), "-e "), true
		}
	}
	return "", false
}

// mayHoldSettings reports whether it matters what is written to a file.
func mayHoldSettings(file string) bool {
	base := path.Base(file)
	return base == "hosts" || strings.HasPrefix(base, ".") || strings.HasSuffix(base, ".fish") ||
		strings.HasPrefix(file, "/etc/profile") || strings.Contains(base, "rc") || strings.Contains(base, "profile")
}
