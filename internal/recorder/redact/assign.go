package redact

import "strings"

// matchAssignment takes the value of NAME=value, name: value, "name": "value"
// and of headers, when the name is a secret's. s[i] is the sign. Code is full
// of such pairs without a secret (token: string, password=args.password), so
// the less the text looks like data, the more the value must look like a secret.
func matchAssignment(s string, i int) (span, bool) {
	op := s[i]
	if i+1 < len(s) && (s[i+1] == '=' && op == '=' || s[i+1] == '~' || s[i+1] == '>' || s[i+1] == ':') {
		return span{}, false
	}
	if i+1 < len(s) && op == ':' && s[i+1] == '=' {
		return span{}, false // the '=' of ":=" has its own turn
	}
	name, before, quotedName, spaced := nameBefore(s, i)
	kind := nameKind(name)
	if kind == "" {
		return span{}, false
	}
	k := i + 1
	for k < len(s) && k-i < 64 && (s[k] == ' ' || s[k] == '\t') {
		k++
	}
	spaced = spaced || k > i+1
	if k >= len(s) || harmlessHead(s[k:]) {
		return span{}, false
	}
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
		return quotedValue(s, k, q, kind, quotedName || isUpperName(name))
	}
	if op == ':' && (kind == "authorization" || kind == "cookie") {
		return headerValue(s, k, kind, before)
	}
	if op == '=' && !spaced && isUpperName(name) {
		end := bareEnd(s, k, true)
		return value(s, k, end, kind), !harmless(s[k:end])
	}
	// The beginning decides: a refused value is read again later, and reading
	// must stay linear.
	head := s[:min(len(s), k+judged)]
	end := bareEnd(head, k, false)
	val := s[k:end]
	if harmless(val) || end < len(s) && (s[end] == '(' || s[end] == '[' || s[end] == '{') || strings.Contains(val, "://") {
		return span{}, false
	}
	sure := len(val) >= 10 && mixed(val)
	if kind == "password" {
		sure = len(val) >= 6 && mixed(val)
		// A connection string or query: password=letters, not a call's argument.
		call := end < len(s) && (s[end] == ',' || s[end] == ')')
		sure = sure || op == '=' && !spaced && !call && len(val) >= 4 && !strings.Contains(val, ".")
	}
	if !sure {
		return span{}, false
	}
	return value(s, k, bareEnd(s, k, false), kind), true
}

