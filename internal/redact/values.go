package redact

import (
	"strings"
)

// bareRules describes what may surround a value without quotes.
type bareRules struct {
	name, kind    string
	weak          bool
	colon, spaced bool // the sign, and whether there are blanks around it
	upper         bool // the name is all capitals
	line          bool // the name begins its line
}

func bareValue(s string, k int, r bareRules) (span, bool) {
	if !r.colon && !r.spaced && r.upper {
		end := bareEnd(s, k, true)
		return valueSpan(s, k, end, r.kind), !isHarmless(s[k:end]) && (!r.weak || looksSecret(s[k:end]))
	}
	// The beginning decides: a rejected value is read again later, and reading
	// must stay linear.
	head := s[:min(len(s), k+lookahead)]
	end := bareEnd(head, k, false)
	val := s[k:end]
	if isHarmless(val) || end < len(s) && (s[end] == '(' || s[end] == '[' || s[end] == '{') ||
		strings.Contains(val, "://") {
		return span{}, false
	}
	sure := len(val) >= 10 && IsMixed(val) && (!r.weak || looksSecret(val))
	if r.kind == "password" && !r.weak {
		sure = len(val) >= 6 && IsMixed(val)
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

// looksSecret is called for values under names that are also used for harmless things.
func looksSecret(val string) bool {
	return len(val) >= 10 && IsMixed(val) && strings.IndexByte(val, ' ') < 0 && !strings.Contains(val, "://") &&
		!isHarmless(val) && !HasPathForm(val) && !HasVersionForm(val) && !isUUID(val)
}

// isIdentifierPath distinguishes code from data: config.oauth2.token, self.token1.
func isIdentifierPath(val string) bool {
	dot := strings.IndexByte(val, '.')
	if dot <= 0 || RunEnd(val, 0, Name) != len(val) || strings.IndexByte(val, '-') >= 0 {
		return false
	}
	for part := range strings.SplitSeq(val, ".") {
		if part == "" || IsDigit(part[0]) || IsDense(part) || len(part) > 24 {
			return false
		}
	}
	return true
}

// isTypeName reports whether val is what follows a field's name when it is declared.
func isTypeName(val string) bool {
	switch strings.TrimLeft(val, "&*?") {
	case "String", "string", "str", "bytes", "Bytes", "SecretStr", "Secret", "Password", "Token", "Optional", "Option",
		"unknown", "number",
		"Sequelize", "DataTypes", "types", "required", "optional", "hidden", "default", "custom", "random", "generate",
		"varchar", "VARCHAR",
		"enabled", "disabled", "changed", "unchanged", "missing", "invalid", "incorrect", "expired":
		return true
	}
	return false
}

func endsLine(s string, at int) bool {
	at = SkipBlanks(s, at)
	return at >= len(s) || s[at] == '\n' || s[at] == '\r' || s[at] == '#'
}

// quotedValue finds a quoted value. The opening quote is s[q], written with q-k
// backslashes before it when the text is itself escaped.
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
			if !shell || k+1 >= len(s) || s[k+1] == 'n' || s[k+1] == 'r' || s[k+1] == 't' || IsQuote(s[k+1]) ||
				s[k+1] == '\\' || IsSpace(s[k+1]) {
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

// flagValue returns the word at k, the value of an option.
func flagValue(s string, k int, kind string, weak, separate bool) (span, bool) {
	if k >= len(s) || harmlessHead(s[k:]) || s[k] == '-' && separate || namesFile(s[k:]) {
		return span{}, false
	}
	q := k
	for q < len(s) && s[q] == '\\' && q-k < 8 {
		q++
	}
	if q < len(s) && IsQuote(s[q]) {
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

// namesFile reports whether a value names a file: many programs read the value from
// such a file.
func namesFile(s string) bool {
	return strings.HasPrefix(s, "file://") || strings.HasPrefix(s, "fileb://") || strings.HasPrefix(s, "@/") ||
		strings.HasPrefix(s, "@.")
}

// valueSpan returns the span of a whole value. If the value begins with a known shape, the
// shape's kind says more than the name's.
func valueSpan(s string, start, end int, kind string) span {
	if shape := shapeAt(s, start, end); shape != "" {
		kind = shape
	}
	return span{start, end, kind}
}

// shapeAt returns the kind of the provider's token that begins at start.
func shapeAt(s string, start, end int) string {
	if start < end {
		if list := wordShapes()[s[start]]; list != nil {
			if sp, ok := matchWordShape(list, s[start:end], 0); ok {
				return sp.kind
			}
		}
	}
	for i := start + 1; i < end && i < start+24; i++ {
		var t *shapeTable
		switch s[i] {
		case '-':
			t = dashShapes()
		case '_':
			t = underShapes()
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
