package redact

import (
	"strings"
)

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	// pemReach bounds the search for the closing line, so that two constants in a source file don't
	// swallow what is between them, and many opening lines stay cheap.
	pemReach = 8 << 10
)

// dashRun takes the cheap look at the first of two or more dashes: a flag, or the
// frame of a PEM block.
func dashRun(s string, lo, i int) bool {
	j := i + 2
	for j < len(s) && s[j] == '-' {
		j++
	}
	if j >= len(s) {
		return false
	}
	if j-i == 2 {
		end := RunEnd(s, j, Name)
		return end > j && end-j <= maxName && (tailIsSecret(s, j, end) || optionCandidate(s, lo, i))
	}
	return strings.HasPrefix(s[j:], "BEGIN ") || strings.HasPrefix(s[j:], "END ")
}

// matchPEM matches a private key from its opening line to its closing line. A
// block that was cut off is taken as far as it looks like one; of a block whose
// head was cut off, the base64 before the closing line.
func matchPEM(s string, i int) (span, bool) {
	j := i
	for j < len(s) && s[j] == '-' {
		j++
	}
	if j-i < 5 {
		return span{}, false
	}
	i = j - 5
	switch {
	case strings.HasPrefix(s[i:], pemBegin):
		label := pemLabel(s, i+len(pemBegin))
		if label < 0 {
			return span{}, false
		}
		if end, ok := pemBody(s, label); ok {
			return span{i, end, "private-key"}, true
		}
	case strings.HasPrefix(s[i:], pemEnd):
		label := pemLabel(s, i+len(pemEnd))
		if label < 0 {
			return span{}, false
		}
		at := i
		for at > 0 && (Sets[s[at-1]]&Base64 != 0 || s[at-1] == '\n' || s[at-1] == '\r' || s[at-1] == '\\') {
			at--
		}
		if i-at >= 16 {
			return span{at, label, "private-key"}, true
		}
	}
	return span{}, false
}

// pemLabel reads "RSA PRIVATE KEY-----" at i and returns where it ends, or -1
// if the block isn't a private key (a certificate, a public key).
func pemLabel(s string, i int) int {
	part := s[i:min(len(s), i+64)]
	k := strings.Index(part, "PRIVATE KEY")
	if k < 0 || strings.IndexByte(part[:k], '-') >= 0 {
		return -1
	}
	i += k + len("PRIVATE KEY")
	if strings.HasPrefix(s[i:], " BLOCK") {
		i += len(" BLOCK")
	}
	for n := 0; i < len(s) && s[i] == '-' && n < 5; n++ {
		i++
	}
	return i
}

func pemBody(s string, i int) (end int, ok bool) {
	part := s[i:min(len(s), i+pemReach)]
	if k := strings.Index(part, pemEnd); k >= 0 && hasBase64Run(part[:k]) {
		if stop := pemLabel(s, i+k+len(pemEnd)); stop >= 0 {
			return stop, true
		}
	}
	end = i
	for end < len(s) {
		c := s[end]
		if c == '-' && strings.HasPrefix(s[end:], pemEnd) {
			if stop := pemLabel(s, end+len(pemEnd)); stop >= 0 {
				end = stop
			}
			break
		}
		if c == '-' && strings.HasPrefix(s[end:], pemBegin) {
			break
		}
		if Sets[c]&Base64 == 0 && !IsSpace(c) && c != '\\' && c != ':' && c != ',' && c != '-' {
			break
		}
		end++
	}
	return end, hasBase64Run(s[i:end])
}

func hasBase64Run(s string) bool {
	for i := 0; i < len(s); {
		end := RunEnd(s, i, Base64)
		if end-i >= 16 {
			return true
		}
		i = end + 1
	}
	return false
}
