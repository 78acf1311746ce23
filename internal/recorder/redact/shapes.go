package redact

import "strings"

// shape is a token with a fixed beginning that ends in the anchor.
type shape struct {
	prefix string
	kind   string
	set    uint8
	min    int  // bytes after the prefix
	strict bool // for short prefixes: not inside a dashed word
	mix    bool // letters and digits both needed
	exact  bool // min is the whole length
}

type shapeTable [256][]shape

// byLastByte files shapes under the byte before their anchor.
func byLastByte(list []shape) (t shapeTable) {
	for _, sh := range list {
		c := sh.prefix[len(sh.prefix)-2]
		t[c] = append(t[c], sh)
	}
	return t
}

var dashShapes = byLastByte(append([]shape{
	{prefix: "sk-", kind: "sk-key", set: setURL, min: 16, strict: true}, // see skBody
	{prefix: "glpat-", kind: "gitlab-token", set: setURL, min: 16},
	{prefix: "glptt-", kind: "gitlab-token", set: setURL, min: 16},
	{prefix: "gldt-", kind: "gitlab-token", set: setURL, min: 16},
	{prefix: "glrt-", kind: "gitlab-token", set: setURL, min: 16},
	{prefix: "glcbt-", kind: "gitlab-token", set: setURL, min: 16},
	{prefix: "xapp-", kind: "slack-token", set: setURL, min: 16, strict: true, mix: true},
	{prefix: "xai-", kind: "xai-key", set: setURL, min: 20, strict: true, mix: true},
	{prefix: "pypi-", kind: "pypi-token", set: setURL, min: 32, strict: true, mix: true},
	{prefix: "pplx-", kind: "perplexity-key", set: setAlnum, min: 24, strict: true},
	{prefix: "nvapi-", kind: "nvidia-key", set: setURL, min: 32, strict: true, mix: true},
	{prefix: "tvly-", kind: "tavily-key", set: setURL, min: 20, strict: true, mix: true},
	{prefix: "key-", kind: "mailgun-key", set: setHex, min: 32, strict: true, exact: true},
	{prefix: "sq0atp-", kind: "square-token", set: setURL, min: 20},
	{prefix: "sq0csp-", kind: "square-token", set: setURL, min: 20},
	{prefix: "sq0idp-", kind: "square-token", set: setURL, min: 20},
	{prefix: "AGE-SECRET-KEY-", kind: "age-key", set: setUpper, min: 20},
}, slackShapes()...))

func slackShapes() (list []shape) {
	for _, c := range "abcdeoprs" {
		list = append(list, shape{prefix: "xox" + string(c) + "-", kind: "slack-token", set: setURL, min: 10})
	}
	return list
}

var underShapes = byLastByte([]shape{
	{prefix: "ghp_", kind: "github-token", set: setAlnum, min: 20},
	{prefix: "gho_", kind: "github-token", set: setAlnum, min: 20},
	{prefix: "ghu_", kind: "github-token", set: setAlnum, min: 20},
	{prefix: "ghs_", kind: "github-token", set: setAlnum, min: 20},
	{prefix: "ghr_", kind: "github-token", set: setAlnum, min: 20},
	{prefix: "github_pat_", kind: "github-token", set: setURL, min: 20},
	{prefix: "gsk_", kind: "groq-key", set: setAlnum, min: 20, strict: true},
	{prefix: "hf_", kind: "huggingface-token", set: setAlnum, min: 24, strict: true},
	{prefix: "npm_", kind: "npm-token", set: setAlnum, min: 30, strict: true},
	{prefix: "r8_", kind: "replicate-token", set: setAlnum, min: 30, strict: true},
	{prefix: "sk_live_", kind: "stripe-key", set: setAlnum, min: 10},
	{prefix: "rk_live_", kind: "stripe-key", set: setAlnum, min: 10},
	{prefix: "pk_live_", kind: "stripe-key", set: setAlnum, min: 10},
	{prefix: "sk_test_", kind: "stripe-key", set: setAlnum, min: 16, mix: true},
	{prefix: "rk_test_", kind: "stripe-key", set: setAlnum, min: 16, mix: true},
	{prefix: "whsec_", kind: "stripe-secret", set: setBase64, min: 20, strict: true},
	{prefix: "dop_v1_", kind: "digitalocean-token", set: setHex, min: 32},
	{prefix: "doo_v1_", kind: "digitalocean-token", set: setHex, min: 32},
	{prefix: "dor_v1_", kind: "digitalocean-token", set: setHex, min: 32},
	{prefix: "shpat_", kind: "shopify-token", set: setAlnum, min: 24},
	{prefix: "shpca_", kind: "shopify-token", set: setAlnum, min: 24},
	{prefix: "shppa_", kind: "shopify-token", set: setAlnum, min: 24},
	{prefix: "shpss_", kind: "shopify-token", set: setAlnum, min: 24},
	{prefix: "dckr_pat_", kind: "docker-token", set: setURL, min: 20},
	{prefix: "lin_api_", kind: "linear-key", set: setAlnum, min: 24},
	{prefix: "sbp_", kind: "supabase-token", set: setHex, min: 32, strict: true},
	{prefix: "lsv2_pt_", kind: "langsmith-key", set: setURL, min: 24},
})

// knownPrefix tells whether some prefix of the table ends at the anchor s[i].
func knownPrefix(t *shapeTable, s string, lo, i int) bool {
	for k := range t[s[i-1]] {
		p := t[s[i-1]][k].prefix
		if at := i + 1 - len(p); at >= lo && s[at:i+1] == p {
			return true
		}
	}
	return false
}

