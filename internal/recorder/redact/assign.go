package redact

import "strings"

// matchAssignment takes the value of NAME=value, name: value, "name": "value"
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
		if len(name) == 5 && hasPrefixFold(name, "value") {
			return matchNamedValue(s, i, quotedName)
		}
		return span{}, false
	}
	k := i + 1
	if arrow {
		k++
	}
	k = skipBlanks(s, k)
	spaced = spaced || k > i+1
	if k >= len(s) || harmlessHead(s[k:]) {
		return span{}, false
	}
	if op == ':' && (s[k] == '|' || s[k] == '>') {
		return blockValue(s, k, kind, weak)
	}
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
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
		name: name, kind: kind, weak: weak, colon: op == ':', spaced: spaced, upper: isUpperName(name), line: startsLine(s, i-len(name)-1),
	})
}

// typedValue takes the text of a declaration with a type: api_key: str = "x".
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
	k := skipBlanks(s, i+1)
	if kind == "" || k >= len(s) || !isQuote(s[k]) {
		return span{}, false
	}
	sp, ok := quotedValue(s, k, k, kind, false)
	return sp, ok && (!weak || looksSecret(s[sp.start:sp.end]))
}

// skipBlanks steps over blanks between a sign and its value.
func skipBlanks(s string, k int) int {
	for n := 0; k < len(s) && n < 64 && (s[k] == ' ' || s[k] == '\t'); n++ {
		k++
	}
	return k
}

// bareRules is what stands around a value without quotes.
type bareRules struct {
	name, kind    string
	weak          bool
	colon, spaced bool // the sign, and whether blanks stand around it
	upper         bool // the name is all capitals
	line          bool // the name begins its line
}

func bareValue(s string, k int, r bareRules) (span, bool) {
	if !r.colon && !r.spaced && r.upper {
		end := bareEnd(s, k, true)
		return valueSpan(s, k, end, r.kind), !isHarmless(s[k:end]) && (!r.weak || looksSecret(s[k:end]))
	}
	// The beginning decides: a refused value is read again later, and reading
	// must stay linear.
	head := s[:min(len(s), k+judged)]
	end := bareEnd(head, k, false)
	val := s[k:end]
	if isHarmless(val) || end < len(s) && (s[end] == '(' || s[end] == '[' || s[end] == '{') || strings.Contains(val, "://") {
		return span{}, false
	}
	sure := len(val) >= 10 && isMixed(val) && (!r.weak || looksSecret(val))
	if r.kind == "password" && !r.weak {
		sure = len(val) >= 6 && isMixed(val)
		// A connection string or query: password=letters, not a call's argument.
		call := end < len(s) && (s[end] == ',' || s[end] == ')')
		sure = sure || !r.colon && !r.spaced && !call && len(val) >= 4 && !strings.Contains(val, ".")
		// A line of YAML or of a properties file.
		sure = sure || r.colon && r.line && endsLine(s, end) && len(val) >= 6 && !isTypeName(val)
	}
	if !sure || val == r.name || isIdentifierPath(val) {
		return span{}, false
	}
	return valueSpan(s, k, bareEnd(s, k, false), r.kind), true
}

// looksSecret is asked under names that also stand before harmless things.
func looksSecret(val string) bool {
	return len(val) >= 10 && isMixed(val) && strings.IndexByte(val, ' ') < 0 && !strings.Contains(val, "://") &&
		!isHarmless(val) && !hasPathForm(val) && !hasVersionForm(val) && !isUUID(val)
}

// isIdentifierPath tells code from data: config.oauth2.token, self.token1.
func isIdentifierPath(val string) bool {
	dot := strings.IndexByte(val, '.')
	if dot <= 0 || runEnd(val, 0, setName) != len(val) || strings.IndexByte(val, '-') >= 0 {
		return false
	}
	for part := range strings.SplitSeq(val, ".") {
		if part == "" || isDigit(part[0]) || isDense(part) || len(part) > 24 {
			return false
		}
	}
	return true
}

// isTypeName knows what stands behind a field's name when it is declared.
func isTypeName(val string) bool {
	switch strings.TrimLeft(val, "&*?") {
	case "String", "string", "str", "bytes", "Bytes", "SecretStr", "Secret", "Password", "Token", "Optional", "Option", "unknown", "number",
		"Sequelize", "DataTypes", "types", "required", "optional", "hidden", "default", "custom", "random", "generate", "varchar", "VARCHAR",
		"enabled", "disabled", "changed", "unchanged", "missing", "invalid", "incorrect", "expired":
		return true
	}
	return false
}

