// Package await waits in tests for what must come, instead of sleeping.
package await

import (
	"testing"
	"time"
)

// Patience is how long a test waits for what must come, on a slow machine that is
// busy. It is never what a test measures: only a fault reaches its end.
const Patience = time.Minute

// Until waits for a condition, and ends the test when it never holds. What says
// what was expected.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never within %v: %s", Patience, what)
		}
	}
}
