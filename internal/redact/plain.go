package redact

import (
	"strings"
)

// nameCandidate takes the cheap look at an underscore: is it the last one in a
// secret's name that is followed by something other than a sign?
func nameCandidate(s string, i int) bool {
	if i+3 >= len(s) {
		return false
	}
	switch s[i+1] | 0x20 {
	case 'k', 't', 's', 'p', 'a', 'c', 'u':
	default:
		return false
	}
	end := RunEnd(s, i+1, Alnum)
	if end >= len(s) || s[end] != ' ' && s[end] != '"' && s[end] != '\'' && s[end] != '\\' {
		return false
	}
	return tailIsSecret(s, i, end) || s[i+1:end] == "user"
}

// placedCommands take a secret as their n-th argument.
var placedCommands = []struct {
	name string
	n    int
}{
	{"add_user", 2}, {"change_password", 2}, {"authenticate_user", 2}, {"wpa_passphrase", 2},
}

// matchNameThenValue matches the value that follows a name with an underscore
// without a sign: setenv A_TOKEN x, Setenv("A_TOKEN", "x").
func matchNameThenValue(s string, i int) (span, bool) {
	if !nameCandidate(s, i) {
		return span{}, false
	}
	end := RunEnd(s, i+1, Alnum)
	at := i
	for at > 0 && Sets[s[at-1]]&Name != 0 && end-at <= maxName {
		at--
	}
	name := s[at:end]
	for _, c := range placedCommands {
		if name == c.name && s[end] == ' ' {
			return nthWord(s, end, c.n, "password")
		}
	}
	kind, weak := nameKindOf(name)
	if kind == "" {
		return span{}, false
	}
	if s[end] != ' ' {
		return nextArgument(s, end, kind, weak)
	}
	k := SkipBlanks(s, end)
	if !setsVariable(s[max(0, at-64):at]) || k < len(s) && s[k] == '[' {
		return span{}, false
	}
	return flagValue(s, k, kind, weak, true)
}

// setsVariable reports whether the words before a name say that its value follows.
func setsVariable(before string) bool {
	if nl := strings.LastIndexByte(before, '\n'); nl >= 0 {
		before = before[nl+1:]
	}
	word, rest := LastWord(before)
	switch word {
	case "set", "setenv", "setx", "put":
		return true
	case "env": // of a Dockerfile; after something else it is a reader
		return strings.TrimSpace(rest) == ""
	case "gx", "ux", "x", "lx": // of the fish shell: set -gx
		return strings.HasSuffix(rest, "set -")
	}
	// A registry in front: npm config set //host/:_authToken
	return strings.HasSuffix(before, ":") && strings.Contains(before, " set ")
}

// nthWord returns the n-th word after at on the same line.
func nthWord(s string, at, n int, kind string) (span, bool) {
	for ; n > 0; n-- {
		k := SkipBlanks(s, at)
		if k == at || k >= len(s) || s[k] == '\n' || s[k] == '-' || s[k] == '|' || s[k] == '<' || s[k] == '>' {
			return span{}, false
		}
		if n == 1 {
			return flagValue(s, k, kind, false, true)
		}
		at = wordEnd(s, k)
	}
	return span{}, false
}

// wordEnd returns the end of a shell word, quoted or not.
func wordEnd(s string, k int) int {
	if k < len(s) && (s[k] == '"' || s[k] == '\'') {
		if n := strings.IndexByte(s[k+1:min(len(s), k+lookahead)], s[k]); n >= 0 {
			return k + 2 + n
		}
	}
	return bareEnd(s[:min(len(s), k+lookahead)], k, true)
}

