package redact

// HasPathForm reports whether s is a path or a host name: small words between slashes or dots.
func HasPathForm(s string) bool {
	slashes, dots := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '/':
			slashes++
		case '.':
			dots++
		}
	}
	return slashes >= 2 && !IsDense(s) || dots >= 2 && !IsDense(s)
}

// HasVersionForm reports whether s looks like 1.22.3-alpine or v0.0.0-20240101000000-abcdef.
func HasVersionForm(s string) bool {
	if s[0] == 'v' {
		s = s[1:]
	}
	i := 0
	for i < len(s) && IsDigit(s[i]) {
		i++
	}
	return i > 0 && i+1 < len(s) && s[i] == '.' && IsDigit(s[i+1])
}

// LastWord returns the last word of s in lower case and the text before it.
func LastWord(s string) (word, rest string) {
	end := len(s)
	for end > 0 && !IsAlnum(s[end-1]) && s[end-1] != '\n' {
		end--
	}
	at := end
	for at > 0 && IsAlnum(s[at-1]) {
		at--
	}
	return LowerASCII(s[at:end]), s[:at]
}
