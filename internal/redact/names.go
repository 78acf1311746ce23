package redact

// maxName bounds how long a name can be that we look at.
const maxName = 64

// tails has a bit for the last three letters of every name in nameEnds, capital
// or small. It is made from that list, so that the cheap look misses none.
var tails = func() (t [1 << 15 / 64]uint64) {
	set := func(a, b, c byte) {
		n := tailIndex(a, b, c)
		t[n/64] |= 1 << (n % 64)
	}
	add := func(name string) {
		b, c := name[len(name)-2], name[len(name)-1]
		if len(name) > 2 {
			set(name[len(name)-3], b, c)
			return
		}
		for a := range byte(32) {
			set(a, b, c)
		}
	}
	for _, e := range nameEnds {
		add(e.end)
	}
	for _, q := range queryNames {
		add(q)
	}
	for _, name := range []string{"value", "str", "string", "property", "entry", "param", "setting"} {
		add(name)
	}
	return t
}()

func tailIndex(a, b, c byte) int { return int(a&31)<<10 | int(b&31)<<5 | int(c&31) }

// tailIsSecret takes the cheap look at a name s[lo:end]: do its last letters fit
// any secret name? Everything nameKind accepts must pass here.
func tailIsSecret(s string, lo, end int) bool {
	if end-lo > 3 && IsDigit(s[end-1]) {
		end = trimNumber(s, lo, end)
	}
	if end-lo < 2 {
		return false
	}
	a := byte(0)
	if end-lo >= 3 {
		a = s[end-3]
	}
	n := tailIndex(a, s[end-2], s[end-1])
	return tails[n/64]&(1<<(n%64)) != 0
}

// trimNumber cuts off the number that distinguishes several secrets: TOKEN_2.
func trimNumber(s string, lo, end int) int {
	for n := 0; end > lo && IsDigit(s[end-1]) && n < 3; n++ {
		end--
	}
	if end > lo && (s[end-1] == '_' || s[end-1] == '-') {
		end--
	}
	return end
}

// nameTail takes the cheap look before an '=' or ':' at i. There may be quotes, blanks and
// backslashes between the name and the sign.
func nameTail(s string, lo, i int) bool {
	end := i
	for n := 0; end > lo && n < 10; n++ {
		c := s[end-1]
		if c != ' ' && c != '"' && c != '\'' && c != '`' && c != '\\' && c != ':' && c != ']' {
			break
		}
		end--
	}
	return tailIsSecret(s, lo, end)
}

// nameKind returns the kind of secret that has such a name, "" for none. Spelling doesn't
// matter: apiKey, API_KEY, api-key and "api key" are one.
func nameKind(name string) string {
	kind, _ := nameKindOf(name)
	return kind
}

// nameKindOf also reports whether the name is weak: then the value must look like a secret too.
func nameKindOf(name string) (kind string, weak bool) {
	if len(name) > maxName || !tailIsSecret(name, 0, len(name)) {
		return "", false
	}
	return readNameKind(name)
}

