// Package redact makes text fit for storage and for streams: secret-looking parts are replaced by
// "[redacted:<kind>]", and over-long strings inside JSON are cut with their length and hash.
//
// The contract:
//   - It knows shapes (provider keys, JWTs, PEM blocks, URL passwords, …) and names (password=…,
//     "api_key": …, --token …). It doesn't guess by entropy, so git hashes, UUIDs, paths and
//     base64 images stay as they are.
//   - Clean text is returned as it is, without allocation. Every event of the daemon passes
//     through here, so checking costs one pass: a table finds the few bytes a secret can hang on,
//     and only there a closer look is taken.
//   - Redacting the output again leaves it unchanged.
//   - Work is linear in the input, also for hostile input.
//
// It is a net for accidents, not a vault: a secret that looks like nothing in particular and has
// a harmless name passes.
package redact

import (
	"github.com/hookmux/hookmux/internal/platform/redactmarks"
)

// Text returns s with its secrets replaced. A clean s is returned itself.
func Text(s string) string { return redactText(s, nil) }

func redactText(s string, mem *Memory) string {
	f := finder{s: s, mem: mem}
	first, ok := f.next(0)
	if !ok {
		return s
	}
	return string(appendRedacted(make([]byte, 0, len(s)+32), &f, first))
}

// maxPasses bounds how often text is looked at again. A replacement can uncover
// what stuck to it (a key right before a key), so a text that was changed is
// looked at until nothing is found.
const maxPasses = 8

func appendRedacted(dst []byte, f *finder, sp span) []byte {
	start := len(dst)
	for pass := 1; ; pass++ {
		at := 0
		for ok := true; ok; sp, ok = f.next(at) {
			dst = append(dst, f.s[at:sp.start]...)
			dst = redactmarks.Append(dst, sp.kind)
			noteSeen(f.mem, f.s[sp.start:sp.end])
			at = sp.end
		}
		dst = append(dst, f.s[at:]...)
		again := finder{s: viewText(dst[start:]), mem: f.mem, dotenv: f.dotenv}
		var ok bool
		if sp, ok = again.next(0); !ok || pass == maxPasses {
			return dst
		}
		again.s = string(dst[start:])
		f = &again
		dst = dst[:start]
	}
}