func matchPrefix(t *shapeTable, s string, from, i int) (span, bool) {
	if i == 0 {
		return span{}, false
	}
	for k := range t[s[i-1]] {
		sh := &t[s[i-1]][k]
		at := i + 1 - len(sh.prefix)
		if at < from || s[at:i+1] != sh.prefix {
			continue
		}
		if sh.prefix == "sk-" {
			return matchSK(s, at)
		}
		glued := !startsWord(s, at, sh.strict)
		if glued && sh.strict {
			continue
		}
		end := run(s, i+1, sh.set)
		body := s[i+1 : end]
		if glued && !unmistakable(body) {
			continue
		}
		if len(body) < sh.min || sh.exact && (len(body) != sh.min || !endsWord(s, end)) || sh.mix && !mixed(body) {
			continue
		}
		// A narrow set must not leave the tail of a longer secret behind.
		if !sh.exact {
			end = run(s, end, setURL)
		}
		return span{at, end, sh.kind}, true
	}
	return span{}, false
}

// The vendors that put their own word behind "sk-". With it, a short body is
// enough; without it, only an unbroken run tells a key from a CSS class.
var skVendors = []struct{ word, kind string }{
	{"ant-", "anthropic-key"},
	{"proj-", "openai-key"},
	{"svcacct-", "openai-key"},
	{"admin-", "openai-key"},
	{"or-v1-", "openrouter-key"},
	{"lf-", "langfuse-key"},
}

func matchSK(s string, at int) (span, bool) {
	body := at + len("sk-")
	for _, v := range skVendors {
		if !strings.HasPrefix(s[body:], v.word) {
			continue
		}
		start := body + len(v.word)
		end := run(s, start, setURL)
		if end-start >= 6 && startsWord(s, at, false) || unmistakable(s[start:end]) {
			return span{at, end, v.kind}, true
		}
		return span{}, false
	}
	if !startsWord(s, at, true) {
		return span{}, false
	}
	end := run(s, body, setURL)
	for i := body; i < end; {
		stop := run(s, i, setAlnum)
		if part := s[i:stop]; len(part) >= 20 || len(part) >= 16 && mixed(part) {
			return span{at, end, "sk-key"}, true
		}
		i = stop + 1
	}
	return span{}, false
}

// unmistakable: a long unbroken body makes a secret also of a token that sticks
// to the word before it.
func unmistakable(body string) bool {
	if len(body) < 30 {
		return false
	}
	for i := 0; i < len(body) && i < 256; {
		end := run(body, i, setAlnum)
		if end-i >= 16 && mixed(body[i:end]) {
			return true
		}
		i = end + 1
	}
	return false
}

// matchCapital handles the shapes that hang on a capital letter or the 9.
func matchCapital(s string, from, i int) (span, bool) {
	switch s[i] {
	case 'I':
		if at := i - 1; at >= from && strings.HasPrefix(s[at:], "AIza") && startsWord(s, at, true) {
			if end := run(s, at+4, setURL); end-at-4 >= 30 {
				return span{at, end, "google-key"}, true
			}
		}
		at := i - 2
		if at < from || s[at] != 'A' || i+1 >= len(s) || s[i+1] != 'A' || s[i-1] != 'K' && s[i-1] != 'S' {
			break
		}
		if !startsWord(s, at, false) {
			break
		}
		if end := run(s, i+2, setUpper); end-i-2 == 16 && endsWord(s, end) {
			return span{at, end, "aws-key-id"}, true
		}
	case '9':
		at := i - 3
		if at < from || !strings.HasPrefix(s[at:], "ya29.") || !startsWord(s, at, true) {
			break
		}
		if end := run(s, i+2, setURL); end-i-2 >= 20 {
			return span{at, end, "google-token"}, true
		}
	case 'G':
		at := i - 1
		if at < from || !strings.HasPrefix(s[at:], "SG.") || !startsWord(s, at, true) {
			break
		}
		mid := run(s, i+2, setURL)
		if mid-i-2 < 16 || mid >= len(s) || s[mid] != '.' {
			break
		}
		if end := run(s, mid+1, setURL); end-mid-1 >= 16 {
			return span{at, end, "sendgrid-key"}, true
		}
	case 'J':
		return matchJWT(s, from, i-2)
	case 'K', 'C':
		at := i - 1
		if at < from || !(s[i] == 'K' && s[at] == 'S' || s[i] == 'C' && s[at] == 'A') || !startsWord(s, at, true) {
			break
		}
		if end := run(s, i+1, setHex); end-i-1 == 32 && endsWord(s, end) {
			return span{at, end, "twilio-key"}, true
		}
	}
	return span{}, false
}

// matchJWT wants two parts that begin like base64 of `{"`; the signature may be
// missing (cut off, or "none").
func matchJWT(s string, from, at int) (span, bool) {
	if at < from || !startsWord(s, at, true) {
		return span{}, false
	}
	head := run(s, at, setURL)
	if head-at < 10 || !strings.HasPrefix(s[head:], ".eyJ") {
		return span{}, false
	}
	end := run(s, head+1, setURL)
	if end-head < 8 {
		return span{}, false
	}
	if end < len(s) && s[end] == '.' {
		if sig := run(s, end+1, setURL); sig-end-1 >= 8 {
			end = sig
		}
	}
	return span{at, end, "jwt"}, true
}

func matchTelegram(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], ":AA") {
		return span{}, false
	}
	at := i
	for at > 0 && isDigit(s[at-1]) && i-at < 12 {
		at--
	}
	// "bot123:AA…" is how the token stands in Telegram's own URLs.
	if n := i - at; n < 8 || n > 10 || !startsWord(s, at, false) && !strings.HasSuffix(s[:at], "bot") {
		return span{}, false
	}
	end := run(s, i+1, setURL)
	return span{at, end, "telegram-token"}, end-i-1 >= 33
}