// judged is how much of an unquoted value is looked at before it is taken.
const judged = 256

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
	if j > 0 && isQuote(s[j-1]) {
		quoted = true
		j--
		for n := 0; j > 0 && s[j-1] == '\\' && n < 8; n++ {
			j--
		}
	}
	end := j
	for j > 0 && sets[s[j-1]]&setName != 0 && end-j <= maxName {
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

// quotedValue: the opening quote is s[q], written with q-k backslashes before
// it when the text is itself escaped.
func quotedValue(s string, k, q int, kind string, data bool) (span, bool) {
	start := q + 1
	if harmlessHead(s[start:]) {
		return span{}, false
	}
	end := start
	if q > k {
		closing := s[k : q+1]
		for end < len(s) && s[end] != '\n' && !strings.HasPrefix(s[end:], closing) {
			end++
		}
	} else {
		for end < len(s) && s[end] != s[q] && s[end] != '\n' {
			if s[end] == '\\' && end+1 < len(s) && s[end+1] != '\n' {
				end++
			}
			end++
		}
	}
	val := s[start:end]
	if harmless(val) {
		return span{}, false
	}
	if !data && (len(val) < 4 || strings.IndexByte(val, ' ') >= 0) {
		return span{}, false // a label or a sentence
	}
	return value(s, start, end, kind), true
}

// bareEnd finds the end of an unquoted value. A shell word runs further than a
// value in code, where commas and brackets end it.
func bareEnd(s string, k int, shell bool) int {
	for ; k < len(s); k++ {
		switch c := s[k]; c {
		case ' ', '\t', '\n', '\r', '"', '\'', '`', ';', '&', '|', '<', '>', ')':
			return k
		case '\\':
			if !shell || k+1 >= len(s) || s[k+1] == 'n' || s[k+1] == 'r' || s[k+1] == 't' || isQuote(s[k+1]) || s[k+1] == '\\' || isSpace(s[k+1]) {
				return k
			}
		case '(', '[', '{', '}', ']', ',':
			if !shell {
				return k
			}
		}
	}
	return k
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
		head := lineEnd(s[:min(len(s), k+judged)], k, before)
		if strings.IndexByte(s[k:head], '=') <= 0 {
			return span{}, false
		}
		return span{k, lineEnd(s, k, before), kind}, true
	}
	for _, a := range authSchemes {
		if !hasPrefixFold(s[k:], a.word) {
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
		sp := value(s, k, end, a.kind)
		return sp, end-k >= 4 && !harmless(s[k:end])
	}
	head := bareEnd(s[:min(len(s), k+judged)], k, true)
	if head-k < 8 || !mixed(s[k:head]) || harmless(s[k:head]) {
		return span{}, false
	}
	return value(s, k, bareEnd(s, k, true), kind), true
}

// lineEnd: a header runs to the end of its line, or to the quote it stands in.
func lineEnd(s string, k int, before byte) int {
	for ; k < len(s); k++ {
		switch c := s[k]; {
		case c == '\n' || c == '\r':
			return k
		case isQuote(c) && (c == before || !isQuote(before)):
			return k
		case c == '\\' && k+1 < len(s) && (s[k+1] == 'n' || s[k+1] == 'r' || isQuote(s[k+1])):
			return k
		}
	}
	return k
}

// matchBearer takes "Bearer xyz" outside a header. Prose talks about bearer
// tokens, therefore the value must look like one.
func matchBearer(s string, i int) (span, bool) {
	if !strings.HasPrefix(s[i:], "Bearer ") || !startsWord(s, i, false) {
		return span{}, false
	}
	k := i + len("Bearer ")
	end := k
	for end < len(s) && (sets[s[end]]&(setURL|setBase64) != 0 || s[end] == '.' || s[end] == '~') {
		end++
	}
	return value(s, k, end, "bearer"), end-k >= 12 && mixed(s[k:end])
}

// matchFlag takes the value of --password x, --token=x. s[i] is the first dash.
func matchFlag(s string, i int) (span, bool) {
	nameEnd := run(s, i+2, setName)
	kind := nameKind(s[i+2 : nameEnd])
	if kind == "" || nameEnd >= len(s) || s[nameEnd] != ' ' && s[nameEnd] != '=' {
		return span{}, false
	}
	k := nameEnd + 1
	if s[nameEnd] == ' ' {
		for k < len(s) && s[k] == ' ' && k-nameEnd < 16 {
			k++
		}
	}
	if k >= len(s) || harmlessHead(s[k:]) || s[k] == '-' && s[nameEnd] == ' ' {
		return span{}, false
	}
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
		return quotedValue(s, k, q, kind, true)
	}
	end := bareEnd(s, k, true)
	val := s[k:end]
	return value(s, k, end, kind), val != "" && !harmless(val) && !(s[nameEnd] == ' ' && proseWord(val))
}

// value makes the span of a whole value. When the value begins with a shape we
// know, the shape's kind tells the reader more than the name's.
func value(s string, start, end int, kind string) span {
	for i := start; i < end && i < start+16; i++ {
		switch c := s[i]; {
		case class[c] != classAnchor || c == ':' || c == '=' || c == 'B' || !candidate(s, start, i):
		case c == '-' || c == '_':
			t := &dashShapes
			if c == '_' {
				t = &underShapes
			}
			if sp, ok := matchPrefix(t, s, start, i); ok && sp.start == start {
				return span{start, end, sp.kind}
			}
		default:
			if sp, ok := matchCapital(s, start, i); ok && sp.start == start {
				return span{start, end, sp.kind}
			}
		}
	}
	return span{start, end, kind}
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

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

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
