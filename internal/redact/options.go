package redact

import (
	"strings"
)

// commandReach bounds how far before an option its program is looked for.
const commandReach = 300

// optionCandidate takes the cheap look at the dash s[i]: is it the beginning of an
// option that some program before it takes a secret with?
func optionCandidate(s string, lo, i int) bool {
	if i+1 >= len(s) || !beginsOption(s[i+1]) || !startsOption(s, lo, i) {
		return false
	}
	if s[i+1] != '-' {
		if end := RunEnd(s, i+1, Name); end-i > 3 && end-i <= maxName && tailIsSecret(s, i+1, end) {
			return true
		}
	}
	found := false
	eachProgram(s, max(lo, i-commandReach), i, func(options []option, _ int) bool {
		for k := range options {
			if strings.HasPrefix(s[i:], options[k].flag) {
				found = true
			}
		}
		return !found
	})
	return found
}

// startsOption reports whether an option can begin at i: at the beginning of a
// word, also in text that is itself escaped or quoted.
func startsOption(s string, lo, i int) bool {
	if i == lo {
		return true
	}
	switch s[i-1] {
	case ' ', '\t', '\n', '"', '\'', '`', ',', '(', '[':
		return true
	case 'n', 't', 'r':
		return i-lo >= 2 && s[i-2] == '\\'
	}
	return false
}

// eachProgram calls use for every word of s[from:to] that is a program of the
// table, until use returns false. end is where the word ends.
func eachProgram(s string, from, to int, use func(options []option, end int) bool) {
	known := knownPrograms()
	for at := from; at < to; {
		if Sets[s[at]]&Name == 0 {
			at++
			continue
		}
		end := at
		for end < to && Sets[s[end]]&Name != 0 {
			end++
		}
		word := s[at:end]
		if len(word) > 1 && at > from && s[at-1] == '\\' && (word[0] == 'n' || word[0] == 't' || word[0] == 'r') {
			word = word[1:]
		}
		if len(word) <= known.longest && known.heads[word[0]] {
			if options := known.options[strings.TrimSuffix(word, ".exe")]; options != nil && !use(options, end) {
				return
			}
		}
		at = end
	}
}

