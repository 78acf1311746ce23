package redact

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/redactmarks"
)

// urlReach bounds how far a user:password part is looked for.
const urlReach = 1024

var webhooks = []struct{ head, kind string }{
	{"hooks.slack.com/services/", "slack-webhook"},
	{"hooks.slack.com/workflows/", "slack-webhook"},
	{"hooks.slack.com/triggers/", "slack-webhook"},
	{"discord.com/api/webhooks/", "discord-webhook"},
	{"discordapp.com/api/webhooks/", "discord-webhook"},
	{"canary.discord.com/api/webhooks/", "discord-webhook"},
	{"ptb.discord.com/api/webhooks/", "discord-webhook"},
	{"hooks.zapier.com/hooks/catch/", "zapier-webhook"},
	{"outlook.office.com/webhook/", "teams-webhook"},
}

// urlCandidate reports whether s[i] is the colon before slashes.
func urlCandidate(s string, lo, i int) bool {
	if i-lo >= 20 && strings.Contains(s[max(lo, i-64):i], " alias set ") {
		return true
	}
	part := s[i:min(len(s), i+urlReach+8)]
	if strings.IndexByte(part, '@') >= 0 {
		return true
	}
	part = part[:min(len(part), 40)]
	return strings.Contains(part, "hook") || strings.Contains(part, "discord") || strings.Contains(part, "logic.azure")
}

// matchURL finds the password of scheme://user:password@host and the secret
// path of a webhook. s[i] is the colon after the scheme.
func matchURL(s string, i int) (span, bool) {
	p := afterSlashes(s, i+1)
	if p < 0 || i == 0 || !IsAlnum(s[i-1]) {
		return span{}, false
	}
	for _, w := range webhooks {
		if strings.HasPrefix(s[p:], w.head) {
			at := p + len(w.head)
			end := at
			for end < len(s) && (Sets[s[end]]&URL != 0 || s[end] == '/') {
				end++
			}
			return span{at, end, w.kind}, end-at >= 8
		}
	}
	colon, at := -1, -1
	inPath, pathAt := false, len(s)
scan:
	for k := p; k < len(s) && k-p < urlReach; k++ {
		switch c := s[k]; {
		case c == '[' && redactmarks.LenAt(s[k:]) > 0:
			k += redactmarks.LenAt(s[k:]) - 1 // its colon is ours
		case c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '\\':
			break scan
		case c == ':' && colon < 0 && !inPath:
			colon = k
		case c == '/' || c == '?' || c == '#':
			if inPath {
				continue
			}
			inPath, pathAt = true, k
			// Only a password written without escaping lets us read on: not if we
			// have the @ already, and not after a port.
			if at >= 0 || colon < 0 || allDigits(s[colon+1:k]) || s[p] == '[' {
				break scan
			}
		case c == '@':
			at = k
			if inPath {
				break scan
			}
		}
	}
	if at > p && colon < 0 && at < pathAt {
		// A token as the only name: https://TOKEN@host.
		return span{p, at, "url-user"}, at-p >= 20 && IsDense(s[p:at]) && !isHarmless(s[p:at])
	}
	if at < 0 || colon < 0 || colon > at {
		return matchAlias(s, i, p)
	}
	user, pass := s[p:colon], s[colon+1:at]
	if pass == "" || pass == "x-oauth-basic" {
		// Some hosts take the token as the user.
		return span{p, colon, "url-user"}, len(user) >= 16 && !isHarmless(user)
	}
	return span{colon + 1, at, "url-password"}, !isHarmless(pass)
}

// matchAlias finds a secret that is known by its position: "mc alias set NAME URL ACCESS
// SECRET".
func matchAlias(s string, i, p int) (span, bool) {
	if i < 20 || !strings.Contains(s[max(0, i-64):i], " alias set ") {
		return span{}, false
	}
	return nthWord(s, bareEnd(s, p, true), 2, "secret")
}

// afterSlashes returns the index after "//" at i, also written as `\/\/`.
func afterSlashes(s string, i int) int {
	for n := 0; n < 2; n++ {
		if i < len(s) && s[i] == '\\' {
			i++
		}
		if i >= len(s) || s[i] != '/' {
			return -1
		}
		i++
	}
	return i
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !IsDigit(s[i]) {
			return false
		}
	}
	return true
}
