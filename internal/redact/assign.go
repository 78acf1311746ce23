package redact

import (
	"strings"
)

// matchAssignment matches the value of NAME=value, name: value, "name": "value"
// and of headers, when the name is a secret's. s[i] is the sign. Code is full
// of such pairs without a secret (token: string, password=args.password), so
// the less the text looks like data, the more the value must look like a secret.
func matchAssignment(s string, i int) (span, bool) {
	op, arrow := s[i], false
	if i+1 < len(s) {
		switch c := s[i+1]; {
		case c == '=' && op == '=' || c == '~' || c == ':' || c == '>' && op == ':':
			return span{}, false
		case c == '=' && op == ':':
			return span{}, false // the '=' of ":=" has its own turn
		case c == '>':
			arrow = true
		}
	}
	name, before, quotedName, spaced := nameBefore(s, i)
	kind, weak := nameKindOf(name)
	if kind == "" || weak && op == '=' && isQueryStart(before) {
		if op == '=' && isQueryStart(before) && isQueryName(name) {
			return queryValue(s, i+1)
		}
		if op == '=' && isTypeName(name) {
			return typedValue(s, i, name)
		}
		if len(name) == 5 && HasPrefixFold(name, "value") {
			return matchNamedValue(s, i, quotedName)
		}
		return span{}, false
	}
	k := i + 1
	if arrow {
		k++
	}
	k = SkipBlanks(s, k)
	spaced = spaced || k > i+1
	if k >= len(s) || harmlessHead(s[k:]) {
		return span{}, false
	}
	if op == ':' && (s[k] == '|' || s[k] == '>') {
		return blockValue(s, k, kind, weak)
	}
	if op == ':' && (s[k] == '\n' || s[k] == '\r') {
		return nextLineValue(s, i, k, kind, weak)
	}
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q < len(s) && IsQuote(s[q]) {
		sp, ok := quotedValue(s, k, q, kind, quotedName || isUpperName(name))
		if ok && arrow && kind != "password" && !looksSecret(s[sp.start:sp.end]) {
			return span{}, false
		}
		return sp, ok && (!weak || looksSecret(s[sp.start:sp.end]))
	}
	if arrow || weak && len(name) < 5 { // PASS: TestX
		return span{}, false
	}
	if op == ':' && (kind == "authorization" || kind == "cookie") {
		return headerValue(s, k, kind, before)
	}
	return bareValue(s, k, bareRules{
		name: name, kind: kind, weak: weak, colon: op == ':', spaced: spaced, upper: isUpperName(name),
		line: startsLine(s, i-len(name)-1),
	})
}

// typedValue returns the text of a declaration with a type: api_key: str = "x".
func typedValue(s string, i int, typeName string) (span, bool) {
	at := strings.LastIndex(s[:i], typeName)
	colon := at - 1
	for n := 0; colon >= 0 && n < 12 && s[colon] != ':' && s[colon] != '\n'; n++ {
		colon--
	}
	if colon <= 0 || s[colon] != ':' {
		return span{}, false
	}
	name, _, _, _ := nameBefore(s, colon)
	kind, weak := nameKindOf(name)
	k := SkipBlanks(s, i+1)
	if kind == "" || k >= len(s) || !IsQuote(s[k]) {
		return span{}, false
	}
	sp, ok := quotedValue(s, k, k, kind, false)
	return sp, ok && (!weak || looksSecret(s[sp.start:sp.end]))
}

// startsLine reports whether there are only blanks and list signs before at.
func startsLine(s string, at int) bool {
	for n := 0; at >= 0 && n < 64; n++ {
		switch s[at] {
		case '\n':
			return true
		case ' ', '\t', '-', '\'', '"', '.', '_':
			at--
		default:
			if !IsAlnum(s[at]) {
				return false
			}
			// the head of the name, or a word before it
			if at+1 < len(s) && (s[at+1] == ' ' || s[at+1] == '\t') {
				return false
			}
			at--
		}
	}
	return at < 0
}

