package paths

import (
	"encoding/binary"
	"math/bits"
)

// This file makes message authentication codes (HMAC with SHA-256) without the standard
// library's crypto packages, which cost the hook client more at each start than the one code
// it may have to check. Its tests compare the results with those packages.

// PlainMAC returns the code of a text under a key of at most 64 bytes, in hexadecimal.
func PlainMAC(key []byte, text string) string {
	var inner, outer [64]byte
	copy(inner[:], key)
	copy(outer[:], key)
	for i := range inner {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	first := digest(append(inner[:], text...))
	last := digest(append(outer[:], first[:]...))
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*len(last))
	for _, b := range last {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

// EqualMAC compares two codes in a time that doesn't reveal where they differ.
func EqualMAC(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	differ := byte(0)
	for i := range len(a) {
		differ |= a[i] ^ b[i]
	}
	return differ == 0
}

// rounds are the constants of the 64 rounds: the fractional parts of the cube roots of
// the first primes (FIPS 180-4).
var rounds = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

func digest(text []byte) (sum [32]byte) {
	length := uint64(len(text)) * 8
	text = append(text, 0x80)
	for len(text)%64 != 56 {
		text = append(text, 0)
	}
	text = binary.BigEndian.AppendUint64(text, length)
	h := [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}
	for ; len(text) > 0; text = text[64:] {
		mixBlock(&h, text[:64])
	}
	for i, v := range h {
		binary.BigEndian.PutUint32(sum[4*i:], v)
	}
	return sum
}

func mixBlock(h *[8]uint32, block []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	turn := func(v uint32, by int) uint32 { return bits.RotateLeft32(v, -by) }
	for i := 16; i < 64; i++ {
		a, b := w[i-15], w[i-2]
		w[i] = w[i-16] + (turn(a, 7) ^ turn(a, 18) ^ a>>3) + w[i-7] + (turn(b, 17) ^ turn(b, 19) ^ b>>10)
	}
	s := *h
	for i := range 64 {
		a, e := s[0], s[4]
		one := s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e&s[5] ^ ^e&s[6]) + rounds[i] + w[i]
		two := (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a&s[1] ^ a&s[2] ^ s[1]&s[2])
		s = [8]uint32{one + two, s[0], s[1], s[2], s[3] + one, s[4], s[5], s[6]}
	}
	for i := range h {
		h[i] += s[i]
	}
}
