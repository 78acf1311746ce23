// Package version holds the version that both programs carry, and the order
// of versions. The daemon compares its own with that of a calling client to tell
// when it is out of date. Standard library only: the hook client links it.
//
// Not golang.org/x/mod/semver: agents have versions of two and of four numbers, and
// without the v, which are no versions there.
package version

import "strings"

// String is the version of this build; the Makefile sets it with
// -ldflags "-X github.com/hookmux/hookmux/internal/version.String=…".
var String = "0.1.0-dev"

// Compare orders two versions as semantic versioning does: -1 when a is
// older, 0 when they rank the same, 1 when a is newer. A leading v and build
// metadata (+…) don't count, missing numbers are zero, and a pre-release ranks
// before its release. What isn't a version at all ranks below everything, so
// that a stray string never makes a daemon restart.
func Compare(a, b string) int {
	coreA, preA := split(a)
	coreB, preB := split(b)
	for i := 0; i < 3 || coreA != "" || coreB != ""; i++ {
		var x, y string
		x, coreA, _ = strings.Cut(coreA, ".")
		y, coreB, _ = strings.Cut(coreB, ".")
		if c := compareNumbers(x, y); c != 0 {
			return c
		}
	}
	switch {
	case preA == preB:
		return 0
	case preA == "":
		return 1
	case preB == "":
		return -1
	}
	return comparePre(preA, preB)
}

// split takes a version apart into its numbers and its pre-release.
func split(v string) (core, pre string) {
	v = strings.TrimPrefix(strings.TrimSpace(v), "v")
	v, _, _ = strings.Cut(v, "+")
	core, pre, _ = strings.Cut(v, "-")
	for part := range strings.SplitSeq(core, ".") {
		if !numeric(part) {
			return "", "0" // the lowest there is: 0.0.0-0
		}
	}
	return core, pre
}

func comparePre(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if x == y {
			continue
		}
		switch nx, ny := numeric(x), numeric(y); {
		case x == "":
			return -1
		case y == "":
			return 1
		case nx && ny:
			if c := compareNumbers(x, y); c != 0 {
				return c
			}
		case nx:
			return -1
		case ny:
			return 1
		default:
			return strings.Compare(x, y)
		}
	}
	return 0
}

// compareNumbers compares decimal strings of any length without parsing, so
// that a date like 20260731120000 can't overflow.
func compareNumbers(x, y string) int {
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	if len(x) != len(y) {
		if len(x) < len(y) {
			return -1
		}
		return 1
	}
	return strings.Compare(x, y)
}

func numeric(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
