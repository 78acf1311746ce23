package proc

import (
	"bytes"
	"strings"
)

// LookupEnv finds variables in a block without parsing all of it: most events look up two or
// three. A missing variable is "".
func LookupEnv(block []byte) func(name string) string {
	return func(name string) string {
		// Looked for as a whole, which is much quicker than variable by
		// variable: this is done several times at every hook call. Letters of
		// names are rarer than the ends of variables.
		var room [64]byte
		wanted := append(append(room[:0], name...), '=')
		var value []byte
		for from := 0; ; {
			at := bytes.Index(block[from:], wanted)
			if at < 0 {
				return ""
			}
			at += from
			from = at + len(wanted)
			if at == 0 || block[at-1] == 0 {
				value = block[from:]
				break
			}
		}
		if end := bytes.IndexByte(value, 0); end >= 0 {
			value = value[:end]
		}
		return string(value)
	}
}

// MentionsEnv takes the cheap look before the exact one: without it the block has no
// variable of that name.
func MentionsEnv(block []byte, name string) bool { return bytes.Contains(block, []byte(name)) }

// SplitEnv takes a block apart, as programs get their environment.
func SplitEnv(block []byte) []string {
	if len(block) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(block), "\x00"), "\x00")
}

// JoinEnv returns the block of a list.
func JoinEnv(list []string) []byte { return []byte(strings.Join(list, "\x00")) }
