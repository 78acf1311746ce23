// Package redact makes text fit for storage and for streams: secret-looking
// parts are replaced by "[redacted:<kind>]", and over-long strings inside JSON
// are cut with their length and hash.
//
// The contract:
//   - It knows shapes (provider keys, JWTs, PEM blocks, URL passwords, …) and
//     names (password=…, "api_key": …, --token …). It does not guess by entropy,
//     so git hashes, UUIDs, paths and base64 images stay as they are.
//   - Clean text comes back as it is, without allocation. Every event of the hub
//     passes here, so looking costs one pass: a table finds the few bytes a
//     secret can hang on, and only there a closer look is taken.
//   - What comes out goes in again unchanged.
//   - Work is linear in the input, also for hostile input.
//
// It is a net for accidents, not a vault: a secret that looks like nothing in
// particular and stands under a harmless name passes.
package redact

import (
	"strings"
	"unsafe"

	"github.com/hookmux/hookmux/internal/recorder/redact/seen"
)

// Text returns s with its secrets replaced. A clean s is returned itself.
func Text(s string) string { return redactText(s, nil) }

func redactText(s string, mem *seen.Memory) string {
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
			dst = appendMark(dst, sp.kind)
			noteSeen(f.mem, f.s[sp.start:sp.end])
			at = sp.end
		}
		dst = append(dst, f.s[at:]...)
		again := finder{s: viewText(dst[start:]), mem: f.mem}
		var ok bool
		if sp, ok = again.next(0); !ok || pass == maxPasses {
			return dst
		}
		again.s = string(dst[start:])
		f = &again
		dst = dst[:start]
	}
}

const (
	markHead = "[redacted:"
	maxMark  = 40
)

func appendMark(dst []byte, kind string) []byte {
	dst = append(dst, markHead...)
	dst = append(dst, kind...)
	return append(dst, ']')
}

// isMark reports whether s is exactly one replacement of ours. The whole form
// is checked, so that nobody hides a secret behind our opening words.
func isMark(s string) bool {
	if len(s) <= len(markHead)+1 || s[:len(markHead)] != markHead || s[len(s)-1] != ']' {
		return false
	}
	kind := s[len(markHead) : len(s)-1]
	if len(s) > maxMark {
		return false
	}
	for i := 0; i < len(kind); i++ {
		if c := kind[i]; c != '-' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// markLen is the length of the replacement that s begins with, 0 if none.
func markLen(s string) int {
	end := strings.IndexByte(s[:min(len(s), maxMark)], ']')
	if end < 0 || !isMark(s[:end+1]) {
		return 0
	}
	return end + 1
}

// viewText looks at b as a string without copying. The scanners only read, and no
// view outlives the call that made it.
func viewText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