// nextArgument returns a quoted text that follows a quoted name and a comma, or the only argument of a
// call: put("a_token", "x"), setPassword("x"). s[end] is the sign after the name.
func nextArgument(s string, end int, kind string, weak bool) (span, bool) {
	k := end
	for n := 0; k < len(s) && s[k] == '\\' && n < 4; n++ {
		k++
	}
	switch {
	case k < len(s) && IsQuote(s[k]):
		k = SkipBlanks(s, k+1)
		if k >= len(s) || s[k] != ',' {
			return span{}, false
		}
	case k >= len(s) || s[k] != '(' || kind != "password":
		return span{}, false
	}
	k = SkipBlanks(s, k+1)
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 4 {
		q++
	}
	if q >= len(s) || !IsQuote(s[q]) {
		return span{}, false
	}
	sp, ok := quotedValue(s, k, q, kind, false)
	if !ok || weak && !looksSecret(s[sp.start:sp.end]) {
		return span{}, false
	}
	// A label, a key or a message: not a secret.
	return sp, IsMixed(s[sp.start:sp.end])
}

// matchPasswordWord matches what follows the word "password" without a sign: a
// netrc file, SQL, a call, a sentence. s[i] is the w.
func matchPasswordWord(s string, i int) (span, bool) {
	var end int
	switch {
	case i < 4 || s[i-4]|0x20 != 'p':
		return span{}, false
	case HasPrefixFold(s[i:], "word"):
		end = i + 4
	case HasPrefixFold(s[i:], "wd"):
		end = i + 2
	default:
		return span{}, false
	}
	if strings.HasSuffix(s[:i], "chpass") && EndsWord(s, end) {
		return pipedValue(s, i-6, true)
	}
	if end >= len(s) {
		return span{}, false
	}
	switch c := s[end]; {
	case c == '(' || IsQuote(c) || c == '\\':
		return nextArgument(s, end, "password", false)
	case c != ' ' && c != '\t' && c != '\n' || !StartsWord(s, i-4, true):
		return span{}, false
	}
	before := strings.ToLower(s[max(0, i-120):i])
	if s[end] == '\n' {
		// netrc allows a line for each word.
		if !strings.Contains(before, "machine ") || !strings.Contains(before, "login ") {
			return span{}, false
		}
	}
	k := end + 1
	for k < len(s) && k-end < 16 && IsSpace(s[k]) && (s[end] == '\n' || s[k] != '\n') {
		k++
	}
	return spokenPassword(s, k, before, s[i] == 'W')
}

func spokenPassword(s string, k int, before string, capital bool) (span, bool) {
	said := false
	for _, w := range []string{"is ", "was ", "to ", "= ", "7 ", "5 ", "0 "} {
		if strings.HasPrefix(s[k:], w) {
			k, said = k+len(w), true
			break
		}
	}
	if k >= len(s) || harmlessHead(s[k:]) || s[k] == '-' {
		return span{}, false
	}
	placed := strings.Contains(before, "login ") || strings.Contains(before, "machine ") ||
		strings.Contains(before, "nmcli ") || strings.Contains(before, "account ") && strings.Contains(before, "host ")
	if IsQuote(s[k]) {
		sp, ok := quotedValue(s, k, k, "password", false)
		sql := capital || strings.Contains(before, "user ") || strings.Contains(before, "role ") ||
			strings.Contains(before, "set ")
		return sp, ok && (sql || IsMixed(s[sp.start:sp.end]))
	}
	end := bareEnd(s[:min(len(s), k+lookahead)], k, true)
	val := strings.TrimRight(s[k:end], ".,:!?")
	end = k + len(val)
	if val == "" || isHarmless(val) || proseWord(val) || strings.Contains(val, "://") {
		return span{}, false
	}
	if placed {
		return valueSpan(s, k, end, "password"), len(val) >= 3 && (!strings.Contains(before, "login ") || !said)
	}
	ok := IsMixed(val) && len(val) >= 8 && !HasPathForm(val) && !HasVersionForm(val) &&
		strings.IndexByte(val, '(') < 0 &&
		strings.IndexByte(val, '=') < 0 && strings.IndexByte(val, '.') < 0 && strings.IndexByte(val, '/') < 0
	return valueSpan(s, k, end, "password"), ok
}