// startsLine tells whether only blanks and list signs stand before at.
func startsLine(s string, at int) bool {
	for n := 0; at >= 0 && n < 64; n++ {
		switch s[at] {
		case '\n':
			return true
		case ' ', '\t', '-', '\'', '"', '.', '_':
			at--
		default:
			if !isAlnum(s[at]) {
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

func endsLine(s string, at int) bool {
	at = skipBlanks(s, at)
	return at >= len(s) || s[at] == '\n' || s[at] == '\r' || s[at] == '#'
}

// blockValue takes the first line of a YAML block: "password: |" and below it
// the value.
func blockValue(s string, k int, kind string, weak bool) (span, bool) {
	k++
	for n := 0; k < len(s) && n < 4 && (s[k] == '-' || s[k] == '+' || isDigit(s[k])); n++ {
		k++
	}
	if k >= len(s) || s[k] != '\n' {
		return span{}, false
	}
	start := skipBlanks(s, k+1)
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

// isQueryStart tells the signs before a parameter's name in a URL.
func isQueryStart(c byte) bool { return c == '?' || c == '&' }

func queryValue(s string, k int) (span, bool) {
	end := k
	for end < len(s) && end-k < 4096 && (sets[s[end]]&(setURL|setBase64|setName) != 0 || s[end] == '%' || s[end] == '~') {
		end++
	}
	return valueSpan(s, k, end, "signature"), end-k >= 16 && isMixed(s[k:end]) && !isHarmless(s[k:end]) && !isUUID(s[k:end])
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
	if j > 1 && s[j-1] == ']' && isQuote(s[j-2]) {
		j-- // an element of a table: env["TOKEN"] =
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
	if isHarmless(val) || strings.HasPrefix(val, "+") || strings.HasPrefix(val, " + ") || strings.HasPrefix(val, ",") {
		return span{}, false // the rest is text that is put together in code
	}
	if !data && (len(val) < 4 || strings.IndexByte(val, ' ') >= 0) {
		return span{}, false // a label or a sentence
	}
	return valueSpan(s, start, end, kind), true
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
		sp := valueSpan(s, k, end, a.kind)
		return sp, end-k >= 4 && !isHarmless(s[k:end])
	}
	head := bareEnd(s[:min(len(s), k+judged)], k, true)
	if head-k < 8 || !isMixed(s[k:head]) || isHarmless(s[k:head]) {
		return span{}, false
	}
	return valueSpan(s, k, bareEnd(s, k, true), kind), true
}

// lineEnd: a header runs to the end of its line, or to the quote it stands in.
func lineEnd(s string, k int, before byte) int {
	for ; k < len(s); k++ {
		switch c := s[k]; {
		case c == '\n' || c == '\r':
			return k
		case c == '"' && before != '"' && s[k-1] == '=':
			// a quoted part of the header itself
			if n := strings.IndexByte(s[k+1:min(len(s), k+judged)], '"'); n >= 0 {
				k += n + 1
				continue
			}
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
	return valueSpan(s, k, end, "bearer"), end-k >= 12 && isMixed(s[k:end])
}

// matchFlag takes the value of --password x, --token=x, -password x. s[i] is the
// first dash.
func matchFlag(s string, i int) (span, bool) {
	nameEnd := runEnd(s, i, setName)
	kind, weak := nameKindOf(strings.TrimLeft(s[i:nameEnd], "-"))
	if kind == "" || nameEnd >= len(s) || s[nameEnd] != ' ' && s[nameEnd] != '=' {
		return span{}, false
	}
	k := nameEnd + 1
	if s[nameEnd] == ' ' {
		k = skipBlanks(s, k)
	}
	return flagValue(s, k, kind, weak, s[nameEnd] == ' ')
}

// flagValue takes the word at k, the value of an option.
func flagValue(s string, k int, kind string, weak, separate bool) (span, bool) {
	if k >= len(s) || harmlessHead(s[k:]) || s[k] == '-' && separate || namesFile(s[k:]) {
		return span{}, false
	}
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
		sp, ok := quotedValue(s, k, q, kind, true)
		return sp, ok && (!weak || looksSecret(s[sp.start:sp.end]))
	}
	end := bareEnd(s, k, true)
	val := s[k:end]
	if val == "" || isHarmless(val) || separate && proseWord(val) || weak && !looksSecret(val) {
		return span{}, false
	}
	return valueSpan(s, k, end, kind), true
}

// namesFile: many programs read the value from a file that is named so.
func namesFile(s string) bool {
	return strings.HasPrefix(s, "file://") || strings.HasPrefix(s, "fileb://") || strings.HasPrefix(s, "@/") || strings.HasPrefix(s, "@.")
}

// valueSpan makes the span of a whole value. When the value begins with a shape we
// know, the shape's kind tells the reader more than the name's.
func valueSpan(s string, start, end int, kind string) span {
	if shape := shapeAt(s, start, end); shape != "" {
		kind = shape
	}
	return span{start, end, kind}
}

// shapeAt returns the kind of the provider's token that begins at start.
func shapeAt(s string, start, end int) string {
	if start < end {
		if list := wordShapes[s[start]]; list != nil {
			if sp, ok := matchWordShape(list, s[start:end], 0); ok {
				return sp.kind
			}
		}
	}
	for i := start + 1; i < end && i < start+24; i++ {
		var t *shapeTable
		switch s[i] {
		case '-':
			t = &dashShapes
		case '_':
			t = &underShapes
		default:
			continue
		}
		if !knownPrefix(t, s, start, i) {
			continue
		}
		if sp, ok := matchPrefix(t, s, start, i); ok && sp.start == start {
			return sp.kind
		}
	}
	return ""
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
