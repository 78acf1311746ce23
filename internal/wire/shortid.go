package wire

import "strings"

// ShortID returns the name of a session in a line: the beginning of its id, which every command
// takes. It is long enough to distinguish sessions of one day.
func ShortID(id string) string {
	if host, there := SplitHost(id); host != "" {
		return OnHost(host, ShortID(there))
	}
	const usual = 8
	n := usual
	switch {
	case isTimeUUID(id):
		n = 13 // the first 12 digits are the time: those of one minute begin alike
	case strings.Contains(id[:min(len(id), 6)], "_"):
		n = strings.IndexByte(id, '_') + 1 + usual // ses_…: the prefix is no part of it
	}
	if len(id) <= n {
		return id
	}
	for n > 0 && id[n]&0xc0 == 0x80 {
		n-- // not within a letter
	}
	return id[:n]
}

// isTimeUUID reports whether id is a UUID of version 7, which begins with the time.
func isTimeUUID(id string) bool {
	return len(id) == 36 && id[8] == '-' && id[13] == '-' && id[14] == '7'
}