// matchBasicAuth matches the second argument of SetBasicAuth("me", "x").
func matchBasicAuth(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], "BasicAuth(") {
		return span{}, false
	}
	part := s[:min(len(s), i+lookahead)]
	comma := strings.IndexByte(part[i:], ',')
	if comma < 0 {
		return span{}, false
	}
	k := SkipBlanks(s, i+comma+1)
	if k >= len(s) || !IsQuote(s[k]) {
		return span{}, false
	}
	return quotedValue(s, k, k, "password", false)
}

// matchIdentifiedBy matches the password of SQL's IDENTIFIED BY 'x'.
func matchIdentifiedBy(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], "BY ") || !strings.Contains(s[max(0, i-60):i], "IDENTIFIED") {
		return span{}, false
	}
	k := SkipBlanks(s, i+3)
	if k >= len(s) || !IsQuote(s[k]) {
		return span{}, false
	}
	return quotedValue(s, k, k, "password", true)
}

// closingTag takes the cheap look at "</": does the element's name fit a secret?
func closingTag(s string, i int) bool {
	at := i + 2
	if s[i+1] == '\\' {
		at++
	}
	end := RunEnd(s, at, Name)
	if end > at && end < len(s) && s[end] == ':' { // a name space
		at = end + 1
		end = RunEnd(s, at, Name)
	}
	return end-at >= 3 && end-at <= maxName && end < len(s) && s[end] == '>' && tailIsSecret(s, at, end)
}

// elementReach bounds how far back the beginning of an element is looked for.
const elementReach = 512

// matchElement matches the text of <password>x</password>. s[i] is the second '<'.
func matchElement(s string, i int) (span, bool) {
	at := i + 2
	if s[i+1] == '\\' {
		at++
	}
	end := RunEnd(s, at, Name)
	if end < len(s) && s[end] == ':' { // a name space
		at = end + 1
		end = RunEnd(s, at, Name)
	}
	start := i
	for start > 0 && i-start < elementReach && s[start-1] != '>' && s[start-1] != '<' {
		start--
	}
	if start == 0 || s[start-1] != '>' {
		return span{}, false
	}
	kind, weak := nameKindOf(s[at:end])
	if kind == "" {
		switch s[at:end] {
		case "string", "value", "property", "entry", "param", "setting":
			kind, weak = nameKindOf(keyBefore(s, start-1))
		}
	}
	val := strings.TrimSpace(s[start:i])
	if kind == "" || isHarmless(val) || len(val) < 3 || weak && !looksSecret(val) || strings.IndexByte(val, ' ') >= 0 {
		return span{}, false
	}
	start += strings.Index(s[start:i], val)
	return valueSpan(s, start, start+len(val), kind), true
}

// keyBefore returns the name of the text after the tag that ends at i: the attribute of that tag or
// of the one before it, or "<key>NAME</key>" before it.
func keyBefore(s string, i int) string {
	part := s[max(0, i-160):i]
	for range 2 {
		open := strings.LastIndexByte(part, '<')
		if open < 0 {
			return ""
		}
		tag := part[open:]
		for _, attribute := range []string{` name="`, ` key="`} {
			if _, rest, ok := strings.Cut(tag, attribute); ok {
				name, _, _ := strings.Cut(rest, `"`)
				return name
			}
		}
		part = strings.TrimSpace(part[:open])
		if rest, ok := strings.CutSuffix(part, "</key>"); ok {
			return rest[strings.LastIndexByte(rest, '>')+1:]
		}
		part = strings.TrimSuffix(part, ">")
	}
	return ""
}

// matchNamedValue matches the value of a pair whose name is in a field of its own: name:
// DB_PASSWORD, value: x. s[i] is the sign after "value".
func matchNamedValue(s string, i int, quotedName bool) (span, bool) {
	lo := max(0, i-120)
	at := i
	for at > lo && !IsAlnum(s[at-1]) {
		at--
	}
	at -= len("value")
	if at <= lo {
		return span{}, false
	}
	end := at
	for end > lo && !IsAlnum(s[end-1]) {
		switch s[end-1] {
		case '}', ')', '>', ';':
			return span{}, false
		}
		end--
	}
	from := end
	for from > lo && Sets[s[from-1]]&Name != 0 {
		from--
	}
	kind := nameKind(s[from:end])
	if kind == "" || !strings.ContainsAny(s[max(lo, from-4):from], ":=") {
		return span{}, false
	}
	switch word, _ := LastWord(s[lo:from]); word {
	case "name", "key", "variable", "field", "parameter", "parameterkey":
	default:
		return span{}, false
	}
	k := SkipBlanks(s, i+1)
	if k >= len(s) || harmlessHead(s[k:]) {
		return span{}, false
	}
	if IsQuote(s[k]) {
		return quotedValue(s, k, k, kind, true)
	}
	stop := bareEnd(s, k, true)
	return valueSpan(s, k, stop, kind), stop > k && !isHarmless(s[k:stop]) && (endsLine(s, stop) || quotedName)
}