// blockValue returns the first line of a YAML block: "password: |" and below it
// the value.
func blockValue(s string, k int, kind string, weak bool) (span, bool) {
	k++
	for n := 0; k < len(s) && n < 4 && (s[k] == '-' || s[k] == '+' || IsDigit(s[k])); n++ {
		k++
	}
	if k >= len(s) || s[k] != '\n' {
		return span{}, false
	}
	start := SkipBlanks(s, k+1)
	end := start
	for end < len(s) && end-start < 4096 && s[end] != '\n' && s[end] != '\r' {
		end++
	}
	val := s[start:end]
	if start == k+1 || isHarmless(val) || strings.HasPrefix(val, "-----") || weak && !looksSecret(val) {
		return span{}, false
	}
	return valueSpan(s, start, end, kind), strings.IndexByte(val, ' ') < 0
}

// nextLineValue returns a YAML value that is below its name: "password:", and on the next line,
// indented further, the value. s[i] is the colon, s[k] the line's end.
func nextLineValue(s string, i, k int, kind string, weak bool) (span, bool) {
	line := strings.LastIndexByte(s[max(0, i-lookahead):i], '\n') + 1 + max(0, i-lookahead)
	depth := SkipBlanks(s, line) - line
	for n := 0; k < len(s) && (s[k] == '\r' || s[k] == '\n') && n < 4; n++ {
		k++
	}
	start := SkipBlanks(s, k)
	if start-k <= depth || start >= len(s) || !startsLine(s, i-1) || harmlessHead(s[start:]) {
		return span{}, false
	}
	if strings.HasPrefix(s[start:], "- ") {
		start = SkipBlanks(s, start+2)
	}
	if start < len(s) && IsQuote(s[start]) {
		sp, ok := quotedValue(s, start, start, kind, false)
		if ok && (sp.end+1 >= len(s) || !endsLine(s, sp.end+1)) && sp.end+1 < len(s) {
			return span{}, false // the name of another value
		}
		return sp, ok && (!weak || looksSecret(s[sp.start:sp.end]))
	}
	end := bareEnd(s[:min(len(s), start+lookahead)], start, false)
	val := s[start:end]
	if len(val) < 4 || isHarmless(val) || isTypeName(val) || !endsLine(s, end) || strings.HasSuffix(val, ":") ||
		HasPathForm(val) || weak && !looksSecret(val) || kind != "password" && !IsMixed(val) {
		return span{}, false
	}
	return valueSpan(s, start, end, kind), true
}

// isQueryStart reports whether c is one of the signs before a parameter's name in a URL.
func isQueryStart(c byte) bool { return c == '?' || c == '&' }

func queryValue(s string, k int) (span, bool) {
	end := k
	for end < len(s) && end-k < 4096 && (Sets[s[end]]&(URL|Base64|Name) != 0 || s[end] == '%' ||
		s[end] == '~') {
		end++
	}
	return valueSpan(s, k, end, "signature"), end-k >= 16 && IsMixed(s[k:end]) && !isHarmless(s[k:end]) &&
		!isUUID(s[k:end])
}

// nameBefore reads the name that ends before the sign at i. before is the byte
// in front of it, quoted and all.
func nameBefore(s string, i int) (name string, before byte, quoted, spaced bool) {
	j := i
	if s[i] == '=' && j > 0 && s[j-1] == ':' {
		j--
	}
	for n := 0; j > 0 && s[j-1] == ' ' && n < 8; n++ {
		j--
		spaced = true
	}
	if j > 1 && s[j-1] == ']' && IsQuote(s[j-2]) {
		j-- // an element of a table: env["TOKEN"] =
	}
	if j > 0 && IsQuote(s[j-1]) {
		quoted = true
		j--
		for n := 0; j > 0 && s[j-1] == '\\' && n < 8; n++ {
			j--
		}
	}
	end := j
	for j > 0 && Sets[s[j-1]]&Name != 0 && end-j <= maxName {
		j--
	}
	// In text that is itself escaped, `\nTOKEN` is a line end and a name.
	if j > 0 && j < end && s[j-1] == '\\' && (s[j] == 'n' || s[j] == 't' || s[j] == 'r') {
		j++
	}
	if j > 0 {
		before = s[j-1]
	}
	return s[j:end], before, quoted, spaced
}

var authSchemes = []struct {
	word, kind string
	line       bool // the credentials fill the line
}{
	{"bearer ", "bearer", false},
	{"basic ", "basic", false},
	{"token ", "token", false},
	{"apikey ", "key", false},
	{"negotiate ", "negotiate", false},
	{"digest ", "digest", true},
	{"aws4-hmac-sha256 ", "aws-signature", true},
}

