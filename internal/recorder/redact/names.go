package redact

// maxName bounds how long a name can be that we look at.
const maxName = 64

// tailIsSecret is the cheap look at a name s[lo:end]: do its last letters fit
// any secret name? Everything nameKind accepts must pass here.
func tailIsSecret(s string, lo, end int) bool {
	if end-lo < 3 {
		return false
	}
	a, b := s[end-3]|0x20, s[end-2]|0x20
	switch s[end-1] | 0x20 {
	case 'y':
		return a == 'k' && b == 'e' // key
	case 'n':
		return a == 'k' && b == 'e' || a == 'i' && b == 'o' // token, authorization
	case 't':
		return a == 'r' && b == 'e' // secret
	case 'd':
		return a == 'o' && b == 'r' || b == 'w' && (a == 's' || a == 'p') // password, passwd, pwd
	case 'e':
		return a == 'k' && b == 'i' || a == 'a' && b == 's' // cookie, passphrase
	case 's':
		return a == 'a' && b == 's' || a == 'i' && b == 'e' || a == 'e' && b == 't' || a == 'r' && b == 'd' || a == 'e' && b == 'y'
	}
	return false
}

// nameTail is the cheap look before an '=' or ':' at i. Quotes, blanks and
// backslashes may stand between the name and the sign.
func nameTail(s string, lo, i int) bool {
	end := i
	for n := 0; end > lo && n < 10; n++ {
		c := s[end-1]
		if c != ' ' && c != '"' && c != '\'' && c != '`' && c != '\\' && c != ':' {
			break
		}
		end--
	}
	return tailIsSecret(s, lo, end)
}

// nameKind says what kind of secret stands under a name, "" for none. Spelling
// does not matter: apiKey, API_KEY, api-key and "api key" are one.
func nameKind(name string) string {
	if len(name) > maxName || !tailIsSecret(name, 0, len(name)) {
		return ""
	}
	var buf [maxName]byte
	n := 0
	upper, parts := true, 1
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c >= 'a' && c <= 'z':
			upper = false
		case c == '_' || c == '-' || c == '.' || c == ' ':
			if n > 0 {
				parts++
			}
			continue
		}
		buf[n] = c
		n++
	}
	folded := view(buf[:n])
	// Only an all-capital name of several parts (an environment variable) is
	// taken by a short ending: JAVA_KEY is one, "monkey" is not.
	env := upper && parts > 1
	for i := range nameEnds {
		e := &nameEnds[i]
		stem := len(folded) - len(e.end)
		if stem < 0 || folded[stem:] != e.end || e.env && !env {
			continue
		}
		if e.whole && stem > 0 || e.part && stem == 0 {
			continue
		}
		if harmlessStem(e.end, folded[:stem]) {
			return ""
		}
		return e.kind
	}
	return ""
}

var nameEnds = []struct {
	end, kind        string
	env, whole, part bool
}{
	{end: "password", kind: "password"},
	{end: "passwords", kind: "password", whole: true},
	{end: "passwd", kind: "password"},
	{end: "passphrase", kind: "password"},
	{end: "pwd", kind: "password", part: true}, // "pwd" alone is a directory
	{end: "pass", kind: "password", env: true},
	{end: "token", kind: "token"},
	{end: "secret", kind: "secret"},
	{end: "secrets", kind: "secret", whole: true},
	{end: "authorization", kind: "authorization"},
	{end: "cookie", kind: "cookie"},
	{end: "cookies", kind: "cookie", whole: true},
	{end: "apikey", kind: "key"},
	{end: "apikeys", kind: "key", whole: true},
	{end: "accesskey", kind: "key"},
	{end: "secretkey", kind: "key"},
	{end: "privatekey", kind: "key"},
	{end: "accountkey", kind: "key"},
	{end: "signingkey", kind: "key"},
	{end: "encryptionkey", kind: "key"},
	{end: "masterkey", kind: "key"},
	{end: "authkey", kind: "key"},
	{end: "sharedkey", kind: "key"},
	{end: "subscriptionkey", kind: "key"},
	{end: "licensekey", kind: "key"},
	{end: "key", kind: "key", env: true},
}

// harmlessStem knows names that end like a secret and hold none.
func harmlessStem(end, stem string) bool {
	switch end {
	case "token":
		switch stem {
		case "max", "min", "per", "num", "total", "next", "prev", "previous", "first", "last", "current",
			"page", "nextpage", "prevpage", "pagination", "continuation", "nextcontinuation", "cursor", "sync", "nextsync",
			"cancel", "cancellation", "stop", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "start", "end",
			"design", "syntax", "lexer", "sub", "tool", "image", "text", "perinput", "peroutput":
			return true
		}
	case "pwd":
		return stem == "old"
	case "key":
		switch stem {
		case "public", "primary", "foreign", "sort", "partition", "cache", "hot", "shortcut", "sshpublic", "index",
			"unique", "storage", "registry", "object", "group", "row", "map", "lookup", "s3", "routing", "idempotency":
			return true
		}
	case "password":
		switch stem {
		case "forgot", "reset", "change", "show", "hide", "confirmreset":
			return true
		}
	}
	return false
}
