package redact

// IsDense distinguishes a random token from words: it holds an unbroken run of 16 letters and
// digits in which capitals, small letters and digits alternate as in no name.
func IsDense(body string) bool {
	body = body[:min(len(body), 256)]
	for i := 0; i < len(body); {
		end := RunEnd(body, i, Alnum)
		if end-i >= 16 && isRandom(body[i:end]) {
			return true
		}
		i = end + 1
	}
	return false
}

// OnlyHex reports whether a text has nothing but hexadecimal digits and dashes.
func OnlyHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if !IsHex(s[i]|0x20) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isRandom(s string) bool {
	const lower, upper, digit = 0, 1, 2
	digits, uppers, odd, last := 0, 0, 0, lower
	for i := 0; i < len(s); i++ {
		kind := lower
		switch c := s[i]; {
		case IsDigit(c):
			kind = digit
			digits++
		case c <= 'Z':
			kind = upper
			uppers++
		}
		// Names such as ReadUint16Length go from small to capital letters, from
		// small letters to digits, and from digits to capitals; other changes are
		// counted as odd.
		if kind == upper && last == upper || kind == lower && last == digit || kind == digit && last == upper {
			odd++
		}
		last = kind
	}
	if digits < 2 || digits == len(s) {
		return false
	}
	if uppers > 1 && uppers < len(s)-digits {
		return odd >= 3
	}
	return digits*5 >= len(s)
}