func headerValue(s string, k int, kind string, before byte) (span, bool) {
	if kind == "cookie" {
		head := lineEnd(s[:min(len(s), k+lookahead)], k, before)
		if strings.IndexByte(s[k:head], '=') <= 0 {
			return span{}, false
		}
		return span{k, lineEnd(s, k, before), kind}, true
	}
	for _, a := range authSchemes {
		if !HasPrefixFold(s[k:], a.word) {
			continue
		}
		k += len(a.word)
		for k < len(s) && s[k] == ' ' {
			k++
		}
		if k >= len(s) || harmlessHead(s[k:]) {
			return span{}, false
		}
		end := bareEnd(s, k, true)
		if a.line {
			end = lineEnd(s, k, before)
		}
		sp := valueSpan(s, k, end, a.kind)
		return sp, end-k >= 4 && !isHarmless(s[k:end])
	}
	head := bareEnd(s[:min(len(s), k+lookahead)], k, true)
	if head-k < 8 || !IsMixed(s[k:head]) || isHarmless(s[k:head]) {
		return span{}, false
	}
	return valueSpan(s, k, bareEnd(s, k, true), kind), true
}

// lineEnd returns where a header ends: at the end of its line, or at the quote it is in.
func lineEnd(s string, k int, before byte) int {
	for ; k < len(s); k++ {
		switch c := s[k]; {
		case c == '\n' || c == '\r':
			return k
		case c == '"' && before != '"' && s[k-1] == '=':
			// a quoted part of the header itself
			if n := strings.IndexByte(s[k+1:min(len(s), k+lookahead)], '"'); n >= 0 {
				k += n + 1
				continue
			}
			return k
		case IsQuote(c) && (c == before || !IsQuote(before)):
			return k
		case c == '\\' && k+1 < len(s) && (s[k+1] == 'n' || s[k+1] == 'r' || IsQuote(s[k+1])):
			return k
		}
	}
	return k
}

// matchBearer matches "Bearer xyz" outside a header. Prose talks about bearer
// tokens, so the value must look like one.
func matchBearer(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], "Bearer ") || !StartsWord(s, i, false) {
		return span{}, false
	}
	k := i + len("Bearer ")
	end := k
	for end < len(s) && (Sets[s[end]]&(URL|Base64) != 0 || s[end] == '.' || s[end] == '~') {
		end++
	}
	return valueSpan(s, k, end, "bearer"), end-k >= 12 && IsMixed(s[k:end])
}

// matchFlag matches the value of --password x, --token=x, -password x. s[i] is the
// first dash.
func matchFlag(s string, i int) (span, bool) {
	nameEnd := RunEnd(s, i, Name)
	kind, weak := nameKindOf(strings.TrimLeft(s[i:nameEnd], "-"))
	if kind == "" || nameEnd >= len(s) {
		return span{}, false
	}
	if s[nameEnd] != ' ' && s[nameEnd] != '=' {
		return listValue(s, i, nameEnd, kind, weak)
	}
	k := nameEnd + 1
	if s[nameEnd] == ' ' {
		k = SkipBlanks(s, k)
	}
	return flagValue(s, k, kind, weak, s[nameEnd] == ' ')
}

// listValue returns the string that follows a quoted option in a list written as text:
// ["--password", "x"]. The option is s[i:end].
func listValue(s string, i, end int, kind string, weak bool) (span, bool) {
	q := end
	for q < len(s) && s[q] == '\\' && q-end < 8 {
		q++
	}
	if i == 0 || q >= len(s) || !IsQuote(s[q]) || s[i-1] != s[q] {
		return span{}, false
	}
	k := SkipBlanks(s, q+1)
	if k >= len(s) || s[k] != ',' {
		return span{}, false
	}
	for k++; k < len(s) && IsSpace(s[k]) && k-q < 64; k++ {
	}
	q = k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q >= len(s) || !IsQuote(s[q]) || q+1 < len(s) && s[q+1] == '-' {
		return span{}, false
	}
	sp, ok := quotedValue(s, k, q, kind, true)
	return sp, ok && (!weak || looksSecret(s[sp.start:sp.end]))
}

func isUpperName(s string) bool {
	letters := false
	for i := 0; i < len(s); i++ {
		if s[i] >= 'a' && s[i] <= 'z' {
			return false
		}
		letters = letters || s[i] >= 'A' && s[i] <= 'Z'
	}
	return letters
}