// commandStart returns where the command begins that s[i] belongs to.
func commandStart(s string, i int) int {
	lo := max(0, i-commandReach)
	for k := i - 1; k >= lo; k-- {
		switch s[k] {
		case '\n':
			before := strings.TrimRight(s[lo:k], " \r")
			if !strings.HasSuffix(before, `\`) {
				return k + 1
			}
		case ';', '|':
			if k+1 < len(s) && s[k+1] == ' ' && (k == 0 || s[k-1] != '\'' && s[k-1] != '"') {
				return k + 1
			}
		case '&':
			if k+1 < len(s) && s[k+1] == ' ' && k > 0 && s[k-1] == '&' {
				return k + 1
			}
		}
	}
	return lo
}

// matchOption matches the secret that a program is given with the option at i.
func matchOption(s string, i int) (span, bool) {
	if i+1 >= len(s) || !beginsOption(s[i+1]) || !startsOption(s, 0, i) {
		return span{}, false
	}
	var sp span
	found := false
	eachProgram(s, commandStart(s, i), i, func(options []option, end int) bool {
		for k := range options {
			o := &options[k]
			if !strings.HasPrefix(s[i:], o.flag) || o.sub != "" && !hasWord(s[end:i], o.sub) {
				continue
			}
			if sp, found = o.takeValue(s, i); found {
				return false
			}
		}
		return true
	})
	if found {
		return sp, true
	}
	if s[i+1] != '-' && RunEnd(s, i+1, Name)-i > 3 {
		return matchFlag(s, i) // -password x, whatever the program
	}
	return span{}, false
}

func hasWord(s, word string) bool {
	for from := 0; ; {
		k := strings.Index(s[from:], word)
		if k < 0 {
			return false
		}
		at := from + k
		end := at + len(word)
		if (at == 0 || Sets[s[at-1]]&Name == 0) && (end == len(s) || Sets[s[end]]&Name == 0) {
			return true
		}
		from = end
	}
}

// takeValue reads the secret of option o, which begins at i.
func (o *option) takeValue(s string, i int) (span, bool) {
	k := i + len(o.flag)
	if o.form == formPiped {
		if k < len(s) && Sets[s[k]]&Name != 0 {
			return span{}, false
		}
		return pipedValue(s, i, false)
	}
	if k >= len(s) {
		return span{}, false
	}
	if o.form == formPlain {
		return plainArgument(s, k, o.kind)
	}
	separate := s[k] == ' ' || s[k] == '\t'
	switch {
	case separate:
		k = SkipBlanks(s, k)
	case s[k] == '=' && len(o.flag) > 2:
		k++
	case o.form == formGlued || len(o.flag) == 2 && (o.form == formBoth || o.form == formPair):
	default:
		return span{}, false
	}
	if k >= len(s) || s[k] == '\n' {
		return span{}, false
	}
	switch o.form {
	case formGlued:
		if separate {
			return span{}, false
		}
		return flagValue(s, k, o.kind, false, false)
	case formPair:
		return pairValue(s, k, o.sep, o.kind)
	case formPass:
		q := k
		if IsQuote(s[q]) {
			q++
		}
		if !strings.HasPrefix(s[q:], "pass:") {
			return span{}, false
		}
		q += len("pass:")
		end := bareEnd(s, q, true)
		return valueSpan(s, q, end, o.kind), end > q && !isHarmless(s[q:end])
	case formSecond:
		return nthWord(s, k-1, 2, o.kind)
	case formThird:
		return nthWord(s, k-1, 3, o.kind)
	case formEqual:
		return pairValue(s, k, '=', o.kind)
	}
	return flagValue(s, k, o.kind, false, separate)
}

// plainArgument returns the first word after k that is neither an option nor a number.
func plainArgument(s string, k int, kind string) (span, bool) {
	for end := commandEnd(s, k); k < end; {
		at := SkipBlanks(s, k)
		if at >= end || s[at] == '\n' {
			break
		}
		stop := wordEnd(s, at)
		if at > k && s[at] != '-' && stop-at >= 6 && !allDigits(s[at:stop]) {
			return flagValue(s, at, kind, false, true)
		}
		k = max(stop, at+1)
	}
	return span{}, false
}

// pairValue returns the part after sep of the word at k.
func pairValue(s string, k int, sep byte, kind string) (span, bool) {
	if harmlessHead(s[k:]) || s[k] == '-' {
		return span{}, false
	}
	start, end := k, wordEnd(s, k)
	if IsQuote(s[k]) && end > k+1 && s[end-1] == s[k] {
		start, end = k+1, end-1
	} else {
		for start < end && s[start] == '\\' || start < end && IsQuote(s[start]) {
			start++ // text that is itself escaped
		}
	}
	at := strings.IndexByte(s[start:max(start, end)], sep)
	if at < 0 || start+at+1 >= end {
		// A token instead of the pair.
		return valueSpan(s, start, end, kind), end > start && IsDense(s[start:end]) && !isHarmless(s[start:end])
	}
	val := s[start+at+1 : end]
	return valueSpan(s, start+at+1, end, kind), !isHarmless(val) && !strings.HasPrefix(val, "//")
}

// argumentList reads the strings of a JSON array as the words of a command.
type argumentList struct {
	first   bool // the first word was read
	options []option
	subs    string
}

// kindAfter takes the next word, raw, and returns the kind of secret that the word after it is,
// "" for none.
func (a *argumentList) kindAfter(raw string) string {
	if !a.first && !strings.HasPrefix(raw, "-") {
		a.first = true
		name := raw[strings.LastIndexByte(raw, '/')+1:]
		if known := knownPrograms(); len(name) <= known.longest {
			a.options = known.options[name]
		}
		return ""
	}
	if len(raw) < 2 || len(raw) > maxName || raw[0] != '-' {
		if a.options != nil && len(a.subs)+len(raw) < 128 {
			a.subs += " " + raw
		}
		return ""
	}
	a.first = true // a list of arguments only
	if RunEnd(raw, 0, Name) == len(raw) && (raw[1] == '-' || len(raw) > 4) {
		if kind, weak := nameKindOf(raw); kind != "" && !weak {
			return kind
		}
	}
	for k := range a.options {
		o := &a.options[k]
		if o.flag == raw && (o.form == formNext || o.form == formBoth || o.form == formPair) &&
			(o.sub == "" || hasWord(a.subs, o.sub)) {
			return o.kind
		}
	}
	return ""
}
