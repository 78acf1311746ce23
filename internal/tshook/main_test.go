package tshook

import (
	"testing"

	"go.uber.org/goleak"
)

// An engine that was closed leaves nothing running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
