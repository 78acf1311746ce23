package edit

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	sayHowMany()
	os.Exit(m.Run())
}