// pipedValue returns what echo or printf pipes to the command at i. With pair it is the part after the
// colon.
func pipedValue(s string, i int, pair bool) (span, bool) {
	lo := max(0, i-256)
	pipe := strings.LastIndexByte(s[lo:i], '|')
	if pipe < 0 {
		return span{}, false
	}
	pipe += lo
	line := strings.LastIndexByte(s[lo:pipe], '\n') + 1 + lo
	at := -1
	for _, say := range []string{"echo ", "printf "} {
		if n := strings.LastIndex(s[line:pipe], say); n >= 0 {
			at = line + n + len(say)
		}
	}
	if at < 0 {
		return span{}, false
	}
	for at < pipe && s[at] == '-' { // -n
		at = SkipBlanks(s, wordEnd(s, at))
	}
	if at < pipe && strings.HasPrefix(strings.TrimLeft(s[at:pipe], "'\""), "%s") {
		at = SkipBlanks(s, wordEnd(s, at))
	}
	end := wordEnd(s, at)
	if at >= pipe || end > pipe {
		return span{}, false
	}
	if IsQuote(s[at]) {
		at, end = at+1, end-1
	}
	if pair {
		colon := strings.IndexByte(s[at:max(at, end)], ':')
		if colon < 0 {
			return span{}, false
		}
		at += colon + 1
	}
	if end <= at || isHarmless(s[at:end]) {
		return span{}, false
	}
	return valueSpan(s, at, end, "password"), true
}

// dashWords are commands with a dash in their name that take a secret by place.
var dashWords = []struct {
	head, tail string
	n          int
	kind       string
}{
	{"http", "-basic.", 2, "password"},
	{"pypi", "-token.", 1, "token"},
	{"authorize", "-account ", 2, "key"},
	{"add", "-authtoken ", 1, "token"},
	{"user", "-secrets set ", 2, "secret"},
}

func dashWord(s string, lo, i int) bool {
	if i-lo >= 32 && i+3 < len(s) && s[i+1] == 'u' && s[i+2] == 's' && IsDigit(s[i+3]) {
		return true
	}
	for k := range dashWords {
		d := &dashWords[k]
		if i+2 < len(s) && s[i+1] == d.tail[1] && i-len(d.head) >= lo && s[i-1] == d.head[len(d.head)-1] &&
			strings.HasPrefix(s[i:], d.tail) && strings.HasSuffix(s[lo:i], d.head) {
			return true
		}
	}
	return false
}

func matchDashWord(s string, i int) (span, bool) {
	// Mailchimp: its data centre
	if i >= 32 && i+3 < len(s) && s[i+1] == 'u' && s[i+2] == 's' && IsDigit(s[i+3]) {
		at := i - 32
		return span{at, RunEnd(s, i+1, Alnum), "mailchimp-key"}, RunEnd(s, at, Hex) == i &&
			StartsWord(s, at, true)
	}
	for _, d := range dashWords {
		if !strings.HasPrefix(s[i:], d.tail) || !strings.HasSuffix(s[:i], d.head) {
			continue
		}
		at := i + len(d.tail)
		if d.tail[len(d.tail)-1] == '.' {
			at = bareEnd(s[:min(len(s), i+lookahead)], i, true)
		} else {
			at--
		}
		return nthWord(s, at, d.n, d.kind)
	}
	return span{}, false
}
