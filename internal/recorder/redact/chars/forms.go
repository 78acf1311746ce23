package chars

// HasPathForm tells a path or a host name: small words between slashes or dots.
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

// HasVersionForm tells 1.22.3-alpine and v0.0.0-20240101000000-abcdef.
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