func readNameKind(name string) (kind string, weak bool) {
	if IsDigit(name[len(name)-1]) {
		name = name[:trimNumber(name, 0, len(name))]
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
	folded := viewText(buf[:n])
	// Only an all-capital name of several parts (an environment variable) is
	// taken by a short ending: JAVA_KEY is one, "monkey" is not.
	env := upper && parts > 1
	for i := range nameEnds {
		e := &nameEnds[i]
		stem := len(folded) - len(e.end)
		if stem < 0 || folded[stem:] != e.end || e.env && !env {
			continue
		}
		if e.whole && stem > 0 || e.part && stem == 0 || e.apart && stem > 0 && !endsApart(name, len(e.end)) {
			continue
		}
		if harmlessStem(e.end, folded[:stem]) {
			return "", false
		}
		return e.kind, e.weak
	}
	return "", false
}

// endsApart reports whether the last n letters of a name are a word of their own:
// db_pass and dbPass, but not bypass.
func endsApart(name string, n int) bool {
	at := len(name) - n
	if at <= 0 {
		return true
	}
	before := name[at-1]
	return !IsAlnum(before) || name[at] >= 'A' && name[at] <= 'Z' && !(before >= 'A' && before <= 'Z')
}

var nameEnds = []struct {
	end, kind        string
	env, whole, part bool
	apart            bool // a word of its own
	weak             bool // the value must look like a secret too
}{
	{end: "password", kind: "password"},
	{end: "passwords", kind: "password", whole: true},
	{end: "passwd", kind: "password"},
	{end: "passphrase", kind: "password"},
	{end: "passcode", kind: "password"},
	{end: "passwort", kind: "password"},
	{end: "kennwort", kind: "password"},
	{end: "motdepasse", kind: "password"},
	{end: "contrasena", kind: "password"},
	{end: "wachtwoord", kind: "password"},
	{end: "senha", kind: "password", apart: true},
	{end: "pwd", kind: "password", part: true}, // "pwd" alone is a directory
	{end: "pass", kind: "password", env: true},
	{end: "pass", kind: "password", part: true, apart: true},
	{end: "pass", kind: "password", whole: true, weak: true},
	{end: "storepass", kind: "password", whole: true},
	{end: "keypass", kind: "password", whole: true},
	{end: "userpass", kind: "password"},
	{end: "sshpass", kind: "password", whole: true},
	{end: "passin", kind: "password", whole: true, weak: true},
	{end: "pw", kind: "password", part: true, apart: true},
	{end: "bindpw", kind: "password"},
	{end: "rootpw", kind: "password"},
	{end: "pw", kind: "password", whole: true, weak: true},
	{end: "token", kind: "token"},
	{end: "secret", kind: "secret"},
	{end: "secrets", kind: "secret", whole: true},
	{end: "secretstring", kind: "secret"},
	{end: "secretkeybase", kind: "secret"},
	{end: "mnemonic", kind: "secret"},
	{end: "seedphrase", kind: "secret"},
	{end: "recoveryphrase", kind: "secret"},
	{end: "authorization", kind: "authorization"},
	{end: "cookie", kind: "cookie"},
	{end: "cookies", kind: "cookie", whole: true},
	{end: "auth", kind: "auth", weak: true, apart: true},
	{end: "pat", kind: "token", env: true, apart: true, weak: true},
	{end: "bearer", kind: "bearer", weak: true, apart: true},
	{end: "jwt", kind: "jwt", weak: true, apart: true},
	{end: "credential", kind: "credential", weak: true, apart: true},
	{end: "credentials", kind: "credential", weak: true, apart: true},
	{end: "creds", kind: "credential", weak: true, apart: true},
	{end: "apikey", kind: "key"},
	{end: "apikeys", kind: "key", whole: true},
	{end: "accesskey", kind: "key"},
	{end: "secretkey", kind: "key"},
	{end: "privatekey", kind: "key"},
	{end: "accountkey", kind: "key"},
	{end: "signingkey", kind: "key"},
	{end: "encryptionkey", kind: "key"},
	{end: "encryptkey", kind: "key"},
	{end: "decryptionkey", kind: "key"},
	{end: "masterkey", kind: "key"},
	{end: "authkey", kind: "key"},
	{end: "sharedkey", kind: "key"},
	{end: "subscriptionkey", kind: "key"},
	{end: "licensekey", kind: "key"},
	{end: "servicekey", kind: "key"},
	{end: "rolekey", kind: "key"},
	{end: "consumerkey", kind: "key", weak: true},
	{end: "deploykey", kind: "key", weak: true},
	{end: "appkey", kind: "key", weak: true},
	{end: "hmackey", kind: "key"},
	{end: "jwtkey", kind: "key"},
	{end: "webhookkey", kind: "key"},
	{end: "clientkeydata", kind: "key"},
	{end: "writekey", kind: "key", weak: true},
	{end: "key", kind: "key", env: true},
}

// queryNames are the parameters of a URL that carry a secret or a signature
// which is as good as one. Elsewhere the names mean other things.
var queryNames = []string{
	"sig", "signature", "x-amz-signature", "x-goog-signature", "x-amz-security-token", "x-amz-credential", "key",
	"code", "auth",
	"pass", "pw", "pwd", "sas", "jwt", "otp", "hmac", "ticket", "assertion",
}

func isQueryName(name string) bool {
	for _, q := range queryNames {
		if len(q) == len(name) && HasPrefixFold(name, q) {
			return true
		}
	}
	return false
}

// harmlessStem recognises names that end like a secret's and hold none.
func harmlessStem(end, stem string) bool {
	switch end {
	case "token":
		switch stem {
		case "max", "min", "per", "num", "total", "next", "prev", "previous", "first", "last", "current",
			"page", "nextpage", "prevpage", "pagination", "continuation", "nextcontinuation", "cursor", "sync",
			"nextsync",
			"cancel", "cancellation", "stop", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "start",
			"end",
			"design", "syntax", "lexer", "sub", "tool", "image", "text", "perinput", "peroutput":
			return true
		}
	case "pwd":
		return stem == "old"
	case "pass":
		switch stem {
		case "by", "com", "encom", "sur", "tres", "over", "under", "multi", "single", "first", "second", "last", "one",
			"two", "render", "test", "gitask", "ask", "sshask":
			return true
		}
	case "auth":
		return stem == "o" || stem == "no" || stem == "requires" || stem == "pre"
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
