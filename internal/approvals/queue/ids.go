package queue

import (
	"slices"
	"strings"
)

// alphabet has no letters that look or sound like others.
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"

// letters begin an id, so that it is never taken for a number or a flag.
const letters = "abcdefghjkmnpqrstuvwxyz"

const idLength = 4

// newID makes an id from random bytes.
func newID(random []byte) string {
	b := make([]byte, idLength)
	for i := range b {
		set := alphabet
		if i == 0 {
			set = letters
		}
		b[i] = set[int(random[i])%len(set)]
	}
	return string(b)
}

// pickID finds the one id with this beginning.
func pickID(ids []string, beginning string) (string, []string) {
	beginning = strings.ToLower(beginning)
	var found []string
	for _, id := range ids {
		if id == beginning {
			return id, nil
		}
		if strings.HasPrefix(id, beginning) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	if len(found) == 1 {
		return found[0], nil
	}
	return "", found
}
